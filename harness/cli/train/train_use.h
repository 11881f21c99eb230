// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/cli/train/train_options.h"

namespace howard::cli {

/// Throws UsageError for an option that this run gives but does not use: --momentum without SGD,
/// --prompt without --generate.
void require_used_options(const TrainOptions& options);

}  // namespace howard::cli
