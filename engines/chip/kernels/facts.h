// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/events/program_facts.h"
#include "engines/chip/kernels/plan/planned_program.h"
#include "engines/chip/profiles/profile.h"

namespace howard::chip {

/// Returns the op with what the planner chose where the caller had said nothing.
Attributes as_planned(const PlannedProgram& planned);

/// Returns what a log of tt-metal's profiler says of a launch besides its times, and how its work
/// compares with what the chip can do. Except for operands beyond the log's columns, this is enough
/// to plan the launch again.
ProgramFacts facts_of(const PlannedProgram& planned, const ChipProfile& chip);

}  // namespace howard::chip
