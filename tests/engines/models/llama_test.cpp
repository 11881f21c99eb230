// SPDX-License-Identifier: Apache-2.0
#include "engines/models/llama.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "base/error.h"
#include "engines/autograd/host_values.h"
#include "engines/autograd/optimizers/adamw.h"
#include "engines/autograd/steps/static_step.h"
#include "engines/autograd/steps/training_step.h"
#include "engines/chip/emulated_chip.h"
#include "engines/host/host_device.h"
#include "engines/models/rotary_angles.h"
#include "tests/engines/autograd/gradient_check.h"
#include "tests/engines/models/program_list.h"

namespace howard::models {
namespace {

using autograd::AdamW;
using autograd::Tape;
using reference::ReferenceDevice;

const ModelOptions kTinyLlama{.batch = 2,
                              .sequence = 3,
                              .width = 8,
                              .heads = 4,
                              .groups = 2,
                              .layers = 2,
                              .feed_forward = 6,
                              .vocabulary = 5,
                              .parameters = DataType::float32,
                              .compute = DataType::float32};

void fill_indices(Device& device, Llama& model) {
  const ModelOptions& options = model.options();
  std::vector<std::uint32_t> tokens(static_cast<std::size_t>(options.batch * options.sequence));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] =
        static_cast<std::uint32_t>((i * i + i) % static_cast<std::size_t>(options.vocabulary));
  }
  autograd::write_indices(device.command_queue(0), model.tokens(), tokens);
  std::ranges::rotate(tokens, tokens.begin() + 1);
  autograd::write_indices(device.command_queue(0), model.targets(), tokens);
}

void fill_reference(ReferenceDevice& device, Llama& model) {
  unsigned seed = 1;
  for (autograd::Parameter* parameter : model.parameters()) {
    reference::fill_random(device, parameter->value, seed++, 0.5);
  }
  fill_indices(device, model);
}

/// Returns what a block's forward pass leaves in the DRAM for its backward pass.
Bytes kept_of_a_block(ModelOptions options) {
  const auto kept = [&](int layers) {
    options.layers = layers;
    chip::EmulatedChip device(chip::load_profiles());
    Llama model(device, options);
    device.begin_phase("forward");
    const Bytes before = device.memory_phases().back().current;
    Tape tape(device);
    static_cast<void>(model.loss(tape, model.tokens(), model.targets()));
    return device.memory_phases().back().current - before;
  };
  return kept(2) - kept(1);
}

TEST(Llama, ABlockKeepsTheResultOfEachOfTtmlsOps) {
  static const ModelOptions kSizes{.kind = ModelKind::llama,
                                   .batch = 1,
                                   .sequence = 64,
                                   .width = 128,
                                   .heads = 4,
                                   .groups = 2,
                                   .feed_forward = 256,
                                   .vocabulary = 96};
  // In bytes of an activation [s, d]: two norms, q, its heads and those turned, what they see, that
  // joined, the layer behind it, the second feed-forward layer and two sums; k and v joined, the
  // heads of both and k's turned, half as wide; two feed-forward layers, silu and their product,
  // twice as wide.
  constexpr Bytes kActivation{64 * 128 * 2}, kHalf{64 * 64 * 2}, kDouble{64 * 256 * 2};
  constexpr Bytes kOps = 11 * kActivation + 5 * kHalf + 4 * kDouble;
  constexpr Bytes kRoots{2 * 64 * 32 * 2};           // a column of tiles for each norm
  constexpr Bytes kProbabilities{4 * 64 * 64 * 2};   // of each head
  constexpr Bytes kStatistics{2 * 4 * 64 * 32 * 2};  // of each head's rows, two numbers
  EXPECT_EQ(kept_of_a_block(kSizes), kOps + kRoots + kProbabilities);
  ModelOptions fused = kSizes;
  fused.fused_attention = true;
  EXPECT_EQ(kept_of_a_block(fused), kOps + kRoots + kStatistics);
  ModelOptions again = kSizes;
  again.memory_efficient = true;
  EXPECT_EQ(kept_of_a_block(again), kActivation);
}

TEST(Llama, GradientsAreThoseOfTheLossInEveryForm) {
  for (const bool memory_efficient : {false, true}) {
    for (const bool tied : {false, true}) {
      ReferenceDevice device;
      ModelOptions options = kTinyLlama;
      options.memory_efficient = memory_efficient;
      options.tied = tied;
      options.groups = tied ? 4 : 2;
      options.dropout = memory_efficient ? 0.3F : 0;
      Llama model(device, options);
      fill_reference(device, model);
      reference::expect_gradients(device, model.parameters(),
                                  [&](Tape& tape) { return model.loss(tape); },
                                  {.compute = DataType::float32, .seed = 5});
    }
  }
}

TEST(Llama, GradientsWithOtherNormsAndFeedForwardPartsAreThoseOfTheLoss) {
  ReferenceDevice device;
  ModelOptions options = kTinyLlama;
  options.composite_rms_norm = true;
  for (const bool fused : {true, false}) {
    options.fused_swiglu = fused;
    options.joined_swiglu = !fused;
    Llama model(device, options);
    fill_reference(device, model);
    reference::expect_gradients(device, model.parameters(),
                                [&](Tape& tape) { return model.loss(tape); },
                                {.compute = DataType::float32});
  }
}

/// The parameters' gradients, with the numbers of write_random, larger ones.
std::vector<std::vector<float>> llama_gradients(Device& device, const ModelOptions& options) {
  Llama model(device, options);
  write_random(device.command_queue(0), model.parameters(), 3);
  fill_indices(device, model);
  Tape tape(device, {.compute = DataType::float32});
  tape.backward(model.loss(tape));
  std::vector<std::vector<float>> result;
  for (const autograd::Parameter* parameter : model.parameters()) {
    result.push_back(autograd::read_values(device.command_queue(0), *parameter->gradient));
  }
  return result;
}

/// The parameter says whether attention, norms and feed-forward parts have their other forms.
class LlamaForms : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Forms, LlamaForms, testing::Bool());

TEST_P(LlamaForms, TheHostsGradientsAreThoseOfTheReference) {
  ModelOptions options = kTinyLlama;
  options.sequence = 64;
  options.width = 128;
  options.feed_forward = 96;
  ReferenceDevice reference;
  host::HostDevice host;
  const auto expected = llama_gradients(reference, options);
  options.fused_attention = options.composite_rms_norm = options.fused_swiglu = GetParam();
  options.joined_swiglu = !GetParam();
  const auto actual = llama_gradients(host, options);
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    float largest = 0;
    for (const float value : expected[i]) largest = std::max(largest, std::abs(value));
    for (std::size_t j = 0; j < expected[i].size(); ++j) {
      ASSERT_NEAR(actual[i][j], expected[i][j], 1e-4F * largest) << i << " " << j;
    }
  }
}

TEST(Llama, TrainsOnTheHost) {
  host::HostDevice device;
  ModelOptions options = kTinyLlama;
  options.sequence = 32;
  options.width = 64;
  options.feed_forward = 96;
  options.vocabulary = 32;
  options.compute = DataType::bfloat16;
  Llama model(device, options);
  write_random(device.command_queue(0), model.parameters(), 3);
  fill_indices(device, model);
  AdamW adamw(autograd::Calls(device), model.parameters(), {.learning_rate = 0.01F});
  const autograd::StepFunction step = autograd::training_step(
      [&](Tape& tape, int) { return model.loss(tape); }, adamw,
      {.tape = {.calls = {.products = kTtmlProducts}, .compute = options.compute}});
  const auto loss = [&] { return autograd::read_values(device.command_queue(0), step(device))[0]; };
  const float first = loss();
  EXPECT_NEAR(first, std::log(32.0), 0.3);
  float last = first;
  for (int i = 0; i < 40; ++i) last = loss();
  EXPECT_LT(last, 0.3F * first);
}

// As published for the models; the vocabulary in whole tiles.
TEST(Llama, HasTheParametersOfTheModelsItIs) {
  const ModelOptions nanollama{.width = 384,
                               .heads = 6,
                               .groups = 3,
                               .layers = 6,
                               .feed_forward = 1024,
                               .vocabulary = 32000};
  EXPECT_EQ(parameter_count(nanollama), 34'313'088);
  ModelOptions characters = nanollama;
  characters.vocabulary = 96;
  EXPECT_EQ(parameter_count(characters), 9'810'816);
  const ModelOptions tinyllama{.width = 2048,
                               .heads = 32,
                               .groups = 4,
                               .layers = 22,
                               .feed_forward = 5632,
                               .vocabulary = 32000};
  EXPECT_EQ(parameter_count(tinyllama), 1'100'048'384);
  ModelOptions llama_1b{.width = 2048,
                        .heads = 32,
                        .groups = 8,
                        .layers = 16,
                        .feed_forward = 8192,
                        .vocabulary = 32000,
                        .tied = true};
  EXPECT_EQ(parameter_count(llama_1b), 1'038'682'112);
  llama_1b.vocabulary = 128256;
  EXPECT_EQ(parameter_count(llama_1b), 1'235'814'400);
  const ModelOptions llama_8b{.width = 4096,
                              .heads = 32,
                              .groups = 8,
                              .layers = 32,
                              .feed_forward = 14336,
                              .vocabulary = 128256};
  EXPECT_EQ(parameter_count(llama_8b), 8'030'261'248);
  const ModelOptions llama_70b{.width = 8192,
                               .heads = 64,
                               .groups = 8,
                               .layers = 80,
                               .feed_forward = 28672,
                               .vocabulary = 128256};
  EXPECT_EQ(parameter_count(llama_70b), 70'553'706'496);
  EXPECT_EQ(feed_forward_of(384), 1024);
  EXPECT_EQ(feed_forward_of(16384), 43776);
}

TEST(Llama, MakesTheParametersThatItCounts) {
  chip::EmulatedChip device(chip::load_profiles());
  for (const bool tied : {false, true}) {
    ModelOptions options;
    options.tied = tied;
    Llama model(device, options);
    std::int64_t elements = 0;
    for (const autograd::Parameter* parameter : model.parameters()) {
      elements += parameter->value.spec().shape.elements();
    }
    EXPECT_EQ(elements, parameter_count(options));
    EXPECT_EQ(model.parameters().size(), tied ? 50U : 51U);
  }
}

/// Returns the programs of a loss, and of the backward pass if there is one.
std::vector<Program> programs_of(Device& device, ModelOptions options, bool backward) {
  options.batch = 1;
  options.sequence = 128;
  autograd::StepRecorder recorder(device);  // before the model, which keeps gradients on it
  Llama model(device, options);
  Tape tape(recorder, {.calls = {.products = kTtmlProducts}, .records = backward});
  const autograd::Value loss = model.loss(tape);
  if (backward) tape.backward(loss);
  return recorder.programs();
}

// TTML of late 2025: its block's 31 launches in order, as the emulator makes them.
TEST(Llama, TheOrderOfABlocksCallsIsThatOfTtml) {
  chip::EmulatedChip device(chip::load_profiles());
  const std::vector<Program> one = programs_of(device, {.layers = 1}, false);
  const std::vector<Program> two = programs_of(device, {.layers = 2}, false);
  EXPECT_EQ(launches_of(device, two) - launches_of(device, one), 31);
  EXPECT_TRUE(names_of(one).find(
                  "rms_norm matmul.b matmul.b split_heads rotary_embedding rotary_embedding scale "
                  "repeat_heads matmul.b multiply subtract scale add softmax repeat_heads "
                  "matmul.none concat_heads matmul.b add rms_norm matmul.b silu matmul.b multiply "
                  "matmul.b add ") != std::string::npos)
      << names_of(one);
}

TEST(Llama, ANormOfSingleCallsHasSixForwardAndThirteenBackward) {
  chip::EmulatedChip device(chip::load_profiles());
  const auto names = [&](bool composite) {
    return names_of(programs_of(
        device, {.layers = 1, .composite_rms_norm = composite, .fused_swiglu = true}, true));
  };
  const std::string forward = "square mean add sqrt multiply divide ";
  EXPECT_NE(names(true).find(forward + "swiglu add " + forward), std::string::npos) << names(true);
  const std::string backward =
      "divide multiply multiply sum multiply square scale divide subtract divide multiply sum sum ";
  // The gradient of the last norm's x goes on to the sum of the block as it is.
  EXPECT_NE(names(true).find("matmul.none " + backward + "matmul."), std::string::npos)
      << names(true);
  EXPECT_NE(names(false).find("rms_norm_backward sum "), std::string::npos);
}

TEST(Llama, JoinedProductsOfSwigluHaveOneProgramEachWayUnlessDevicesDivideThem) {
  chip::EmulatedChip device(chip::load_profiles());
  const auto names = [&](const ModelOptions& options) {
    return names_of(programs_of(device, options, true));
  };
  const std::string joined = names({.layers = 1, .joined_swiglu = true});
  EXPECT_NE(joined.find("matmul.b matmul.b multiply matmul.b add "), std::string::npos) << joined;
  EXPECT_NE(joined.find("swiglu_backward "), std::string::npos) << joined;
  EXPECT_EQ(joined.find("silu "), std::string::npos) << joined;
  const autograd::DeviceGroup two(device, 0, 2, 0);
  EXPECT_EQ(names({.groups = 2, .layers = 1, .joined_swiglu = true, .group = &two}).find("swiglu"),
            std::string::npos);
}

TEST(Llama, ASwigluOfOneProgramComputesItsProductsAgain) {
  chip::EmulatedChip device(chip::load_profiles());
  const auto programs = [&](bool fused, bool backward) {
    return programs_of(device, {.layers = 1, .fused_swiglu = fused}, backward);
  };
  EXPECT_EQ(programs(true, false).size() + 4, programs(false, false).size());
  // Four calls more: two products, silu and their product.
  EXPECT_EQ(programs(true, true).size(), programs(false, true).size());
  const std::string names = names_of(programs(true, true));
  EXPECT_NE(names.find("matmul.b matmul.b silu multiply matmul.a matmul.none multiply multiply "
                       "matmul.a silu_backward matmul.a matmul.none matmul.none add "),
            std::string::npos)
      << names;
}

TEST(Llama, RefusesSizesThatDoNotFit) {
  ReferenceDevice device;
  const auto refuses = [&](ModelOptions options) { EXPECT_THROW(Llama(device, options), Error); };
  ModelOptions options = kTinyLlama;
  options.heads = 3;
  refuses(options);
  options = kTinyLlama;
  options.groups = 3;
  refuses(options);
  options = kTinyLlama;
  options.groups = 0;
  refuses(options);
  options = kTinyLlama;
  options.heads = 8;
  refuses(options);
}

TEST(RotaryAngles, TurnEachPairByThePositionTimesItsFrequency) {
  const RotaryAngles angles = rotary_angles(4, 8, 10000, {});
  ASSERT_EQ(angles.cosines.size(), 32U);
  for (std::size_t position = 0; position < 4; ++position) {
    for (std::size_t column = 0; column < 8; ++column) {
      const double angle = static_cast<double>(position) *
                           std::pow(10000.0, -static_cast<double>(column / 2 * 2) / 8);
      EXPECT_NEAR(angles.cosines[8 * position + column], std::cos(angle), 1e-6);
      EXPECT_NEAR(angles.sines[8 * position + column], std::sin(angle), 1e-6);
    }
  }
}

// Llama 3's rule, for 32 times the length of 8192.
TEST(RotaryAngles, StretchLongWavesAloneAndThoseBetweenPartly) {
  const RopeScaling scaling{.factor = 32, .high = 4, .low = 1, .length = 8192};
  const auto plain = rotary_frequencies(64, 500000, {});
  const auto stretched = rotary_frequencies(64, 500000, scaling);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const double wave = 2 * std::numbers::pi / plain[i];
    if (wave < 2048) {
      EXPECT_EQ(stretched[i], plain[i]);
    } else if (wave > 8192) {
      EXPECT_DOUBLE_EQ(stretched[i], plain[i] / 32);
    } else {
      EXPECT_LT(stretched[i], plain[i]);
      EXPECT_GT(stretched[i], plain[i] / 32);
      EXPECT_LE(stretched[i], stretched[i - 1]);
    }
  }
}

}  // namespace
}  // namespace howard::models
