// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/presentation.h"
#include "harness/result.h"

namespace howard::reports::testing {

/// Returns two emulated points with published figures (one an artefact), a failed and a skipped
/// one, and a host point with seven samples. Nothing in it is left at its default.
harness::ExperimentResult sample_result();

/// Returns the columns and the plot of matmul_sweep.
harness::Presentation sample_presentation();

}  // namespace howard::reports::testing
