// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace howard::cli {

// With these first words the command line trains on a text instead of running experiments: as files
// of TTML say, or in the short form, in which options take their place.
inline constexpr std::string_view kTrainVerb = "train";
inline constexpr std::string_view kTrainShortVerb = "train_nano_gpt";

/// Trains as the command line says, from the verb on, and returns the exit status. Throws
/// UsageError for a command line that is not understood; throws Error if the text, the checkpoint
/// or the training is bad.
int train(int argc, const char* const* argv);

}  // namespace howard::cli
