// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "engines/chip/profiles/profile.h"
#include "engines/mesh/pipeline_schedule.h"
#include "experiments/training_plan/run_plan.h"

namespace howard::experiments {

/// Plans a pipeline of a Llama with each of `schedules`; its stages run once for all. Each kind of
/// stage is an emulated chip with a host thread of its own: within a stage all chips do the same,
/// so one stands for all, and stages are played on a clock of their own from the times of their
/// passes. The first stage writes tokens, the last writes targets and reads the loss. `listener`
/// hears of what the chips allocate; null if nobody listens.
std::vector<RunPlan> plan_pipeline(const RunSetting& setting, const chip::Profiles& profiles,
                                   std::span<const mesh::PipelineSchedule> schedules,
                                   MemorySink* listener = nullptr);

}  // namespace howard::experiments
