// SPDX-License-Identifier: Apache-2.0
#include "engines/training/examples.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "engines/autograd/host_values.h"
#include "engines/host/host_device.h"
#include "engines/models/batch.h"
#include "engines/training/text_batches.h"
#include "engines/training/trainer.h"
#include "engines/training/validation.h"
#include "tests/engines/autograd/gradient_check.h"
#include "tests/error_of.h"

namespace howard::training {
namespace {

using reference::ReferenceDevice;

constexpr std::uint32_t kNone = kNoTarget;

Recipe recipe_of_examples() {
  return {.model = {.kind = ModelKind::llama,
                    .batch = 2,
                    .sequence = 4,
                    .width = 4,
                    .heads = 2,
                    .groups = 1,
                    .layers = 1,
                    .feed_forward = 6,
                    .vocabulary = 5,
                    .parameters = DataType::float32,
                    .compute = DataType::float32},
          .examples = true};
}

TEST(Examples, OfTextsHaveTheTokenBehindAsTargetAndNoneWithinThePrompt) {
  const language::Corpus corpus = read_examples(
      "{\"prompt\": \"ab\", \"completion\": \"cd\"}\n\n"
      "{\"completion\": \"abcdabcd\", \"prompt\": \"\"}\n",
      "e.jsonl", {.characters = true, .sequence = 4});
  // Characters are counted from 1; 0 fills.
  const std::vector<std::uint32_t> expected{1, 2, 3, 0, kNone, 3, 4, kNone, 1, 2, 3, 4, 2, 3, 4, 1};
  EXPECT_EQ(corpus.tokens, expected) << "the second one is cut";
  EXPECT_EQ(corpus.tokenizer->tokens(), 4 + 3);
}

TEST(Examples, ThatAreCutAreCounted) {
  std::vector<std::string> notes;
  const auto note = [&](const std::string& text) { notes.push_back(text); };
  const std::string fits = "{\"prompt\": \"ab\", \"completion\": \"cd\"}\n";
  const std::string is_longer = "{\"prompt\": \"\", \"completion\": \"abcdabcd\"}\n";
  static_cast<void>(
      read_examples(fits, "e.jsonl", {.characters = true, .sequence = 4, .note = note}));
  EXPECT_TRUE(notes.empty());
  static_cast<void>(read_examples(fits + is_longer, "e.jsonl",
                                  {.characters = true, .sequence = 4, .note = note}));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("1 of 2 examples are longer than the 4 tokens"), std::string::npos)
      << notes[0];
}

TEST(Examples, WithTextsBesideTokensAreRefused) {
  const ErrorText text = error_parts_of([] {
    static_cast<void>(read_examples(R"({"input_ids": [7], "labels": [2], "prompt": "ab"})",
                                    "e.jsonl", {.vocabulary = 10, .sequence = 3}));
  });
  EXPECT_NE(text.attempted.find("prompt"), std::string::npos) << text.attempted;
}

TEST(Examples, OfTokensHaveTheirLabelsAsTheyStand) {
  const language::Corpus corpus =
      read_examples(R"({"input_ids": [7, 2, 9], "labels": [-100, 9, 4]})", "e.jsonl",
                    {.vocabulary = 10, .sequence = 3});
  EXPECT_EQ(corpus.tokens, (std::vector<std::uint32_t>{7, 2, 9, kNone, 9, 4}));
}

TEST(Examples, AreNamedInSmallOrCapitalLetters) {
  EXPECT_TRUE(names_examples("sums.jsonl") && names_examples("SUMS.JSONL"));
  EXPECT_FALSE(names_examples("sums.json") || names_examples("jsonl"));
}

TEST(Examples, OfAnotherFormAreRefusedWithTheirLine) {
  const auto refuses = [](const std::string& line, const ExampleOptions& options,
                          const std::string& words) {
    const std::string failure = error_of([&] { read_examples("\n" + line, "e.jsonl", options); });
    EXPECT_NE(failure.find(words), std::string::npos) << line << ": " << failure;
  };
  const ExampleOptions texts{.characters = true, .sequence = 4};
  const ExampleOptions tokens{.vocabulary = 4, .sequence = 4};
  refuses("rose", texts, "read line 2 of e.jsonl");
  refuses(R"({"prompt": "a"})", texts, "completion");
  refuses(R"({"prompt": "a", "completion": ""})", texts, "completion");
  refuses(R"({"prompt": "", "completion": "a"})", texts, "no token has a loss");
  refuses(R"({"prompt": "abcdef", "completion": "g"})", texts,
          "the first token with a loss is number 6; accepted: a completion within the 4 tokens of "
          "max_sequence_length; try --with max_sequence_length=6");
  refuses(R"({"input_ids": [1], "labels": [1]})", texts, "try --with tokenizer_type=bpe");
  refuses(R"({"prompt": "a", "completion": "b"})", tokens, "try --tokenizer FILE");
  refuses(R"({"input_ids": [1, 2], "labels": [1]})", tokens, "a label for each of 2 input_ids");
  refuses(R"({"input_ids": [1], "labels": [-1]})", tokens, "a token, or -100 for no loss");
  refuses(R"({"input_ids": [1], "labels": [4]})", tokens, "token 4; accepted: 0 to 3");
  refuses("", tokens, "there is none");
}

TEST(Examples, OfABatchWeighSoThatAllPositionsTogetherWeighOneEach) {
  const language::Corpus corpus = read_examples(
      "{\"input_ids\": [1, 2, 3], \"labels\": [-100, 3, 1]}\n"
      "{\"input_ids\": [2, 2, 3], \"labels\": [-100, -100, 1]}",
      "e.jsonl", {.sequence = 4});
  TextBatches batches(corpus.tokens, 2, 4, 1, SampleForm::examples);
  EXPECT_EQ(batches.samples(), 2);
  const Batch batch = batches.batch(0);
  ASSERT_EQ(batch.weights.size(), 8U);
  float sum = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    const bool first = batch.tokens[i / 4 * 4] == 1;
    const bool has_target = i % 4 == 2 || (first && i % 4 == 1);
    EXPECT_FLOAT_EQ(batch.weights[i], has_target ? 8.0F / 3 : 0) << i;
    sum += batch.weights[i];
  }
  EXPECT_FLOAT_EQ(sum, 8);
}

/// A model with values and a batch of two examples, of which three positions have targets.
struct Filled {
  explicit Filled(ReferenceDevice& device)
      : model(models::make_model(device, recipe_of_examples().model)),
        batch(models::own_batch(device, *model, models::Weights::given)) {
    unsigned seed = 1;
    for (autograd::Parameter* parameter : model->parameters()) {
      reference::fill_random(device, parameter->value, seed++, 0.5);
    }
    CommandQueue& queue = device.command_queue(0);
    autograd::write_indices(queue, batch.tokens,
                            std::vector<std::uint32_t>{1, 4, 2, 0, 3, 3, 1, 2});
    autograd::write_indices(queue, batch.targets, targets);
    autograd::write_values(queue, *batch.weights, weights);
  }

  std::vector<std::uint32_t> targets{0, 2, 1, 0, 0, 0, 2, 0};
  std::vector<float> weights{0, 8.0F / 3, 8.0F / 3, 0, 0, 0, 8.0F / 3, 0};
  std::unique_ptr<models::LanguageModel> model;
  models::BatchTensors batch;
};

TEST(Examples, HaveTheMeanLossOfThePositionsThatHaveTargets) {
  ReferenceDevice device;
  const Filled filled(device);
  autograd::Tape tape(device, {.compute = DataType::float32, .records = false});
  const auto logits = device.values(tape.tensor(filled.model->logits(tape, filled.batch.tokens)));
  double sum = 0;
  for (const std::size_t position : {1U, 2U, 6U}) {
    double exponentials = 0;
    for (std::size_t i = 0; i < 5; ++i) exponentials += std::exp(double{logits[5 * position + i]});
    sum += std::log(exponentials) - double{logits[5 * position + filled.targets[position]]};
  }
  const auto loss =
      device.values(tape.tensor(models::batch_loss(tape, *filled.model, filled.batch)));
  EXPECT_NEAR(double{loss[0]}, sum / 3, 1e-5);
}

TEST(Examples, HaveGradientsThatAreThoseOfTheirLoss) {
  ReferenceDevice device;
  const Filled filled(device);
  reference::expect_gradients(
      device, filled.model->parameters(),
      [&](autograd::Tape& tape) { return models::batch_loss(tape, *filled.model, filled.batch); },
      {.compute = DataType::float32});
}

TEST(Examples, AreLearnedByEachEngineAlikeAndTheirPromptsAreNot) {
  std::string lines;
  for (int i = 0; i < 20; ++i) {
    lines += R"({"prompt": "ab", "completion": "cd"})"
             "\n";
    lines += R"({"prompt": "ba", "completion": "dc"})"
             "\n";
  }
  Recipe recipe = recipe_of_examples();
  recipe.model.width = 32;
  recipe.model.feed_forward = 64;
  recipe.optimizer.learning_rate = 1e-2F;
  recipe.schedule.steps = 30;
  std::vector<double> losses;
  for (const Engine engine : {Engine::dynamic, Engine::traced}) {
    host::HostDevice device;
    language::Corpus corpus = read_examples(lines, "e.jsonl", {.characters = true, .sequence = 4});
    std::vector<std::uint32_t> held = hold_out(corpus, sample_stride(4, SampleForm::examples));
    EXPECT_EQ(held.size(), 4U * 8U) << "whole examples";
    Trainer trainer(device, recipe, corpus, {.engine = engine, .held_out = held, .validated = 2});
    double loss = 0;
    for (int i = 0; i < 30; ++i) loss = trainer.step().loss;
    EXPECT_LT(loss, 0.05) << "what a prompt begins with cannot be known, and is not asked";
    EXPECT_LT(trainer.validation_loss(), 0.05);
    losses.push_back(loss);
  }
  EXPECT_EQ(losses[0], losses[1]);
}

TEST(Examples, FewerThanTenLeaveNoneForValidation) {
  const std::vector<std::uint32_t> of_nine(9 * 8, 1);
  language::Corpus corpus(of_nine, nullptr);
  EXPECT_EQ(
      error_of([&] { hold_out(corpus, sample_stride(4, SampleForm::examples)); }),
      "cannot hold out a tenth of the examples for validation: 9 in all; accepted: 10 or more; "
      "try more examples, or no eval_every");
  EXPECT_EQ(corpus.tokens, of_nine);
}

}  // namespace
}  // namespace howard::training
