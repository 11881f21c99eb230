// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/train/train_corpus.h"

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/file.h"
#include "engines/language/tokens/bpe_tokenizer.h"
#include "engines/training/config/ttml_recipe.h"
#include "harness/cli/command/program.h"

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

std::int64_t planned_vocabulary(const TtmlFiles& files, const training::TtmlSettings& settings) {
  const training::TtmlTraining& training = settings.config.training;
  const std::filesystem::path data =
      files.data.empty() ? std::filesystem::path(training.data_path) : files.data;
  const bool is_there = std::filesystem::is_regular_file(data);
  if (training.tokenizer_type == "char") {
    if (is_there) return language::Corpus(read_file(data)).tokenizer->vocabulary();
    if (!files.data.empty()) require_data(settings, data);
    constexpr std::int64_t kCharacters = 96;
    complain(
        "note: {} '{}' is not there: planned with {} tokens, as its characters have; --data "
        "FILE names it",
        settings.name_of("training_config.data_path"), data.string(), kCharacters);
    return kCharacters;
  }
  if (const auto given = training::vocabulary_of(settings.config)) return *given;
  const std::filesystem::path tokenizer =
      files.tokenizer.empty() ? training.tokenizer_path.value_or("") : files.tokenizer.string();
  if (std::filesystem::is_regular_file(tokenizer)) {
    return language::BpeTokenizer(read_file(tokenizer), tokenizer.string()).vocabulary();
  }
  if (is_there) {
    return language::read_corpus(read_file(data), data.string(), nullptr, 0)
        .tokenizer->vocabulary();
  }
  training::refuse_ttml(settings, "transformer_config.vocab_size", "it is not set",
                        "the tokens of the tokenizer", "--with vocab_size=96, or --data FILE");
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
