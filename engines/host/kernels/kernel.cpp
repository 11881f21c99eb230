// SPDX-License-Identifier: Apache-2.0
#include "engines/host/kernels/kernel.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "base/error.h"

namespace howard::host {
namespace {

std::string text(std::span<const Operand> operands) {
  std::string all;
  for (const auto& [buffer, spec] : operands) {
    all += (all.empty() ? "" : ", ") + spec.text();
  }
  return all.empty() ? "nothing" : all;
}

}  // namespace

void Call::require_one_type() const {
  std::optional<DataType> first;
  const auto look = [&](std::span<const OperandRole> roles, std::span<const Operand> operands) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (are_places(roles[std::min(i, roles.size() - 1)].takes)) continue;
      if (!first) first = operands[i].spec.dtype;
      require(operands[i].spec.dtype == *first, "one data type, the same for all");
    }
  };
  look(input_roles(program_.attributes), program_.inputs);
  look(result_roles(program_.attributes), program_.outputs);
}

bool Call::is_real() const {
  const auto real = [](const Operand& operand) { return operand.spec.is_real(); };
  return std::ranges::all_of(program_.inputs, real) && std::ranges::all_of(program_.outputs, real);
}

void Call::require_places(bool in_place) const {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const auto others = outputs_.first(i);
    require(std::ranges::find(others, outputs_[i]) == others.end(),
            "each result in its own buffer");
    require(in_place || std::ranges::find(inputs_, outputs_[i]) == inputs_.end(),
            "results in buffers of their own");
  }
}

void Call::refuse(std::string_view accepted) const {
  throw Error({.attempted = fmt::format("run {} on the host", program_.name),
               .value = fmt::format("{} to {}", text(program_.inputs), text(program_.outputs)),
               .accepted = std::string(accepted)});
}

}  // namespace howard::host
