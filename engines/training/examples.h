// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "engines/language/tokens/corpus.h"

namespace howard::training {

/// Says whether the ending of a name is that of a file of examples: .jsonl, in small or in
/// capital letters.
bool names_examples(std::string_view name);

/// Says how a file of examples is read.
struct ExampleOptions {
  bool characters = false;  ///< The tokens are the characters of the texts.
  /// Reads texts unless those are characters; null for files that have tokens.
  std::shared_ptr<const language::Tokenizer> tokenizer{};
  std::int64_t vocabulary = 0;  ///< The number of tokens without a tokenizer; 0: as many as used.
  std::int64_t sequence = 0;    ///< The positions of each example.
  /// Is told how many examples are cut, if any is; empty if nobody listens.
  std::function<void(const std::string& text)> note{};
};

/// Reads a file of examples, a line each, as SampleForm::examples has them:
///   {"prompt": TEXT, "completion": TEXT}   a position's target is the token behind it, and those
///                                          of the prompt have none
///   {"input_ids": [...], "labels": [...]}  the labels are the targets as they stand, -100 for none
/// Examples are cut after `sequence` tokens, or filled with token 0, which has no target. Throws
/// Error, with the line, for another form, both forms at once, a token beyond the vocabulary, and
/// an example that has no target.
language::Corpus read_examples(std::string_view bytes, const std::string& source,
                               const ExampleOptions& options);

}  // namespace howard::training
