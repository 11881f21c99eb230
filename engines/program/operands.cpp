// SPDX-License-Identifier: Apache-2.0
#include "engines/program/operands.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace howard {

std::string_view text_of(Takes takes) {
  switch (takes) {
    case Takes::reals:
      return "real numbers";
    case Takes::tiles:
      return "real numbers in tiles";
    case Takes::rows:
      return "real numbers in rows";
    case Takes::any:
      return "numbers";
    case Takes::any_in_tiles:
      return "numbers in tiles";
    case Takes::any_in_rows:
      return "numbers in rows";
    case Takes::tokens:
      return "uint32";
    case Takes::indices:
      return "uint32, int32 or uint16";
    case Takes::one:
      return "one uint32 or int32";
  }
  return "";
}

namespace {

bool is_index(DataType dtype) { return is_whole(dtype) && dtype != DataType::uint8; }

bool is_taken(Takes takes, const TensorSpec& spec) {
  switch (takes) {
    case Takes::reals:
      return spec.is_real();
    case Takes::tiles:
      return spec.is_real() && spec.layout == Layout::tile;
    case Takes::rows:
      return spec.is_real() && spec.layout == Layout::row_major;
    case Takes::any:
      return true;
    case Takes::any_in_tiles:
      return spec.layout == Layout::tile;
    case Takes::any_in_rows:
      return spec.layout == Layout::row_major;
    case Takes::tokens:
      return spec.dtype == DataType::uint32;
    case Takes::indices:
      return is_index(spec.dtype);
    case Takes::one:
      return is_index(spec.dtype) && spec.dtype != DataType::uint16 && spec.shape.elements() == 1;
  }
  return false;
}

/// Returns "q, k, v and perhaps a mask", with what each has to be.
std::string list_of(std::span<const OperandRole> roles) {
  std::string all;
  for (const OperandRole& role : roles) {
    all += fmt::format("{}{}{}{} ({})", all.empty() ? "" : ", ", role.is_optional ? "perhaps " : "",
                       role.name, role.repeats ? "..." : "", text_of(role.takes));
  }
  return all.empty() ? "none" : all;
}

[[noreturn]] void refuse(std::string_view op, std::string value, std::string accepted) {
  throw Error({.attempted = fmt::format("compute {}", op),
               .value = std::move(value),
               .accepted = std::move(accepted)});
}

}  // namespace

void refuse_operands(std::string_view op, Specs specs, std::string_view accepted) {
  std::string all;
  for (const TensorSpec& spec : specs) all += (all.empty() ? "" : " and ") + layout_text(spec);
  refuse(op, all, std::string(accepted));
}

void refuse_operands(std::string_view op, std::initializer_list<TensorSpec> specs,
                     std::string_view accepted) {
  refuse_operands(op, Specs(specs.begin(), specs.size()), accepted);
}

void require_roles(std::string_view op, std::string_view are, std::span<const OperandRole> roles,
                   Specs specs) {
  for (std::size_t i = 0; i < std::max(roles.size(), specs.size()); ++i) {
    const bool follows = i >= roles.size() && !roles.empty() && roles.back().repeats;
    if (i >= roles.size() && !follows) {
      refuse(op, fmt::format("{} {} is one too many", are, i + 1),
             fmt::format("{}s: {}", are, list_of(roles)));
    }
    const OperandRole& role = follows ? roles.back() : roles[i];
    if (i >= specs.size()) {
      if (role.is_optional) return;
      refuse(op, fmt::format("{} {}, {}, is missing", are, i + 1, role.name),
             fmt::format("{}s: {}", are, list_of(roles)));
    }
    if (is_taken(role.takes, specs[i])) continue;
    refuse(op, fmt::format("{} {}, {}, is {}", are, i + 1, role.name, layout_text(specs[i])),
           fmt::format("{}: {}", role.name, text_of(role.takes)));
  }
}

void require_results(std::string_view op, std::span<const OperandRole> roles, Specs expected,
                     Specs out, Leeway leeway) {
  for (std::size_t i = 0; i < std::min(expected.size(), out.size()); ++i) {
    const Shape& to = out[i].shape;
    const Shape& shape = expected[i].shape;
    const bool folded = leeway.batch && to.batch() == shape.batch() && to.rows() == shape.rows() &&
                        to.columns() == shape.columns();
    const bool any_type = leeway.dtype || roles[i].takes == Takes::indices;
    if ((to == shape || folded) && (any_type || out[i].dtype == expected[i].dtype) &&
        (leeway.layout || out[i].layout == expected[i].layout)) {
      continue;
    }
    refuse(op, fmt::format("result {}, {}, is {}", i + 1, roles[i].name, layout_text(out[i])),
           layout_text(expected[i]));
  }
}

}  // namespace howard
