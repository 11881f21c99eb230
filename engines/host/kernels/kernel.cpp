// SPDX-License-Identifier: Apache-2.0
#include "engines/host/kernels/kernel.h"

#include <fmt/format.h>

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

bool is_real(const TensorSpec& spec) {
  return spec.dtype == DataType::bfloat16 || spec.dtype == DataType::float32;
}

void Call::require_operands(std::size_t inputs, std::size_t outputs) const {
  if (inputs_.size() == inputs && outputs_.size() == outputs) return;
  refuse(fmt::format("{} operands and {} results", inputs, outputs));
}

void Call::require_one_real_type() const {
  bool same = is_real(out());
  for (const Operand& input : program_.inputs) same = same && input.spec.dtype == out().dtype;
  for (const Operand& output : program_.outputs) same = same && output.spec.dtype == out().dtype;
  require(same, "bfloat16 or float32, the same for all");
}

void Call::require_own_outputs() const {
  for (const std::byte* output : outputs_) {
    const bool is_input = std::ranges::find(inputs_, output) != inputs_.end();
    require(!is_input, "results in buffers of their own");
  }
  require_distinct_outputs();
}

void Call::require_distinct_outputs() const {
  for (std::size_t i = 1; i < outputs_.size(); ++i) {
    const auto others = outputs_.first(i);
    require(std::ranges::find(others, outputs_[i]) == others.end(),
            "each result in its own buffer");
  }
}

void Call::refuse(std::string_view accepted) const {
  throw Error({.attempted = fmt::format("run {} on the host", program_.name),
               .value = fmt::format("{} to {}", text(program_.inputs), text(program_.outputs)),
               .accepted = std::string(accepted)});
}

}  // namespace howard::host
