// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/train/train_corpus.h"

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/file.h"
#include "engines/language/tokens/bpe_tokenizer.h"
#include "engines/training/pictures.h"
#include "engines/training/validation.h"

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

TrainData data_of(const TrainOptions& options) {
  if (options.settings.trains_mlp()) {
    training::Pictures pictures = training::read_pictures(options.data, options.recipe.model);
    return {std::move(pictures.trained), std::move(pictures.held_out)};
  }
  TrainData data{corpus_of(options), {}};
  if (options.eval_every > 0) data.held_out = training::hold_out(data.corpus);
  return data;
}

training::Recipe limited_to_epochs(const TrainOptions& options, const language::Corpus& corpus) {
  training::Recipe recipe = options.recipe;
  if (options.epochs == 0) return recipe;
  const auto tokens = static_cast<std::int64_t>(corpus.tokens.size());
  const bool pictures = options.settings.trains_mlp();
  const std::int64_t samples =
      pictures ? tokens / (recipe.model.width + 1) : tokens - recipe.model.sequence;
  training::limit_to_epochs(recipe, samples, options.epochs);
  return recipe;
}

std::string prompt_of(const TrainOptions& options, const language::Corpus& corpus) {
  if (options.prompt) return *options.prompt;
  return corpus.tokenizer->decode(std::span(corpus.tokens).first(1));
}

}  // namespace howard::cli
