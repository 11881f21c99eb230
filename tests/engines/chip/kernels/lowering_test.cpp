// SPDX-License-Identifier: Apache-2.0
//
// What ttnn launches for each call was read from its sources (docs/method/ops.md, "Other ops"), not
// recorded from this program.
#include "engines/chip/kernels/lowering.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engines/chip/emulated_chip.h"
#include "engines/chip/kernels/matmul/matmul_planner.h"
#include "engines/chip/kernels/planner.h"
#include "engines/ops/tensor.h"
#include "engines/ops/training.h"
#include "tests/engines/chip/mlp_calls.h"

namespace howard::chip {
namespace {

constexpr CoreGrid kGrid{8, 7};

class Lowering : public ::testing::Test {
 protected:
  ops::Tensor tensor(const Shape& shape, Layout layout = Layout::tile) {
    return {device_, {shape, DataType::bfloat16, layout}};
  }
  std::vector<Program> launches(const Program& program) const {
    std::vector<Program> programs;
    for (auto& [launch, matmul] : lower(program, kGrid, profiles_)) {
      programs.push_back(std::move(launch));
    }
    return programs;
  }
  /// Returns "name IN IN>OUT" for each.
  std::vector<std::string> texts(const Program& program) const {
    std::vector<std::string> result;
    for (const Program& launch : launches(program)) {
      std::string text(launch.name);
      for (const Operand& input : launch.inputs) text += " " + input.spec.shape.text();
      result.push_back(text + ">" + launch.outputs[0].spec.shape.text());
    }
    return result;
  }
  std::size_t count(const std::vector<Program>& calls) const {
    std::size_t result = 0;
    for (const Program& call : calls) result += launches(call).size();
    return result;
  }
  Program product(const Shape& a, const Shape& b, const MatmulAttributes& attributes) {
    const TensorSpec out = results_of(attributes, std::array{TensorSpec{a}, TensorSpec{b}})[0];
    return make_program(attributes, {tensor(a), tensor(b)}, {tensor(out.shape)});
  }
  void separate_transposes() { profiles_.software.matmul_fuses_transposes = false; }

  Profiles profiles_ = load_profiles();
  EmulatedChip device_{profiles_};
};

using Texts = std::vector<std::string>;

TEST_F(Lowering, MostCallsAreOneLaunchOfTheSameOperands) {
  const ops::Tensor x = tensor({64, 96});
  const Program program = make_program(eltwise_of(Eltwise::relu), {x}, {x});
  const std::vector<Program> lowered = launches(program);
  ASSERT_EQ(lowered.size(), 1U);
  EXPECT_EQ(lowered[0].name, "relu");
  EXPECT_EQ(lowered[0].inputs[0].buffer, x.buffer());
  EXPECT_EQ(lowered[0].outputs[0].buffer, x.buffer());
}

TEST_F(Lowering, AMeanOfAMatrixReducesColumnsThenRows) {
  const Program mean =
      make_program(ReduceAttributes{.reduction = Reduction::mean, .dimension = Dimension::all},
                   {tensor({1024, 512})}, {tensor({1})});
  EXPECT_EQ(texts(mean), (Texts{"mean 1024x512>1024x1", "mean 1024x1>1x1"}));
}

TEST_F(Lowering, AMeanOfABatchBringsTheBatchToTheRowsAndBack) {
  const Program mean =
      make_program(ReduceAttributes{.reduction = Reduction::mean, .dimension = Dimension::all},
                   {tensor({32, 256, 128})}, {tensor({1})});
  EXPECT_EQ(texts(mean),
            (Texts{"mean 32x256x128>32x256x1", "mean 32x256x1>32x1x1", "transpose 32x1x1>32x1",
                   "mean 32x1>1x1", "transpose 1x1>1x1", "multiply 1x1>1x1"}));
  const Program sum =
      make_program(ReduceAttributes{.reduction = Reduction::sum, .dimension = Dimension::all},
                   {tensor({32, 256, 128})}, {tensor({1})});
  EXPECT_EQ(launches(sum).size(), 5U) << "nothing to scale";
}

TEST_F(Lowering, AMorehMeanTakesOneDimensionAfterTheOther) {
  const Program mean = make_program(
      ReduceAttributes{
          .reduction = Reduction::mean, .dimension = Dimension::all, .moreh = /*moreh=*/true},
      {tensor({32, 1, 256, 1})}, {tensor({1})});
  EXPECT_EQ(texts(mean), (Texts{"mean 32x1x256x1>32x1x256x1", "mean 32x1x256x1>32x1x1x1",
                                "mean 32x1x1x1>32x1x1x1", "mean 32x1x1x1>1x1"}));
}

TEST_F(Lowering, GeluBackwardIsElevenLaunchesOrTtmlsOne) {
  const ops::Tensor x = tensor({64, 96});
  std::vector<std::string_view> names;
  std::vector<std::size_t> operands;
  for (const Program& launch :
       launches(make_program(GeluBackwardAttributes{.fused = /*fused=*/false}, {x, x}, {x}))) {
    names.push_back(launch.name);
    operands.push_back(launch.inputs.size());
  }
  EXPECT_EQ(names, (std::vector<std::string_view>{"multiply", "erf", "add", "multiply", "multiply",
                                                  "multiply", "exp", "multiply", "multiply", "add",
                                                  "multiply"}));
  EXPECT_EQ(operands, (std::vector<std::size_t>{1, 1, 1, 1, 2, 1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(
      launches(make_program(GeluBackwardAttributes{.fused = /*fused=*/true}, {x, x}, {x})).size(),
      1U);
}

TEST_F(Lowering, RowMajorOperandsAreTilizedAndTheResultUntilized) {
  const ops::Tensor x = tensor({256, 384}, Layout::row_major);
  const auto names = [&](const Program& program) {
    std::vector<std::string_view> result;
    for (const Program& launch : launches(program)) result.push_back(launch.name);
    return result;
  };
  EXPECT_EQ(names(make_program(eltwise_of(Eltwise::multiply, 0.1F), {x}, {x})),
            (std::vector<std::string_view>{"tilize", "multiply", "untilize"}));
  EXPECT_EQ(names(make_program(eltwise_of(Eltwise::subtract), {x, x}, {x})),
            (std::vector<std::string_view>{"tilize", "tilize", "subtract", "untilize"}));
  const std::vector<Program> lowered =
      launches(make_program(eltwise_of(Eltwise::subtract), {x, x}, {x}));
  EXPECT_EQ(lowered[2].inputs[1].spec.layout, Layout::tile);
  EXPECT_EQ(lowered[2].inputs[1].buffer, lowered[1].outputs[0].buffer) << "a temporary";
  EXPECT_NE(lowered[2].inputs[1].buffer, lowered[2].inputs[0].buffer);
  EXPECT_EQ(lowered[3].outputs[0].buffer, x.buffer());
}

TEST_F(Lowering, MulticastingProductsTransposeTheirOperandsThemselves) {
  const MatmulAttributes both{.transpose_a = true, .transpose_b = true};
  EXPECT_EQ(launches(product({512, 1024}, {256, 512}, both)).size(), 1U);
  separate_transposes();
  EXPECT_EQ(texts(product({512, 1024}, {256, 512}, both)),
            (Texts{"transpose 512x1024>1024x512", "transpose 256x512>512x256",
                   "matmul 1024x512 512x256>1024x256"}));
  EXPECT_EQ(launches(product({512, 1024}, {512, 256}, {.transpose_a = true})).size(), 2U);
  const std::vector<Program> lowered = launches(product({512, 1024}, {256, 512}, both));
  EXPECT_EQ(std::get<MatmulAttributes>(lowered[2].attributes), MatmulAttributes{});
}

TEST_F(Lowering, TheKernelForBatchesOfBothTransposesFirst) {
  const MatmulAttributes grid{.transpose_b = true, .core_grid = CoreGrid{8, 7}};
  EXPECT_EQ(
      texts(product({32, 6, 256, 64}, {32, 6, 256, 64}, grid)),
      (Texts{"transpose 32x6x256x64>32x6x64x256", "matmul 32x6x256x64 32x6x64x256>32x6x256x256"}));
  EXPECT_EQ(launches(product({32, 6, 256, 64}, {32, 6, 256, 64}, {.transpose_b = true})).size(), 1U)
      << "without a core grid it is not the kernel";
}

TEST_F(Lowering, TemporariesLiveUntilTheLastLaunchThatReadsThem) {
  const auto bytes_of = [&](const Program& program) {
    return temporary_bytes(lower(program, kGrid, profiles_));
  };
  const ops::Tensor x = tensor({64, 96});
  EXPECT_EQ(bytes_of(make_program(eltwise_of(Eltwise::relu), {x}, {x})), Bytes(0));
  const MatmulAttributes both{.transpose_a = true, .transpose_b = true};
  EXPECT_EQ(bytes_of(product({512, 1024}, {256, 512}, both)), Bytes(0)) << "transposed as read";
  separate_transposes();
  EXPECT_EQ(bytes_of(product({512, 1024}, {256, 512}, both)), Bytes(2 * (512 * 1024 + 256 * 512)));
  // Three quarters of a tile are padding. The rows of one group are there while they are copied,
  // and the copies until they are tilized: never more than those two.
  const ops::Tensor few = tensor({1, 1, 32, 8});
  const ops::Tensor many = tensor({1, 4, 32, 8});
  const Bytes rows{2 * 32 * 8};
  EXPECT_EQ(bytes_of(make_program(RepeatAttributes{}, {few}, {many})), 5 * rows);
}

/// A product is planned when its call is lowered, so this plan must be that of the launch.
TEST_F(Lowering, ThePlanOfAProductIsThatOfItsLaunch) {
  std::vector<MatmulAttributes> calls(8);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    calls[i].transpose_a = (i & 1) != 0;
    calls[i].transpose_b = (i & 2) != 0;
    if ((i & 4) != 0) calls[i].core_grid = CoreGrid{8, 7};
    calls[i].activation = EltwiseStep{.function = Eltwise::gelu};
  }
  int planned = 0;
  for (const bool fuses : {true, false}) {
    profiles_.software.matmul_fuses_transposes = fuses;
    for (const MatmulAttributes& attributes : calls) {
      const Program program = product({256, 256}, {256, 256}, attributes);
      for (const auto& [launch, matmul] : lower(program, kGrid, profiles_)) {
        if (!matmul) continue;
        ++planned;
        const auto& own = std::get<MatmulAttributes>(launch.attributes);
        EXPECT_EQ(*matmul, plan_matmul(launch, own, kGrid, profiles_));
      }
    }
  }
  EXPECT_GE(planned, 8);
}

TEST_F(Lowering, AnActivationIsAProgramOfItsOwnUnlessTtnnFusesIt) {
  const Texts separate{"matmul 1024x512 512x256>1024x256", "gelu 1024x256>1024x256"};
  const MatmulAttributes plain{.activation = step_of(Eltwise::gelu)};
  EXPECT_EQ(texts(product({1024, 512}, {512, 256}, plain)), separate);
  MatmulAttributes told = plain;
  told.core_grid = kGrid;
  const std::vector<Program> fused = launches(product({1024, 512}, {512, 256}, told));
  ASSERT_EQ(fused.size(), 1U);
  EXPECT_EQ(std::get<MatmulAttributes>(fused[0].attributes).activation, step_of(Eltwise::gelu));
  // The kernels that do not multicast know no activation.
  told.core_grid.reset();
  told.config = MatmulConfig{.kind = MatmulKind::multi_core};
  EXPECT_EQ(texts(product({1024, 512}, {512, 256}, told)), separate);
}

/// There are as many as the op lists of the report's engines have device programs.
TEST_F(Lowering, StepsOfTheMlpEnginesLaunchWhatTtnnLaunches) {
  const std::vector<Program> fixed = MlpCalls(device_, 1024, 512).static_step();
  const std::vector<Program> dynamic = MlpCalls(device_, 1024, 512).dynamic_step();
  ASSERT_EQ(fixed.size(), 24U);
  ASSERT_EQ(dynamic.size(), 32U);
  EXPECT_EQ(count(fixed), 25U);
  EXPECT_EQ(count(dynamic), 33U);
  separate_transposes();
  EXPECT_EQ(count(fixed), 29U);
  EXPECT_EQ(count(dynamic), 36U);
}

TEST_F(Lowering, LaunchesStayOnTheirSubDevice) {
  Program program = make_program(GeluBackwardAttributes{.fused = false},
                                 {tensor({64, 96}), tensor({64, 96})}, {tensor({64, 96})});
  program.sub_device = 3;
  const auto all = launches(program);
  EXPECT_GT(all.size(), 1U);
  for (const Program& launch : all) EXPECT_EQ(launch.sub_device, 3);
}

TEST_F(Lowering, WhatChangesNoTimeIsNoPartOfTheKey) {
  const ops::Tensor x = tensor({64, 96});
  const ops::Tensor y = tensor({64, 96});
  const auto same = [](const Program& a, const Program& b) {
    const Program left = timing_key(a);
    const Program right = timing_key(b);
    return left.attributes == right.attributes && left.inputs[0].buffer == right.inputs[0].buffer;
  };
  EXPECT_TRUE(same(make_program(eltwise_of(Eltwise::add, 1.0F), {x}, {x}),
                   make_program(eltwise_of(Eltwise::add, 2.0F), {y}, {y})));
  EXPECT_FALSE(same(make_program(eltwise_of(Eltwise::add, 1.0F), {x}, {x}),
                    make_program(eltwise_of(Eltwise::add), {x, y}, {x})));
  const MatmulAttributes short_clamp{.activation = EltwiseStep{Eltwise::clamp, {0, 1}}};
  const MatmulAttributes long_clamp{.activation = EltwiseStep{Eltwise::clamp, {0, 6}}};
  const ops::Tensor square = tensor({64, 64});
  EXPECT_TRUE(same(make_program(short_clamp, {square, square}, {square}),
                   make_program(long_clamp, {square, square}, {square})));
  EXPECT_FALSE(same(make_program(short_clamp, {square, square}, {square}),
                    make_program(MatmulAttributes{}, {square, square}, {square})));
  EXPECT_TRUE(same(make_program(DropoutAttributes{.probability = 0.1F, .seed = 1}, {x}, {x}),
                   make_program(DropoutAttributes{.probability = 0.2F, .seed = 2}, {x}, {x})));
  EXPECT_TRUE(same(make_program(LayernormAttributes{.epsilon = 1e-5F}, {x}, {x}),
                   make_program(LayernormAttributes{.epsilon = 1e-6F}, {x}, {x})));
  const auto attention = [&](const AttentionAttributes& attributes) {
    return Program{.name = "attention", .attributes = attributes, .inputs = {x.operand()}};
  };
  EXPECT_TRUE(same(attention({.scale = 0.5F}), attention({.scale = 0.25F})));
  EXPECT_FALSE(same(attention({.causal = true}), attention({})));
  const ops::Moments moments{x, x};
  EXPECT_TRUE(same(ops::adamw(x, x, moments, {.step = 1}),
                   ops::adamw(x, x, moments, {.learning_rate = 0.1F, .step = 2})));
}

/// Every launch of every composite has a plan.
TEST_F(Lowering, WhatIsLoweredCanBePlanned) {
  const ops::Tensor x = tensor({2, 64, 96});
  const ops::Tensor r = tensor({64, 96}, Layout::row_major);
  for (const Program& program :
       {make_program(ReduceAttributes{.reduction = Reduction::mean, .dimension = Dimension::all},
                     {x}, {tensor({1})}),
        make_program(
            ReduceAttributes{
                .reduction = Reduction::mean, .dimension = Dimension::all, .moreh = true},
            {x}, {tensor({1})}),
        make_program(GeluBackwardAttributes{.fused = false}, {x, x}, {x}),
        make_program(GeluBackwardAttributes{.fused = true}, {x, x}, {x}),
        ops::adamw(x, x, {x, x}, {}), make_program(eltwise_of(Eltwise::add), {r, r}, {r})}) {
    for (const Program& launch : launches(program)) {
      EXPECT_GT(plan_program(launch, kGrid, profiles_).kernel.total, SimTime()) << launch.name;
    }
  }
}

}  // namespace
}  // namespace howard::chip
