// SPDX-License-Identifier: Apache-2.0
#include "engines/models/cached_llama.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "engines/autograd/host_values.h"
#include "engines/chip/emulated_chip.h"
#include "engines/host/host_device.h"
#include "tests/engines/autograd/gradient_check.h"

namespace howard::models {
namespace {

using Tokens = std::vector<std::uint32_t>;

ModelOptions readable(DataType type) {
  return {.batch = 1,
          .sequence = 96,
          .width = 64,
          .heads = 4,
          .groups = 2,
          .layers = 2,
          .feed_forward = 96,
          .vocabulary = 32,
          .parameters = type,
          .compute = type};
}

/// 70 tokens: more than two tiles of them.
Tokens some_tokens() {
  Tokens tokens;
  for (std::uint32_t i = 0; i < 70; ++i) tokens.push_back((i * i + 3 * i) % 32);
  return tokens;
}

/// The logits behind each token by one forward pass over all of them.
std::vector<std::vector<float>> uncached(Device& device, Llama& model, const Tokens& tokens) {
  CommandQueue& queue = device.command_queue(0);
  Tokens window = tokens;
  window.resize(static_cast<std::size_t>(model.options().sequence), 0);
  autograd::write_indices(queue, model.tokens(), window);
  autograd::Tape tape(
      device, {.calls = {.products = kTtmlProducts}, .compute = model.compute(), .records = false});
  const auto all = autograd::read_values(queue, tape.tensor(model.logits(tape, model.tokens())));
  std::vector<std::vector<float>> rows;
  for (auto at = all.begin(); at != all.end(); at += 32) rows.emplace_back(at, at + 32);
  return rows;
}

void expect_near(const std::vector<float>& actual, const std::vector<float>& expected,
                 double bound) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], bound) << i;
}

/// A model with weights large enough that logits differ by more than what rounding does.
std::unique_ptr<Llama> filled(Device& device, DataType type, const LoraOptions& lora = {}) {
  ModelOptions options = readable(type);
  options.lora = lora;
  auto model = std::make_unique<Llama>(device, options);
  CommandQueue& queue = device.command_queue(0);
  write_random(queue, model->parameters(), 3);
  for (const autograd::Parameter* parameter : model->parameters()) {
    std::vector<float> values = autograd::read_values(queue, parameter->value);
    if (parameter->name.ends_with("weight")) {
      for (float& value : values) value *= 5;
    } else if (parameter->name.ends_with("lora_B")) {
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 3 == 0 ? 0.2F : -0.1F;
    }
    autograd::write_values(queue, parameter->value, values);
  }
  return model;
}

TEST(CachedLlama, SaysWhatTheWholeForwardPassSays) {
  const Tokens tokens = some_tokens();
  for (const DataType type : {DataType::float32, DataType::bfloat16}) {
    host::HostDevice device;
    const auto model = filled(device, type);
    const auto expected = uncached(device, *model, tokens);
    const auto largest = std::abs(
        *std::ranges::max_element(expected[60], {}, [](float value) { return std::abs(value); }));
    ASSERT_GT(largest, 0.5F);
    // Sums of float32 in another order; in bfloat16 some roundings of 2^-8 by the way.
    const double bound = (type == DataType::float32 ? 1e-5 : 0.04) * double{largest};
    for (const CacheCalls calls : {CacheCalls::ttml, CacheCalls::kernels}) {
      CachedLlama cached(device, *model, {.length = 96, .calls = calls});
      for (const std::size_t prompt : {std::size_t{1}, std::size_t{33}}) {
        cached.prefill(std::span(tokens).first(prompt));
        expect_near(cached.logits(), expected[prompt - 1], bound);
        for (std::size_t i = prompt; i < tokens.size(); ++i) {
          cached.decode(tokens[i]);
          if (i % 8 == 0 || i == prompt) expect_near(cached.logits(), expected[i], bound);
        }
      }
    }
  }
}

TEST(CachedLlama, HasTheAdaptersOfItsModel) {
  const Tokens tokens = some_tokens();
  const LoraOptions lora{.rank = 2, .targets = "linear w[123] fc"};
  host::HostDevice device;
  const auto model = filled(device, DataType::float32, lora);
  const auto expected = uncached(device, *model, tokens)[40];
  CachedLlama cached(device, *model, {.length = 96});
  cached.prefill(std::span(tokens).first(41));
  expect_near(cached.logits(), expected, 1e-4);
  const auto plain = filled(device, DataType::float32);
  CachedLlama without(device, *plain, {.length = 96});
  without.prefill(std::span(tokens).first(41));
  EXPECT_GT(std::abs(without.logits()[0] - expected[0]), 0.01);
}

TEST(CachedLlama, RecordedAndReplayedStepsGiveTheSameBits) {
  const Tokens tokens = some_tokens();
  host::HostDevice device;
  const auto model = filled(device, DataType::bfloat16);
  std::vector<std::vector<float>> all;
  for (const DecodeEngine engine :
       {DecodeEngine::dynamic, DecodeEngine::recorded, DecodeEngine::traced}) {
    CachedLlama cached(device, *model, {.length = 64, .engine = engine});
    cached.prefill(std::span(tokens).first(5));
    for (std::size_t i = 5; i < 40; ++i) cached.decode(tokens[i]);
    all.push_back(cached.logits());
  }
  EXPECT_EQ(all[0], all[1]);
  EXPECT_EQ(all[0], all[2]);
}

TEST(CachedLlama, TheEmulatedChipComputesTheSame) {
  const Tokens tokens = some_tokens();
  host::HostDevice host;
  const auto model = filled(host, DataType::bfloat16);
  CachedLlama expected(host, *model, {.length = 64});
  chip::EmulatedChip chip(chip::load_profiles({}), {.values = &host});
  const auto emulated = filled(chip, DataType::bfloat16);
  CachedLlama cached(chip, *emulated, {.length = 64, .engine = DecodeEngine::traced});
  expected.prefill(std::span(tokens).first(9));
  cached.prefill(std::span(tokens).first(9));
  for (std::size_t i = 9; i < 14; ++i) {
    expected.decode(tokens[i]);
    cached.decode(tokens[i]);
  }
  EXPECT_EQ(cached.logits(), expected.logits());
}

/// Virtual time of one decoding step behind `position` tokens.
SimTime decode_time(const CacheOptions& options, std::int64_t position) {
  chip::EmulatedChip chip(chip::load_profiles({}), {});
  ModelOptions sizes{.batch = 1,
                     .sequence = 2048,
                     .width = 512,
                     .heads = 8,
                     .groups = 4,
                     .layers = 4,
                     .vocabulary = 512};
  Llama model(chip, sizes);
  CachedLlama cached(chip, model, options);
  const auto step = [&] {
    cached.skip_to(position);
    cached.decode(1);
    chip.command_queue(0).finish();
  };
  step();
  const SimTime start = chip.now();
  step();
  return chip.now() - start;
}

TEST(CachedLlama, AReplayedStepSavesTheHostsCalls) {
  CacheOptions options{.length = 128};  // in a longer cache kernels take half of a step
  const SimTime dynamic = decode_time(options, 100);
  options.engine = DecodeEngine::traced;
  EXPECT_LT(2 * decode_time(options, 100), dynamic);
}

TEST(CachedLlama, TtmlsStepsTakeLongerBehindMoreTokens) {
  const CacheOptions options{.length = 2048, .calls = CacheCalls::ttml};
  EXPECT_GT(decode_time(options, 2000), decode_time(options, 100));
  // The kernels for decoding are timed for a full cache, wherever the token stands.
  CacheOptions kernels{.length = 2048, .engine = DecodeEngine::traced};
  EXPECT_EQ(decode_time(kernels, 2000), decode_time(kernels, 100));
  const SimTime full = decode_time(kernels, 100);
  kernels.length = 128;
  EXPECT_LT(decode_time(kernels, 100), full);
}

TEST(CachedLlama, SequencesThatAreReadTogetherSayWhatOneSays) {
  host::HostDevice device;
  const auto model = filled(device, DataType::float32);
  CommandQueue& queue = device.command_queue(0);
  CachedLlama one(device, *model, {.length = 40, .calls = CacheCalls::ttml});
  CachedLlama three(device, *model, {.length = 40, .calls = CacheCalls::ttml, .batch = 3});
  EXPECT_EQ(three.cache_bytes(), one.cache_bytes() * 3);
  const Tokens tokens = some_tokens();
  for (CachedLlama* const reader : {&one, &three}) {
    reader->prefill(std::span(tokens).first(33));
    reader->decode(tokens[33]);
  }
  const std::vector<float> expected = one.logits();
  expect_near(three.logits(), expected, 1e-5);
  const std::vector<float> all = autograd::read_values(queue, three.step_logits());
  ASSERT_EQ(std::ssize(all), 3 * 32 * 32);
  expect_near({all.begin() + 2 * 32 * 32, all.begin() + 2 * 32 * 32 + 32}, expected, 1e-5);
  const CacheOptions kernels{.length = 40, .batch = 2};
  EXPECT_THROW(CachedLlama(device, *model, kernels), Error);
}

TEST(CachedLlama, RefusesWhatDoesNotFit) {
  host::HostDevice device;
  Llama model(device, readable(DataType::float32));
  const Tokens tokens = some_tokens();
  EXPECT_THROW(CachedLlama(device, model, {.length = 0}), Error);
  EXPECT_THROW(CachedLlama(device, model, {.length = 97}), Error);
  EXPECT_THROW(
      CachedLlama(device, model,
                  {.length = 32, .calls = CacheCalls::ttml, .engine = DecodeEngine::traced}),
      Error);
  CachedLlama cached(device, model, {.length = 8});
  EXPECT_THROW(static_cast<void>(cached.logits()), Error);
  EXPECT_THROW(cached.prefill({}), Error);
  EXPECT_THROW(cached.prefill(std::span(tokens).first(9)), Error);
  cached.prefill(std::span(tokens).first(8));
  EXPECT_THROW(cached.decode(1), Error);
  cached.prefill(std::span(tokens).first(7));
  EXPECT_NO_THROW(cached.decode(1));
}

TEST(CachedLlama, HoldsTheKeysAndValuesOfEachGroup) {
  host::HostDevice device;
  Llama model(device, readable(DataType::bfloat16));
  // 2 blocks of 2 groups of 16 columns, keys and values, 96 places: a tile is 32 columns wide.
  EXPECT_EQ(CachedLlama(device, model, {.length = 96}).cache_bytes(),
            Bytes(2 * 2 * 2 * 96 * 32 * 2));
}

}  // namespace
}  // namespace howard::models
