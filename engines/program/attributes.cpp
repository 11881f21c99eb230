// SPDX-License-Identifier: Apache-2.0
#include "engines/program/attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <type_traits>

#include "base/error.h"
#include "base/text.h"

namespace howard {
namespace {

template <class Kind>
Leeway leeway_of() {
  if constexpr (requires { Kind::kLeeway; }) return Kind::kLeeway;
  return {};
}

template <class Kind>
void add_ops(std::vector<Attributes>& all) {
  if constexpr (requires { Kind::kOnlyOnMesh; }) return;
  if constexpr (requires { Kind::all(); }) {
    for (const Kind& op : Kind::all()) all.emplace_back(op);
  } else {
    all.emplace_back(Kind{});
  }
}

template <class... Kinds>
std::vector<Attributes> make_ops(const std::variant<Kinds...>*) {
  std::vector<Attributes> all;
  (add_ops<Kinds>(all), ...);
  return all;
}

}  // namespace

Attributes::Attributes() = default;
Attributes::Attributes(const Attributes& other) = default;
Attributes::Attributes(Attributes&& other) noexcept = default;
Attributes& Attributes::operator=(const Attributes& other) = default;
Attributes& Attributes::operator=(Attributes&& other) noexcept = default;
Attributes::~Attributes() = default;

bool operator==(const Attributes& a, const Attributes& b) {
  return static_cast<const AnyAttributes&>(a) == static_cast<const AnyAttributes&>(b);
}

std::string_view name_of(const Attributes& attributes) {
  return std::visit(
      [](const auto& op) -> std::string_view {
        if constexpr (requires { op.name(); }) {
          return op.name();
        } else {
          return op.kName;
        }
      },
      attributes.variant());
}

std::string_view shown_name_of(const Attributes& attributes, Specs in) {
  return std::visit(
      [&](const auto& op) -> std::string_view {
        if constexpr (requires { op.shown(in); }) {
          return op.shown(in);
        } else if constexpr (requires { op.kShown; }) {
          return op.kShown;
        } else {
          return name_of(attributes);
        }
      },
      attributes.variant());
}

std::string_view meaning_of(const Attributes& attributes) {
  return std::visit(
      [](const auto& op) -> std::string_view {
        if constexpr (requires { op.kMeaning; }) return op.kMeaning;
        return {};
      },
      attributes.variant());
}

std::string_view ttnn_name_of(const Attributes& attributes) {
  return std::visit(
      [](const auto& op) -> std::string_view {
        if constexpr (requires { op.kTtnn; }) {
          return op.kTtnn;
        } else if constexpr (requires { op.ttnn(); }) {
          return op.ttnn();
        } else {
          return {};
        }
      },
      attributes.variant());
}

bool is_collective(const Attributes& attributes) {
  return std::holds_alternative<AllGatherAttributes>(attributes) ||
         std::holds_alternative<ReduceScatterAttributes>(attributes) ||
         std::holds_alternative<AllGatherMatmulAttributes>(attributes) ||
         std::holds_alternative<MatmulReduceScatterAttributes>(attributes) ||
         std::holds_alternative<AllToAllDispatchAttributes>(attributes) ||
         std::holds_alternative<AllToAllCombineAttributes>(attributes);
}

std::span<const OperandRole> input_roles(const Attributes& attributes) {
  return std::visit([](const auto& op) { return std::span<const OperandRole>(op.kInputs); },
                    attributes.variant());
}

std::span<const OperandRole> result_roles(const Attributes& attributes) {
  return std::visit([](const auto& op) { return std::span<const OperandRole>(op.kResults); },
                    attributes.variant());
}

SpecList results_of(const Attributes& attributes, Specs in) {
  const std::string_view name = name_of(attributes);
  require_roles(name, "operand", input_roles(attributes), in);
  return std::visit(
      [&](const auto& op) -> SpecList {
        if constexpr (requires { op.results(in); }) {
          return op.results(in);
        } else {
          refuse_operands(name, in, "results whose shapes are given");
        }
      },
      attributes.variant());
}

void check(const Attributes& attributes, Specs in, Specs out) {
  const std::string_view name = name_of(attributes);
  require_roles(name, "operand", input_roles(attributes), in);
  require_roles(name, "result", result_roles(attributes), out);
  std::visit(
      [&](const auto& op) {
        if constexpr (requires { op.check(in, out); }) {
          op.check(in, out);
        } else {
          require_results(name, op.kResults, op.results(in), out,
                          leeway_of<std::remove_cvref_t<decltype(op)>>());
        }
      },
      attributes.variant());
}

Flops flops_of(const Attributes& attributes, Specs in, Specs out) {
  return std::visit(
      [&](const auto& op) {
        if constexpr (requires { op.flops(in, out); }) {
          return op.flops(in, out);
        } else {
          return Flops();
        }
      },
      attributes.variant());
}

std::span<const Attributes> all_ops() {
  static const std::vector<Attributes> kAll = make_ops(static_cast<const AnyAttributes*>(nullptr));
  return kAll;
}

Attributes op_named(std::string_view name) {
  static const auto kByName = [] {
    std::map<std::string_view, const Attributes*> ops;
    for (const Attributes& op : all_ops()) ops.emplace(name_of(op), &op);
    return ops;
  }();
  const auto found = kByName.find(name);
  if (found != kByName.end()) return *found->second;
  std::vector<std::string> names;
  for (const auto& [known, op] : kByName) names.emplace_back(known);
  throw Error({.attempted = fmt::format("launch kernel '{}'", name),
               .value = "the emulator has none of that name",
               .accepted = join(names, ", "),
               .hint = closest(name, names).value_or("")});
}

}  // namespace howard
