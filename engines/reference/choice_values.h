// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "engines/program/attributes.h"
#include "engines/program/program.h"
#include "engines/reference/reference_ops.h"

namespace howard::reference {

/// Returns the results of an op that chooses among the numbers of each row of `columns`, or counts
/// them on. Of equal numbers the first one comes first.
std::vector<Values> choice_values(const ArgmaxAttributes& op, const Values& x,
                                  std::int64_t columns);
std::vector<Values> choice_values(const TopkAttributes& op, const Values& x, std::int64_t columns);
std::vector<Values> choice_values(const PlusOneAttributes& op, const Values& x,
                                  std::int64_t columns);

/// Writes the first operand into `result`, with the numbers of the third one at the places of its
/// rows that the second one has.
void scatter(const Program& program, const std::vector<const Values*>& inputs, Values& result);

}  // namespace howard::reference
