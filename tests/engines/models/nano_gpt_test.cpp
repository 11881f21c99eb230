// SPDX-License-Identifier: Apache-2.0
#include "engines/models/nano_gpt.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engines/autograd/host_values.h"
#include "engines/autograd/optimizers/adamw.h"
#include "engines/autograd/steps/static_step.h"
#include "engines/autograd/steps/training_step.h"
#include "engines/chip/emulated_chip.h"
#include "tests/engines/autograd/gradient_check.h"
#include "tests/engines/autograd/plan_check.h"
#include "tests/engines/models/program_list.h"

namespace howard::models {
namespace {

using autograd::AdamW;
using autograd::Scalars;
using autograd::StaticStep;
using autograd::StepFunction;
using autograd::Tape;
using reference::ReferenceDevice;

const ModelOptions kTiny{.batch = 2,
                         .sequence = 3,
                         .width = 4,
                         .heads = 2,
                         .layers = 2,
                         .vocabulary = 5,
                         .dropout = 0.3F,
                         .parameters = DataType::float32,
                         .compute = DataType::float32};

StepFunction step_of(NanoGpt& model, autograd::Optimizer& optimizer) {
  return autograd::training_step(
      [&model](Tape& tape, int) { return model.loss(tape); }, optimizer,
      {.tape = {
           .calls = {.products = kTtmlProducts}, .compute = model.options().compute, .seed = 3}});
}

void fill(ReferenceDevice& device, NanoGpt& model) {
  unsigned seed = 1;
  for (autograd::Parameter* parameter : model.parameters()) {
    reference::fill_random(device, parameter->value, seed++, 0.5);
  }
  const std::vector<std::uint32_t> tokens{0, 1, 2, 3, 4, 1};
  const std::vector<std::uint32_t> targets{1, 2, 3, 4, 1, 0};
  autograd::write_indices(device.command_queue(0), model.tokens(), tokens);
  autograd::write_indices(device.command_queue(0), model.targets(), targets);
}

TEST(NanoGpt, GradientsAreThoseOfTheLossWithAndWithoutKeepingTheBlocks) {
  for (const bool memory_efficient : {false, true}) {
    ReferenceDevice device;
    ModelOptions options = kTiny;
    options.memory_efficient = memory_efficient;
    NanoGpt model(device, options);
    fill(device, model);
    reference::expect_gradients(device, model.parameters(),
                                [&](Tape& tape) { return model.loss(tape); },
                                {.compute = DataType::float32, .seed = 5});
  }
}

TEST(NanoGpt, BothFormsOfAttentionGiveTheSameGradients) {
  const auto gradients = [](bool fused) {
    ReferenceDevice device;
    ModelOptions options = kTiny;
    options.fused_attention = fused;
    NanoGpt model(device, options);
    fill(device, model);
    Tape tape(device, {.compute = DataType::float32, .seed = 5});
    tape.backward(model.loss(tape));
    std::vector<double> all;
    for (const autograd::Parameter* parameter : model.parameters()) {
      const reference::Values values = device.values(*parameter->gradient);
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  };
  const std::vector<double> composite = gradients(false);
  const std::vector<double> fused = gradients(true);
  ASSERT_EQ(fused.size(), composite.size());
  // The composite divides by the root of the width in float32.
  for (std::size_t i = 0; i < fused.size(); ++i) ASSERT_NEAR(fused[i], composite[i], 1e-6) << i;
}

TEST(NanoGpt, CheckpointedBlocksGiveTheSameLossesInLessMemory) {
  const auto run = [](bool memory_efficient, std::size_t& most) {
    ReferenceDevice device;
    ModelOptions options = kTiny;
    options.memory_efficient = memory_efficient;
    NanoGpt model(device, options);
    fill(device, model);
    AdamW adamw(autograd::Calls(device), model.parameters(), {.learning_rate = 0.01F});
    const StepFunction step = step_of(model, adamw);
    std::vector<double> losses;
    for (int i = 0; i < 4; ++i) losses.push_back(device.values(step(device))[0]);
    Tape tape(device, {.compute = DataType::float32});
    static_cast<void>(model.loss(tape));
    most = device.live_buffers();
    return losses;
  };
  std::size_t all = 0;
  std::size_t fewer = 0;
  EXPECT_EQ(run(true, fewer), run(false, all));
  EXPECT_LT(fewer + 30, all);
}

TEST(NanoGpt, DynamicAndStaticGiveTheSameLossesToTheBitAndTheyFall) {
  constexpr int kSteps = 40;
  const auto run = [](bool recorded) {
    ReferenceDevice device;
    ModelOptions options = kTiny;
    options.dropout = 0.1F;
    NanoGpt model(device, options);
    fill(device, model);
    AdamW adamw(autograd::Calls(device), model.parameters(), {.learning_rate = 0.02F});
    const StepFunction function = step_of(model, adamw);
    std::optional<StaticStep> step;
    if (recorded) step.emplace(device, function, Scalars::change_each_step);
    std::vector<double> losses;
    for (int i = 0; i < kSteps; ++i) {
      if (recorded) step->run();
      losses.push_back(device.values(recorded ? step->loss() : function(device))[0]);
    }
    return losses;
  };
  const std::vector<double> dynamic = run(false);
  EXPECT_EQ(run(true), dynamic);
  EXPECT_LT(dynamic.back(), 0.8 * dynamic.front());
}

// This is TTML's program list of late 2025, read from its source: 1663 calls and 1690 launches with
// its composite AdamW, 431 and 458 with the fused one, because 77 parameters have 17 launches each,
// or one.
TEST(NanoGpt, LaunchesAreThoseOfTtml) {
  for (const bool fused : {false, true}) {
    chip::EmulatedChip device(chip::load_profiles());
    NanoGpt model(device, {.dropout = 0.2F});
    EXPECT_EQ(model.parameters().size(), 77U);
    std::int64_t elements = 0;
    for (const autograd::Parameter* parameter : model.parameters()) {
      elements += parameter->value.spec().shape.elements();
    }
    EXPECT_EQ(elements, 10'819'584);
    AdamW adamw(autograd::Calls(device), model.parameters(), {},
                fused ? autograd::AdamWForm::fused : autograd::AdamWForm::composite);
    const StaticStep step(device, step_of(model, adamw), Scalars::change_each_step);
    const std::vector<Program>& programs = step.programs();
    const auto of_phase = [&](std::size_t phase) {
      const std::size_t end =
          phase + 1 < step.phases().size() ? step.phases()[phase + 1].first : programs.size();
      const std::size_t first = step.phases()[phase].first;
      return launches_of(device, std::span(programs).subspan(first, end - first));
    };
    EXPECT_EQ(of_phase(0), 138 + 5) << "forward and loss";
    EXPECT_EQ(of_phase(1), 238) << "backward";
    EXPECT_EQ(of_phase(2), fused ? 77 : 1309) << "update";
    EXPECT_EQ(launches_of(device, programs), fused ? 458 : 1690);
    EXPECT_EQ(programs.size(), fused ? 431U : 1663U);
    chip::EmulatedChip older(older_profiles());
    EXPECT_EQ(launches_of(older, programs), fused ? 508 : 1740);
  }
}

TEST(NanoGpt, TheOrderOfABlocksCallsIsThatOfTtml) {
  ReferenceDevice device;
  ModelOptions options = kTiny;
  options.layers = 1;
  // The width is whole tiles, where views change shapes, as at TTML's sizes.
  options.sequence = 32;
  options.width = 64;
  NanoGpt model(device, options);
  const autograd::Calls calls(device);
  for (autograd::Parameter* parameter : model.parameters()) {
    reference::fill_random(device, parameter->value, 1, 0.5);
  }
  const std::vector<std::uint32_t> zeros(64);
  autograd::write_indices(device.command_queue(0), model.tokens(), zeros);
  autograd::write_indices(device.command_queue(0), model.targets(), zeros);
  device.clear();
  Tape tape(device, {.compute = DataType::float32});
  const autograd::Value loss = model.loss(tape);
  EXPECT_EQ(names_of(device.programs()),
            "untilize embedding add dropout "
            "layernorm linear.b split_heads scale matmul.b multiply subtract scale add softmax "
            "matmul.none concat_heads linear.b dropout add layernorm linear.b gelu linear.b "
            "dropout add layernorm matmul.b cross_entropy mean ");
  // TTML passes the batch, and ttnn makes rows of it.
  for (const Program& program : device.programs()) {
    if (name_of(program) == "linear.b") {
      EXPECT_EQ(program.inputs[0].spec.shape.batch(), 2);
    }
  }
  device.clear();
  tape.backward(loss);
  for (const Program& program : device.programs()) {
    if (name_of(program) == "matmul.a" && program.inputs[0].spec.shape.columns() > 32) {
      EXPECT_EQ(program.inputs[0].spec.shape.batch(), 1);
    }
  }
  const std::string norm = "layernorm_backward sum sum ";
  const std::string linear = "matmul.a matmul.none sum ";
  EXPECT_EQ(names_of(device.programs()),
            "fill cross_entropy_backward matmul.a matmul.none " + norm + "dropout " + linear +
                "gelu_backward " + linear + norm + "add dropout " + linear +
                "transpose transpose matmul.b softmax_backward scale matmul.none matmul.a "
                "matmul.a concat_heads concat_heads concat_heads concat " +
                linear + norm + "add dropout sum embedding_backward ");
}

TEST(NanoGpt, FusedAttentionIsOneProgramForwardAndTwoBackward) {
  ReferenceDevice device;
  ModelOptions options = kTiny;
  options.layers = 1;
  options.sequence = 32;
  options.width = 64;
  options.fused_attention = true;
  NanoGpt model(device, options);
  const std::vector<std::uint32_t> zeros(64);
  autograd::write_indices(device.command_queue(0), model.tokens(), zeros);
  autograd::write_indices(device.command_queue(0), model.targets(), zeros);
  device.clear();
  Tape tape(device, {.compute = DataType::float32});
  const autograd::Value loss = model.loss(tape);
  EXPECT_NE(names_of(device.programs()).find("split_heads attention concat_heads linear.b"),
            std::string::npos);
  device.clear();
  tape.backward(loss);
  EXPECT_NE(names_of(device.programs())
                .find("attention_backward_kv attention_backward_q "
                      "concat_heads concat_heads concat_heads concat"),
            std::string::npos);
}

TEST(NanoGpt, PlanningSharesNoBufferThatIsNeeded) {
  for (const bool memory_efficient : {false, true}) {
    ReferenceDevice device;
    ModelOptions options = kTiny;
    options.memory_efficient = memory_efficient;
    options.fused_attention = memory_efficient;
    NanoGpt model(device, options);
    fill(device, model);
    AdamW adamw(autograd::Calls(device), model.parameters(), {});
    autograd::StepRecorder recorder(device);
    const ops::Tensor loss = step_of(model, adamw)(recorder);
    autograd::expect_no_sharing(recorder);
  }
}

}  // namespace
}  // namespace howard::models
