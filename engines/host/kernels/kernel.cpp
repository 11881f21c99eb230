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

void Call::require_one_real_type() const {
  std::optional<DataType> first;
  for (const auto* operands : {&program_.inputs, &program_.outputs}) {
    for (const Operand& operand : *operands) {
      if (!operand.spec.is_real()) continue;
      if (!first) first = operand.spec.dtype;
      require(operand.spec.dtype == *first, "bfloat16 or float32, the same for all");
    }
  }
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
