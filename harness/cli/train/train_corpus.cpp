// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/train/train_corpus.h"

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/file.h"
#include "engines/language/tokens/bpe_tokenizer.h"

namespace howard::cli {

language::Corpus corpus_of(const TrainOptions& options) {
  const training::TtmlConfig& config = options.settings.config;
  const std::string bytes = read_file(options.data);
  if (config.training.tokenizer_type == "char") {
    return language::Corpus(bytes);
  }
  std::shared_ptr<const language::Tokenizer> tokenizer;
  if (!options.tokenizer.empty()) {
    tokenizer = std::make_shared<const language::BpeTokenizer>(read_file(options.tokenizer),
                                                               options.tokenizer.string());
  }
  return language::read_corpus(bytes, options.data.string(), std::move(tokenizer),
                               config.transformer.vocab_size.value_or(0));
}

training::Recipe limited_to_epochs(const TrainOptions& options, const language::Corpus& corpus) {
  training::Recipe recipe = options.recipe;
  if (options.epochs == 0) return recipe;
  const std::int64_t samples =
      static_cast<std::int64_t>(corpus.tokens.size()) - recipe.model.sequence;
  const std::int64_t steps = samples / recipe.model.batch / recipe.accumulate;
  if (steps > 0 && steps <= recipe.schedule.steps / options.epochs)
    recipe.schedule.steps = steps * options.epochs;
  return recipe;
}

std::string prompt_of(const TrainOptions& options, const language::Corpus& corpus) {
  if (options.prompt) return *options.prompt;
  return corpus.tokenizer->decode(std::span(corpus.tokens).first(1));
}

}  // namespace howard::cli
