// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/language/tokens/corpus.h"
#include "harness/cli/train/train_options.h"

namespace howard::cli {

/// Returns what is trained on: characters of a text, or tokens. Throws Error for a file that cannot
/// be read so.
language::Corpus corpus_of(const TrainOptions& options);

/// Returns the rows of the token table of a run that is planned: as many as the text's characters
/// need, or else vocab_size, or what the tokenizer or the tokens in the data say. A text of
/// characters that is not there has TTML's 96, which is said on standard error. Throws Error where
/// nothing says it, and for a file that cannot be read.
std::int64_t planned_vocabulary(const TtmlFiles& files, const training::TtmlSettings& settings);

/// Returns the recipe with no more steps than the epochs have. The trainer refuses a text that is
/// too short.
training::Recipe limited_to_epochs(const TrainOptions& options, const language::Corpus& corpus);

/// Returns the text behind which --generate writes: --prompt, or the first token of the data.
std::string prompt_of(const TrainOptions& options, const language::Corpus& corpus);

}  // namespace howard::cli
