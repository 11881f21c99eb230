// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/dispatch/calls_of_chip.h"

#include <algorithm>
#include <utility>

#include "engines/chip/kernels/lowering.h"

namespace howard::chip {

bool CallOrder::operator()(const Program& a, const Program& b) const {
  if (const auto order = a.attributes <=> b.attributes; order != 0) return order < 0;
  const auto less = [](const std::vector<Operand>& x, const std::vector<Operand>& y) {
    return std::ranges::lexicographical_compare(
        x, y, [](const Operand& one, const Operand& other) { return one.spec < other.spec; });
  };
  if (less(a.outputs, b.outputs)) return true;
  if (less(b.outputs, a.outputs)) return false;
  return less(a.inputs, b.inputs);
}

void TunedCalls::set(const Program& call, Attributes attributes) {
  tuned_.insert_or_assign(timing_key(call), std::move(attributes));
}

const Attributes* TunedCalls::find(const Program& call) const {
  const auto found = tuned_.find(timing_key(call));
  return found == tuned_.end() ? nullptr : &found->second;
}

SimTime AskedCall::kernel_time() const {
  SimTime time;
  for (const PlannedProgram& launch : launches) time += launch.kernel.total;
  return time;
}

}  // namespace howard::chip
