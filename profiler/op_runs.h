// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "base/program_facts.h"
#include "profiler/bottleneck.h"
#include "profiler/timeline.h"

namespace howard::profiler {

/// The facts of a launched program; null when nobody knows them.
using FactsOfProgram = std::function<const ProgramFacts*(std::uint64_t program)>;

/// The programs of a recorded run with what they had to do, by start. A program's gap is the time
/// before it in which its whole device ran nothing. Names and stages are those of the timeline and
/// the facts, which must outlive the result. Needs a timeline as `find_gaps` does.
std::vector<OpRun> op_runs(const Timeline& timeline, const FactsOfProgram& facts);

}  // namespace howard::profiler
