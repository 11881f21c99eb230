// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "harness/cli/train/train_options.h"

namespace howard::cli {

/// Throws Error for a run on emulated chips that needs more than their DRAM. The message says how
/// much more, and, for the files of `train`, which settings would fit. `vocabulary` is the number
/// of tokens. Runs that are far from that are not planned, and neither are those on the host.
void require_fitting_chip(const TrainOptions& options, std::int64_t vocabulary);

}  // namespace howard::cli
