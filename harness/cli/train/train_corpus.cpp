// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/train/train_corpus.h"

#include <fmt/format.h>

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/file.h"
#include "engines/language/tokens/bpe_tokenizer.h"
#include "engines/training/examples.h"
#include "engines/training/pictures.h"
#include "engines/training/text_batches.h"
#include "engines/training/validation.h"

namespace howard::cli {

language::Corpus corpus_of(const TrainOptions& options) {
  const training::TtmlConfig& config = options.settings.config;
  const std::string bytes = read_file(options.data);
  const bool characters = config.training.tokenizer_type == "char";
  if (characters && !options.recipe.examples) return language::Corpus(bytes);
  std::shared_ptr<const language::Tokenizer> tokenizer;
  if (!options.tokenizer.empty()) {
    tokenizer = std::make_shared<const language::BpeTokenizer>(read_file(options.tokenizer),
                                                               options.tokenizer.string());
  }
  const std::int64_t vocabulary = config.transformer.vocab_size.value_or(0);
  if (options.recipe.examples) {
    return training::read_examples(
        bytes, options.data.string(),
        {.characters = characters,
         .tokenizer = std::move(tokenizer),
         .vocabulary = vocabulary,
         .sequence = options.recipe.model.sequence,
         .note = [](const std::string& text) { fmt::print(stderr, "train: {}\n", text); }});
  }
  return language::read_corpus(bytes, options.data.string(), std::move(tokenizer), vocabulary);
}

std::vector<std::uint32_t> held_out_of(const TrainOptions& options, language::Corpus& corpus) {
  const training::Recipe& recipe = options.recipe;
  return training::hold_out(
      corpus, training::sample_stride(recipe.model.sequence, training::form_of(recipe)));
}

TrainData data_of(const TrainOptions& options) {
  if (options.settings.trains_mlp()) {
    training::Pictures pictures = training::read_pictures(options.data, options.recipe.model);
    return {std::move(pictures.trained), std::move(pictures.held_out)};
  }
  TrainData data{corpus_of(options), {}};
  if (options.eval_every > 0) data.held_out = held_out_of(options, data.corpus);
  return data;
}

training::Recipe limited_to_epochs(const TrainOptions& options, const language::Corpus& corpus) {
  training::Recipe recipe = options.recipe;
  if (options.epochs == 0) return recipe;
  training::limit_to_epochs(
      recipe,
      training::sample_count(std::ssize(corpus.tokens), training::sample_width(recipe),
                             training::form_of(recipe)),
      options.epochs);
  return recipe;
}

std::string prompt_of(const TrainOptions& options, const language::Corpus& corpus) {
  if (options.prompt) return *options.prompt;
  return corpus.tokenizer->decode(std::span(corpus.tokens).first(1));
}

}  // namespace howard::cli
