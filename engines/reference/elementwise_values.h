// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engines/program/eltwise_value.h"
#include "engines/program/program.h"
#include "engines/program/whole_numbers.h"
#include "engines/reference/reference_ops.h"

namespace howard::reference {

/// Returns a function of one value, with its numbers.
template <class Number>
Number applied(const EltwiseStep& step, Number value) {
  const auto one = number_of<Number>(step.numbers[0]), two = number_of<Number>(step.numbers[1]);
  return eltwise_function<Number>(step.function)({value, 0, 0, one, two});
}

/// Returns what an elementwise call gives: in float64, or in whole numbers.
Values elementwise_values(const EltwiseAttributes& op, const Program& call,
                          const std::vector<const Values*>& inputs);

}  // namespace howard::reference
