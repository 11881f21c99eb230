// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/presentation.h"
#include "harness/result.h"

namespace howard::reports::testing {

/// Returns two emulated points with published figures (one an artefact), a failed and a skipped
/// one, and a host point with seven samples. Nothing in it is left at its default.
harness::ExperimentResult sample_result();

/// Returns columns and a plot for it, as an experiment of its own (sample_sweep) would have them.
harness::Presentation sample_presentation();

}  // namespace howard::reports::testing
