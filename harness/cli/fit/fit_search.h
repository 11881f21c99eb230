// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "harness/cli/fit/run_plan.h"

namespace howard::cli {

/// Returns other ways to make the same update as `setting`: its sequences in batches of other
/// sizes, blocks kept or run again, and 1, 2, 4, 8 and 32 chips that divide the batch, the weights
/// or both. For each mesh these are the fastest three that fit, or, where none does, the one that
/// needs least; the fastest come first. Only settings that give the same gradients are compared.
std::vector<RunPlan> search_settings(const RunSetting& setting, const wormhole::Profiles& profiles);

}  // namespace howard::cli
