// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "experiments/training_plan/run_plan.h"

namespace howard::experiments {

using BeforePlan = std::function<void()>;

/// Returns other ways to make the same update as `setting`: its sequences in batches of other
/// sizes, blocks kept or run again, and 1, 2, 4, 8 and 32 chips that divide the batch, the weights,
/// the blocks (in TTML's order, in 1F1B's, and the best of the latter in two interleaved chunks),
/// or several of these; and tiers of 2, 4 and 8 workers. For each number of chips these are the
/// fastest two without stages that fit and the fastest of each schedule, or, where none fits, the
/// one that needs least. The fastest come first. Only settings that give the same gradients are
/// compared, but for tiers, whose workers draw batches of their own.
/// A search may take minutes: `before_plan` is called before each run that it plans.
std::vector<RunPlan> search_settings(const RunSetting& setting, const chip::Profiles& profiles,
                                     const BeforePlan& before_plan = {});

/// Returns the fastest of `others`, which come in this order, that fits on as many chips as `plan`
/// has, or fewer; if there is none, the fastest on the fewest chips. The result is null if none
/// fits.
const RunPlan* best_that_fits(const RunPlan& plan, const std::vector<RunPlan>& others);

}  // namespace howard::experiments
