// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace howard::cli {

/// The first word of the command line that trains a text instead of running experiments.
inline constexpr std::string_view kTrainVerb = "train_nano_gpt";

/// Trains as the command line, from the verb on, says, and gives the exit status. UsageError for a
/// command line that is not understood; Error when the text, the checkpoint or the training is bad.
int train(int argc, const char* const* argv);

}  // namespace howard::cli
