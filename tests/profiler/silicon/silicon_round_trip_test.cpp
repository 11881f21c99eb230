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

  void run_movements() {
    const ops::Tensor x = tensor({2, 4, 96, 64});
    TensorSpec near = x.spec();
    near.storage = Storage::l1;
    run(make_program(MemoryMoveAttributes{}, {x}, {make(near)}));
    run(make_program(eltwise_of(Eltwise::add), {make(near), x}, {make(near)}));
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

TEST_F(SiliconRoundTrip, CallsOfTheEmulatorComeBackInTheirOwnTime) {
  run_products();
  run_elementwise();
  run_movements();
  const SiliconComparison found = compare();
  for (const NotEmulated& lost : found.not_emulated) {
    ADD_FAILURE() << lost.code << ": " << lost.reason;
  }
  EXPECT_EQ(found.dropped.count(), 0U);
  std::size_t runs = 0;
  for (const ComparedCall& call : found.calls) {
    for (const MeasuredRun& run : call.runs) {
      ++runs;
      // Both ends of a kernel are whole cycles of 1 ns in the log.
      EXPECT_LE(std::abs((call.emulated - run.kernel).ps()), 1'000)
          << call.call << " of " << call.inputs;
    }
  }
  EXPECT_EQ(runs, timeline_of(recorder_.recorder().events()).programs.size());
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
