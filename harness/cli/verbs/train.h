// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace howard::cli {

/// This first word of the command line trains a text instead of running experiments.
inline constexpr std::string_view kTrainVerb = "train_nano_gpt";

/// Trains as the command line says, from the verb on, and returns the exit status. UsageError for a
/// command line that is not understood; Error if the text, the checkpoint or the training is bad.
int train(int argc, const char* const* argv);

}  // namespace howard::cli
