// SPDX-License-Identifier: Apache-2.0
// What the emulator writes as a log of real hardware is emulated again to the same times.
#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "engines/chip/emulated_chip.h"
#include "engines/ops/tensor.h"
#include "engines/ops/training.h"
#include "profiler/formats/tt_metal_logs.h"
#include "profiler/program_recorder.h"
#include "profiler/silicon/silicon_comparison.h"
#include "tests/profiler/formats/wormhole_device.h"

namespace howard::profiler {
namespace {

class SiliconRoundTrip : public ::testing::Test {
 protected:
  SiliconRoundTrip() { device_.set_trace_sink(&recorder_); }

  ops::Tensor tensor(const Shape& shape, DataType dtype = DataType::bfloat16,
                     Layout layout = Layout::tile) {
    return tensors_.emplace_back(device_, TensorSpec{shape, dtype, layout});
  }
  ops::Tensor like(const ops::Tensor& other) {
    return tensors_.emplace_back(device_, other.spec());
  }
  ops::Tensor make(const TensorSpec& spec) { return tensors_.emplace_back(device_, spec); }
  void run(const Program& program) {
    device_.command_queue(0).enqueue(program);
    device_.command_queue(0).finish();
  }

  void run_products() {
    for (const bool transpose_a : {false, true}) {
      for (const bool transpose_b : {false, true}) {
        const MatmulAttributes attributes{.transpose_a = transpose_a, .transpose_b = transpose_b};
        const ops::Tensor a = tensor(transpose_a ? Shape{256, 96} : Shape{96, 256});
        const ops::Tensor b = tensor(transpose_b ? Shape{320, 256} : Shape{256, 320});
        run(make_program(attributes, {a, b}, {tensor({96, 320})}));
        run(make_program(attributes, {a, b, tensor({320})}, {tensor({96, 320})}));
      }
    }
    const ops::Tensor a = tensor({4, 6, 64, 96});
    const ops::Tensor b = tensor({4, 6, 96, 64});
    for (const MathFidelity fidelity : {MathFidelity::lofi, MathFidelity::hifi3}) {
      for (const bool fp32 : {false, true}) {
        run(make_program(
            MatmulAttributes{.compute = {.fidelity = fidelity, .fp32_accumulation = fp32}}, {a, b},
            {tensor({4, 6, 64, 64})}));
      }
    }
    const ops::Tensor wide = tensor({1024, 1024}, DataType::bfloat8_b);
    run(make_program(MatmulAttributes{.core_grid = CoreGrid{5, 4}}, {wide, wide}, {like(wide)}));
    const ops::Tensor narrow = tensor({1024, 1024});
    run(make_program(MatmulAttributes{}, {narrow, wide},
                     {tensor({1024, 1024}, DataType::float32)}));
    run(make_program(
        MatmulAttributes{.core_grid = CoreGrid{5, 4}, .activation = step_of(Eltwise::gelu)},
        {narrow, narrow}, {like(narrow)}));
    run(make_program(MatmulAttributes{.activation = step_of(Eltwise::silu)}, {narrow, narrow},
                     {like(narrow)}));
  }

  void run_elementwise() {
    const ops::Tensor x = tensor({2, 3, 100, 320});
    for (const Eltwise function : {Eltwise::add, Eltwise::subtract, Eltwise::multiply}) {
      run(make_program(eltwise_of(function), {x, x}, {like(x)}));
      run(make_program(eltwise_of(function), {x, tensor({320})}, {like(x)}));
      run(make_program(eltwise_of(function), {x, tensor({2, 3, 100, 1})}, {like(x)}));
      run(make_program(eltwise_of(function, 0.5F), {x}, {like(x)}));
    }
    for (const Eltwise function :
         {Eltwise::relu, Eltwise::gtz, Eltwise::square, Eltwise::exp, Eltwise::erf, Eltwise::gelu,
          Eltwise::sqrt, Eltwise::rsqrt, Eltwise::reciprocal}) {
      run(make_program(eltwise_of(function), {x}, {like(x)}));
    }
    run(make_program(eltwise_of(Eltwise::fill, 3), {}, {like(x)}));
    run(make_program(eltwise_of(Eltwise::cast), {x},
                     {tensor({2, 3, 100, 320}, DataType::float32)}));
    const ops::Tensor rows = tensor({96, 320}, DataType::bfloat16, Layout::row_major);
    run(make_program(eltwise_of(Eltwise::add), {rows, rows}, {like(rows)}));
    Program some = make_program(eltwise_of(Eltwise::relu), {x}, {like(x)});
    std::get<EltwiseAttributes>(some.attributes).core_grid = CoreGrid{3, 5};
    run(some);
    for (const bool fused : {false, true})
      run(make_program(GeluBackwardAttributes{.fused = fused}, {x, x}, {like(x)}));
    run(make_program(DropoutAttributes{.probability = 0.2F, .seed = 7}, {x}, {like(x)}));
  }

  void run_rows_and_reductions() {
    const ops::Tensor x = tensor({2, 3, 100, 320});
    for (const Reduction reduction : {Reduction::sum, Reduction::mean, Reduction::max}) {
      for (const Dimension dimension :
           {Dimension::columns, Dimension::rows, Dimension::batch, Dimension::all}) {
        const ops::Tensor out =
            make(results_of(ReduceAttributes{.dimension = dimension}, std::array{x.spec()})[0]);
        run(make_program(ReduceAttributes{.reduction = reduction, .dimension = dimension}, {x},
                         {out}));
        if (reduction != Reduction::max)
          run(make_program(
              ReduceAttributes{.reduction = reduction, .dimension = dimension, .moreh = true}, {x},
              {out}));
      }
    }
    run(make_program(SoftmaxAttributes{}, {x}, {like(x)}));
    run(make_program(SoftmaxBackwardAttributes{}, {x, x}, {like(x)}));
    const ops::Tensor row = tensor({320});
    const ops::Tensor statistic = tensor({2, 3, 100, 1});
    run(make_program(LayernormAttributes{.epsilon = 1e-5F}, {x}, {like(x)}));
    run(make_program(TtmlLayernormAttributes{.epsilon = 1e-5F}, {x, row, row},
                     {like(x), statistic, statistic}));
    run(make_program(LayernormBackwardAttributes{}, {x, row, statistic, statistic, x},
                     {like(x), x, x}));
    const ops::Tensor targets = tensor({6, 100}, DataType::uint32, Layout::row_major);
    const ops::Tensor logits = tensor({6, 100, 320});
    run(make_program(CrossEntropyAttributes{}, {logits, targets}, {tensor({6, 100, 1})}));
    run(make_program(CrossEntropyBackwardAttributes{.scale = 1}, {logits, targets},
                     {like(logits)}));
    const ops::Tensor table = tensor({96, 320}, DataType::bfloat16, Layout::row_major);
    run(make_program(EmbeddingAttributes{}, {targets, table}, {like(logits)}));
    run(make_program(EmbeddingBackwardAttributes{}, {targets, logits}, {tensor({96, 320})}));
    const ops::Tensor wide = tensor({96, 320}, DataType::float32);
    run(ops::adamw(wide, tensor({96, 320}), {wide, wide}, {}));
  }

  void run_movements() {
    const ops::Tensor x = tensor({2, 4, 96, 64});
    run(make_program(TransposeAttributes{.swap = Swap::rows_columns}, {x},
                     {tensor({2, 4, 64, 96})}));
    run(make_program(TransposeAttributes{.swap = Swap::heads_rows}, {x}, {tensor({2, 96, 4, 64})}));
    run(make_program(ReshapeAttributes{}, {x}, {tensor({2, 96, 256})}));
    const ops::Tensor rows = tensor({2, 4, 96, 64}, DataType::bfloat16, Layout::row_major);
    run(make_program(LayoutAttributes{.to = x.spec().layout}, {rows}, {x}));
    run(make_program(LayoutAttributes{.to = rows.spec().layout}, {x}, {rows}));
    const std::vector<ops::Tensor> parts{x, x, x};
    run(make_program(ConcatAttributes{}, ops::operands_of(parts), {tensor({2, 4, 96, 192})}));
    const ops::Tensor heads = tensor({2, 4, 96, 64});
    run(make_program(SplitHeadsAttributes{.heads = 4}, {tensor({2, 1, 96, 768})},
                     {heads, heads, heads}));
    run(make_program(ConcatHeadsAttributes{}, {heads}, {tensor({2, 1, 96, 256})}));
  }

  /// Every function of the catalogue, with its numbers and something behind it.
  void run_catalogue() {
    const ops::Tensor x = tensor({64, 320});
    for (const EltwiseEntry& entry : eltwise_catalogue()) {
      if (entry.values == 0 || entry.function == Eltwise::cast || !entry.nearest.empty()) continue;
      EltwiseAttributes attributes{.function = entry.function, .numbers = entry.defaults};
      const std::vector<ops::Tensor> values(static_cast<std::size_t>(entry.values), x);
      run(make_program(attributes, ops::operands_of(values), {like(x)}));
      if (entry.values == 3 || entry.function == Eltwise::silu_backward) continue;
      attributes.then = {step_of(Eltwise::clamp), step_of(Eltwise::silu)};
      run(make_program(attributes, ops::operands_of(values), {like(x)}));
      if (entry.values < 2) continue;
      attributes.on_a = {step_of(Eltwise::relu)};
      attributes.on_b = {step_of(Eltwise::exp), step_of(Eltwise::clamp)};
      run(make_program(attributes, ops::operands_of(values), {like(x)}));
    }
  }

  void run_llama() {
    const ops::Tensor x = tensor({2, 3, 96, 64});
    const ops::Tensor gamma = tensor({64});
    const ops::Tensor root = tensor({2, 3, 96, 1});
    run(make_program(RmsNormAttributes{.epsilon = 1e-5F}, {x}, {like(x)}));
    run(make_program(RmsNormAttributes{.epsilon = 1e-5F}, {x, gamma}, {like(x)}));
    run(make_program(TtmlRmsNormAttributes{.epsilon = 1e-5F}, {x, gamma}, {like(x), root}));
    run(make_program(RmsNormBackwardAttributes{}, {x, gamma, root, x}, {like(x), like(x)}));
    const ops::Tensor wide = tensor({128, 64});
    run(make_program(SwigluAttributes{}, {x, wide, tensor({64, 128}), wide}, {like(x)}));
    run(ops::sgd(x, x, {}, {.weight_decay = 0.1F}));
    run(ops::sgd(x, x, like(x), {.momentum = 0.9F, .nesterov = true}));
    const ops::Tensor table = tensor({96, 64});
    for (const RotaryStyle style : {RotaryStyle::pairs, RotaryStyle::halves}) {
      run(make_program(RotaryEmbeddingAttributes{.style = style}, {x, table, table}, {like(x)}));
    }
    const std::vector<Operand> qkv{x, tensor({2, 1, 96, 64}), tensor({2, 1, 96, 64})};
    run(make_program(AttentionAttributes{.causal = true, .query_chunk = 96, .key_chunk = 64}, qkv,
                     {like(x)}));
    // A mask would be the fourth operand, for which the log has no columns.
    run(make_program(AttentionAttributes{.compute = {.fidelity = MathFidelity::hifi4}}, qkv,
                     {like(x)}));
    run(make_program(TtmlAttentionAttributes{.causal = true}, qkv, {like(x), root, root}));
    std::vector<Operand> gradients = qkv;
    for (const ops::Tensor& more : {x, x, root, root}) gradients.emplace_back(more);
    run(make_program(AttentionBackwardQAttributes{.causal = true}, gradients, {like(x)}));
    const ops::Tensor dk = tensor({2, 1, 96, 64});
    run(make_program(AttentionBackwardKvAttributes{.causal = false}, gradients, {dk, like(dk)}));
    const ops::Tensor weight = tensor({64, 160});
    const MinimalMatmulAttributes blocks{.block_m = 2, .block_k = 1, .core_grid = CoreGrid{4, 2}};
    run(make_program(blocks, {x, weight}, {tensor({2, 3, 96, 160})}));
    const MinimalMatmulAttributes gelu{.activation = step_of(Eltwise::gelu)};
    run(make_program(gelu, {x, weight}, {tensor({2, 3, 96, 160})}));
    run(make_program(MinimalMatmulAttributes{}, {x, weight, tensor({160})},
                     {tensor({2, 3, 96, 160})}));
  }

  void run_parts() {
    const ops::Tensor x = tensor({2, 4, 96, 64});
    run(make_program(SliceAttributes{.begins = {1, 0, 32, 0}}, {x}, {tensor({1, 3, 64, 64})}));
    run(make_program(SliceAttributes{.begins = {0, 1, 5, 7}, .steps = {1, 1, 2, 3}}, {x},
                     {tensor({2, 3, 40, 9})}));
    run(make_program(PadAttributes{.before = {0, 0, 0, 0}, .value = 1}, {x},
                     {tensor({2, 5, 128, 64})}));
    run(make_program(PadAttributes{.before = {0, 1, 3, 0}, .value = 1}, {x},
                     {tensor({2, 5, 128, 64})}));
    for (const std::array<int, 4>& order :
         {std::array{0, 1, 3, 2}, std::array{0, 2, 1, 3}, std::array{1, 0, 2, 3},
          std::array{2, 0, 1, 3}, std::array{3, 0, 1, 2}}) {
      run(make_program(
          PermuteAttributes{.order = order}, {x},
          {make(results_of(PermuteAttributes{.order = order}, std::array{x.spec()})[0])}));
    }
    const std::vector<ops::Tensor> parts{x, x};
    run(make_program(ConcatAttributes{.dimension = 1}, ops::operands_of(parts),
                     {tensor({2, 8, 96, 64})}));
    TensorSpec near = x.spec();
    near.storage = Storage::l1;
    run(make_program(MemoryMoveAttributes{}, {x}, {make(near)}));
    run(make_program(eltwise_of(Eltwise::add), {make(near), x}, {make(near)}));
    const ops::Tensor table = tensor({96, 320}, DataType::bfloat16, Layout::row_major);
    const ops::Tensor rows = tensor({6, 100, 320}, DataType::bfloat16, Layout::row_major);
    run(make_program(EmbeddingAttributes{}, {tensor({6, 100}, DataType::uint32), table}, {rows}));
  }

  SiliconComparison compare() const {
    const auto records = op_records(recorder_.recorder().events(), [&](std::uint64_t program) {
      return recorder_.facts(program);
    });
    TextBytes source(text_ = ops_csv(records, kWormholeDevice));
    return compare_with_silicon(source, "ops.csv", profiles_);
  }

  chip::Profiles profiles_ = chip::load_profiles();
  chip::EmulatedChip device_{profiles_};
  ProgramRecorder recorder_;
  std::deque<ops::Tensor> tensors_;
  mutable std::string text_;
};

TEST_F(SiliconRoundTrip, EveryOpOfTheEmulatorComesBackInItsOwnTime) {
  run_products();
  run_elementwise();
  run_rows_and_reductions();
  run_movements();
  run_catalogue();
  run_llama();
  run_parts();
  const SiliconComparison found = compare();
  for (const NotEmulated& lost : found.not_emulated) {
    ADD_FAILURE() << lost.code << ": " << lost.reason;
  }
  EXPECT_EQ(found.dropped.count(), 0U);
  std::size_t runs = 0;
  std::set<std::string> codes;
  for (const ComparedCall& call : found.calls) {
    codes.insert(call.code);
    for (const MeasuredRun& run : call.runs) {
      ++runs;
      // Both ends of a kernel are whole cycles of 1 ns in the log.
      EXPECT_LE(std::abs((call.emulated - run.kernel).ps()), 1'000)
          << call.call << " of " << call.inputs;
    }
  }
  EXPECT_EQ(runs, timeline_of(recorder_.recorder().events()).programs.size());
  EXPECT_EQ(codes.size(), 43U);  // every operation that the emulator names
}

TEST_F(SiliconRoundTrip, TheLogSaysWhatTheOpsWereTold) {
  run_products();
  const SiliconComparison found = compare();
  std::set<std::string> calls;
  for (const ComparedCall& call : found.calls) calls.insert(call.call);
  for (const char* const expected : {"matmul", "linear", "matmul tb", "linear ta tb", "matmul fp32",
                                     "matmul 5x4", "matmul +gelu 5x4"}) {
    EXPECT_TRUE(calls.contains(expected)) << expected;
  }
}

TEST_F(SiliconRoundTrip, DamagedLogsAreComparedAsFarAsTheyGo) {
  run_products();
  run_elementwise();
  run_movements();
  static_cast<void>(compare());
  const std::string whole = text_;
  std::mt19937 random(3);
  for (int i = 0; i < 300; ++i) {
    std::string damaged = whole;
    for (int k = 0; k < 40; ++k) {
      // The header stays, with its end: without it no row has the columns.
      const std::size_t rows = whole.find('\n') + 1;
      const std::size_t at = rows + random() % (whole.size() - rows);
      // Digits and marks of the format break more than noise would.
      constexpr std::string_view kMarks = "0123456789,;:'\"[]{}()=\n ABx-";
      damaged[at] = kMarks[random() % kMarks.size()];
    }
    TextBytes source(damaged);
    const SiliconComparison found = compare_with_silicon(source, "damaged.csv", profiles_);
    EXPECT_FALSE(found.calls.empty());
  }
}

TEST_F(SiliconRoundTrip, TwoSubDevicesAreTwoGrids) {
  const std::vector<CoreRange> halves{{0, 0, 3, 6}, {4, 0, 7, 6}};
  device_.set_sub_devices(halves);
  const ops::Tensor x = tensor({512, 512});
  run(make_program(MatmulAttributes{}, {x, x}, {like(x)}));
  const SiliconComparison found = compare();
  ASSERT_EQ(found.calls.size(), 1U);
  EXPECT_EQ(found.calls[0].grid, (CoreGrid{4, 7}));
  EXPECT_LE(std::abs((found.calls[0].emulated - found.calls[0].runs[0].kernel).ps()), 1'000);
}

}  // namespace
}  // namespace howard::profiler
