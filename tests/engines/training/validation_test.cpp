// SPDX-License-Identifier: Apache-2.0
#include "engines/training/validation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "engines/host/host_device.h"
#include "engines/training/trainer.h"

namespace howard::training {
namespace {

language::Corpus roses() {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "a rose is a rose is a rose. ";
  return language::Corpus(text);
}

TEST(Validation, HoldsOutTheLastTenth) {
  language::Corpus corpus = roses();
  const std::vector<std::uint32_t> all = corpus.tokens;
  const std::vector<std::uint32_t> held = hold_out(corpus);
  EXPECT_EQ(held.size(), all.size() / 10);
  std::vector<std::uint32_t> both = corpus.tokens;
  both.insert(both.end(), held.begin(), held.end());
  EXPECT_EQ(both, all);
}

TEST(Validation, FollowsTheParametersWithoutDropoutAndChangesNothing) {
  const Recipe recipe{.model = {.batch = 4,
                                .sequence = 16,
                                .width = 32,
                                .heads = 2,
                                .layers = 1,
                                .dropout = 0.3F,
                                .parameters = DataType::float32},
                      .optimizer = {.learning_rate = 1e-2F},
                      .schedule = {.steps = 40}};
  language::Corpus corpus = roses();
  host::HostDevice device;
  const std::vector<std::uint32_t> held = hold_out(corpus);
  Trainer trainer(device, recipe, corpus, {.engine = Engine::dynamic});
  Trainer alone(device, recipe, corpus, {.engine = Engine::dynamic});
  Validation validation(device, trainer.model(), held, 3);
  const float before = validation.loss();
  EXPECT_NEAR(before, std::log(32.0), 0.2);
  EXPECT_EQ(validation.loss(), before);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(trainer.step().loss, alone.step().loss);
  EXPECT_LT(validation.loss(), 0.7F * before);
}

TEST(Validation, NeedsASequenceAndWhatFollowsIt) {
  host::HostDevice device;
  Trainer trainer(device,
                  {.model = {.batch = 1, .sequence = 16, .width = 32, .heads = 2, .layers = 1}},
                  roses(), {.engine = Engine::dynamic});
  const std::vector<std::uint32_t> few(16, 1);
  EXPECT_THROW(Validation(device, trainer.model(), few, 1), Error);
  EXPECT_NO_THROW(Validation(device, trainer.model(), std::vector<std::uint32_t>(17, 1), 1));
}

}  // namespace
}  // namespace howard::training
