// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "engines/language/tokens/corpus.h"
#include "harness/cli/train/train_options.h"

namespace howard::cli {

/// What a run reads.
struct TrainData {
  language::Corpus corpus;  ///< What is trained on.
  /// The tokens for validation, where there is one; pictures to find the accuracy with.
  std::vector<std::uint32_t> held_out;
};

/// Reads a text, tokens or pictures, and holds out a part. Throws Error as corpus_of() and
/// read_pictures() do.
TrainData data_of(const TrainOptions& options);

/// Returns what is trained on: characters of a text, or tokens. Throws Error for a file that cannot
/// be read so.
language::Corpus corpus_of(const TrainOptions& options);

/// Takes a tenth of what a run with eval_every is trained on out of `corpus`, and returns it.
std::vector<std::uint32_t> held_out_of(const TrainOptions& options, language::Corpus& corpus);

/// Returns the recipe with no more steps than the epochs have. The trainer refuses a text that is
/// too short.
training::Recipe limited_to_epochs(const TrainOptions& options, const language::Corpus& corpus);

/// Returns the text behind which --generate writes: --prompt, or the first token of the data.
std::string prompt_of(const TrainOptions& options, const language::Corpus& corpus);

}  // namespace howard::cli
