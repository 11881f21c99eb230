// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "base/events/program_facts.h"
#include "profiler/bottleneck.h"
#include "profiler/timeline.h"

namespace howard::profiler {

/// Returns the facts of a launched program; null if nobody knows them.
using FactsOfProgram = std::function<const ProgramFacts*(std::uint64_t program)>;

/// Returns the programs of a recorded run with their work, by start. A program's gap is the time
/// before it in which its whole device ran nothing. Names and stages belong to the timeline and the
/// facts, which must outlive the result. It needs a timeline as `find_gaps` does.
std::vector<OpRun> op_runs(const Timeline& timeline, const FactsOfProgram& facts);

}  // namespace howard::profiler
