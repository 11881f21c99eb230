// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "harness/cli/fit/run_plan.h"

namespace howard::cli {

/// Other ways to make the same update: the sequences of `setting` in batches of other sizes, with
/// blocks kept and run again, on each of `meshes` chips that divides them. Each on a mesh is the
/// fastest that fits, the fastest first; of those that do not fit the smallest. Only settings that
/// give the same gradients are compared.
std::vector<RunPlan> search_settings(const RunSetting& setting, const wormhole::Profiles& profiles,
                                     const std::vector<std::int64_t>& meshes);

}  // namespace howard::cli
