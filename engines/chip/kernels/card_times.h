// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "engines/chip/kernels/plan/planned_program.h"
#include "engines/chip/profiles/card.h"

namespace howard::chip {

/// Returns "32x64 bfloat16 in L1, 64x96 bfloat8_b".
std::string text_of(std::span<const Operand> operands);

/// Returns the words by which a card knows a launch. What the caller left to the planner and what
/// it said itself have the same words if the same runs.
LaunchWords words_of(const PlannedProgram& planned);

/// Returns what a launch may be like: its op, of products with the kind of their configuration, and
/// whether it reads L1.
std::string kind_of(const PlannedProgram& planned);

/// Gives a launch the time that `card` has of it, or else of its shapes, or of its kind; its other
/// times keep their parts of the whole.
void take_card(const Card& card, PlannedProgram& planned);

}  // namespace howard::chip
