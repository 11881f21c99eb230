// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/language/tokens/corpus.h"
#include "harness/cli/train/train_options.h"

namespace howard::cli {

/// Returns what is trained on: characters of a text, or tokens. Throws Error for a file that cannot
/// be read so.
language::Corpus corpus_of(const TrainOptions& options);

/// Returns the recipe with no more steps than the epochs have. The trainer refuses a text that is
/// too short.
training::Recipe limited_to_epochs(const TrainOptions& options, const language::Corpus& corpus);

/// Returns the text behind which --generate writes: --prompt, or the first token of the data.
std::string prompt_of(const TrainOptions& options, const language::Corpus& corpus);

}  // namespace howard::cli
