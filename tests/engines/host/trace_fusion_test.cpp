// SPDX-License-Identifier: Apache-2.0
#include "engines/host/trace_fusion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "engines/host/trace_memory.h"
#include "tests/engines/host/host_calls.h"

namespace howard::host {
namespace {

using Members = std::vector<std::size_t>;

Program eltwise(Eltwise function, const std::vector<Operand>& inputs, const Operand& output,
                std::optional<float> scalar = {}) {
  return {.name = "eltwise",
          .attributes = EltwiseAttributes{.function = function, .scalar = scalar},
          .inputs = inputs,
          .outputs = {output},
          .flops = {}};
}

Program matmul(const Operand& a, const Operand& b, const Operand& c, bool transpose_a = false) {
  return {.name = "matmul",
          .attributes = MatmulAttributes{.transpose_a = transpose_a},
          .inputs = {a, b},
          .outputs = {c},
          .flops = {}};
}

Program reduce(Reduction reduction, Dimension dimension, const Operand& x, const Operand& out) {
  return {.name = "reduce",
          .attributes = ReduceAttributes{.reduction = reduction, .dimension = dimension},
          .inputs = {x},
          .outputs = {out},
          .flops = {}};
}

/// Holds tensors by number, which are the same on each device on which a trace is tried.
class Tensors {
 public:
  Operand make(const Shape& shape, DataType dtype = DataType::bfloat16) {
    specs_.push_back({shape, dtype});
    return {BufferId{specs_.size()}, specs_.back()};
  }

  /// Returns what each tensor holds after two replays on a device that fuses or does not.
  std::vector<Values> after(const std::vector<Program>& trace, bool fuse, int threads) const {
    HostDevice device({.threads = threads, .fuse_traces = fuse});
    std::vector<Operand> placed;
    for (const TensorSpec& spec : specs_) {
      placed.push_back(put(device, spec, random(spec.shape, spec.dtype, placed.size() + 1).values));
    }
    CommandQueue& queue = device.command_queue(0);
    queue.begin_trace_capture();
    for (Program program : trace) {
      for (auto* operands : {&program.inputs, &program.outputs}) {
        for (Operand& operand : *operands) {
          operand.buffer = placed[static_cast<std::size_t>(operand.buffer) - 1].buffer;
        }
      }
      queue.enqueue(program);
    }
    const TraceId id = queue.end_trace_capture();
    for (int i = 0; i < 2; ++i) queue.execute_trace(id);
    std::vector<Values> results;
    for (const Operand& operand : placed) results.push_back(get(device, operand));
    return results;
  }

 private:
  std::vector<TensorSpec> specs_;
};

class TraceFusion : public ::testing::Test {
 protected:
  /// Returns the groups as lists of members; fails unless `left` have the same bits fused and not.
  std::vector<Members> groups(const std::vector<Program>& trace, const std::vector<Operand>& left) {
    std::vector<Members> result;
    for (const FusedPrograms& group : fuse(trace)) result.push_back(group.members);
    for (const int threads : {1, 0}) {
      const auto apart = tensors_.after(trace, false, threads);
      const auto fused = tensors_.after(trace, true, threads);
      for (const Operand& operand : left) {
        const auto index = static_cast<std::size_t>(operand.buffer) - 1;
        EXPECT_TRUE(same_bits(apart[index], fused[index]))
            << "tensor " << index + 1 << ", threads: " << threads;
      }
    }
    return result;
  }

  Operand tensor(const Shape& shape, DataType dtype = DataType::bfloat16) {
    return tensors_.make(shape, dtype);
  }

  Tensors tensors_;
};

using Groups = std::vector<Members>;

TEST_F(TraceFusion, AProductTakesBiasReluAndMaskAlong) {
  for (const DataType dtype : kRealTypes) {
    for (const auto& [m, k, n] : {std::array{65, 33, 70}, std::array{512, 64, 600}}) {
      const Operand a = tensor({m, k}, dtype);
      const Operand b = tensor({k, n}, dtype);
      const Operand bias = tensor({1, n}, dtype);
      const Operand sum = tensor({m, n}, dtype);
      const Operand mask = tensor({m, n}, dtype);
      EXPECT_EQ(groups({matmul(a, b, sum), eltwise(Eltwise::add, {sum, bias}, sum),
                        eltwise(Eltwise::gtz, {sum}, mask), eltwise(Eltwise::relu, {sum}, sum)},
                       {sum, mask}),
                (Groups{{0, 1, 2, 3}}));
    }
  }
}

TEST_F(TraceFusion, AProductWithAnActivationOfItsOwnStaysAlone) {
  const Operand a = tensor({65, 33});
  const Operand b = tensor({33, 70});
  const Operand hidden = tensor({65, 70});
  const Operand out = tensor({65, 70});
  Program product = matmul(a, b, hidden);
  std::get<MatmulAttributes>(product.attributes).activation = step_of(Eltwise::gelu);
  EXPECT_EQ(groups({product, eltwise(Eltwise::square, {hidden}, out)}, {out}), (Groups{{0}, {1}}));
}

TEST_F(TraceFusion, ProductsOfABatchTakeGeluAndItsSlopeAlong) {
  const Operand a = tensor({3, 2, 40, 24});
  const Operand b = tensor({3, 2, 24, 72});
  const Operand product = tensor({3, 2, 40, 72});
  const Operand dy = tensor({3, 2, 40, 72});
  const Operand gelu = tensor({3, 2, 40, 72});
  const Operand dx = tensor({3, 2, 40, 72});
  Program slope = eltwise(Eltwise::gelu, {product, dy}, dx);
  slope.attributes = GeluBackwardAttributes{};
  EXPECT_EQ(
      groups({matmul(a, b, product), eltwise(Eltwise::gelu, {product}, gelu), slope}, {gelu, dx}),
      (Groups{{0, 1, 2}}));
}

TEST_F(TraceFusion, TheLossAndItsGradientAreOnePass) {
  for (const DataType dtype : kRealTypes) {
    for (const Shape& shape : {Shape{3, 5}, Shape{130, 257}, Shape{2, 3, 64, 512}}) {
      const Operand y = tensor(shape);
      const Operand target = tensor(shape, dtype);
      const Operand bias = tensor({1, shape.columns()});
      const Operand difference = tensor(shape, dtype);
      const Operand square = tensor(shape, dtype);
      const Operand loss = tensor({1, 1}, dtype);
      const Operand dy = tensor(shape);
      EXPECT_EQ(groups({eltwise(Eltwise::add, {y, bias}, dy),
                        eltwise(Eltwise::subtract, {dy, target}, difference),
                        eltwise(Eltwise::multiply, {difference, difference}, square),
                        reduce(Reduction::mean, Dimension::all, square, loss),
                        eltwise(Eltwise::multiply, {difference}, difference, 0.01F),
                        eltwise(Eltwise::cast, {difference}, dy)},
                       {loss, dy}),
                (Groups{{0, 1, 2, 3, 4, 5}}));
    }
  }
}

TEST_F(TraceFusion, TheUpdateMovesToTheGradientAcrossAProductOfTheOldWeights) {
  const Operand dy = tensor({64, 96});
  const Operand x = tensor({64, 80});
  const Operand weight = tensor({96, 80}, DataType::float32);
  const Operand half = tensor({96, 80});  // The change is put here afterwards.
  const Operand gradient = tensor({96, 80});
  const Operand dx = tensor({64, 80});
  const std::vector<Program> trace{eltwise(Eltwise::cast, {weight}, half),
                                   matmul(dy, x, gradient, true), matmul(dy, half, dx),
                                   eltwise(Eltwise::multiply, {gradient}, half, 0.1F),
                                   eltwise(Eltwise::subtract, {weight, half}, weight)};
  EXPECT_EQ(groups(trace, {weight, dx}), (Groups{{0}, {1, 3, 4}, {2}}));
}

TEST_F(TraceFusion, AnUpdateOfWhatAProductInBetweenReadsStaysWhereItIs) {
  const Operand dy = tensor({64, 96});
  const Operand x = tensor({64, 80});
  const Operand weight = tensor({96, 80});
  const Operand gradient = tensor({96, 80});
  // It replaces an operand of the gradient, so that the gradient cannot come later either.
  const std::vector<Program> trace{matmul(dy, x, gradient, true), matmul(dy, weight, x),
                                   eltwise(Eltwise::multiply, {gradient}, gradient, 0.1F),
                                   eltwise(Eltwise::subtract, {weight, gradient}, weight)};
  EXPECT_EQ(groups(trace, {weight, x}), (Groups{{0}, {1}, {2, 3}}));
}

TEST_F(TraceFusion, AnIntermediateThatOthersReadIsStored) {
  const Shape shape{48, 64};
  const Operand x = tensor(shape);
  const Operand doubled = tensor(shape);
  const Operand relu = tensor(shape);
  const Operand sums = tensor({1, 64});
  const std::vector<Program> trace{eltwise(Eltwise::multiply, {x}, doubled, 2.0F),
                                   eltwise(Eltwise::relu, {doubled}, relu),
                                   reduce(Reduction::sum, Dimension::rows, doubled, sums)};
  EXPECT_EQ(groups(trace, {doubled, relu, sums}), (Groups{{0, 1}, {2}}));
  EXPECT_EQ(fuse(trace)[0].kept, (std::vector<bool>{true, true}));
  EXPECT_EQ(fuse(std::span(trace).first(2))[0].kept, (std::vector<bool>{false, true}));
}

TEST_F(TraceFusion, AValueThatTheNextReplayReadsIsStored) {
  const Operand state = tensor({48, 64});
  const Operand result = tensor({48, 64});
  const std::vector<Program> trace{eltwise(Eltwise::multiply, {state}, state, 0.5F),
                                   eltwise(Eltwise::relu, {state}, result)};
  EXPECT_EQ(groups(trace, {state, result}), (Groups{{0, 1}}));
  EXPECT_EQ(fuse(trace)[0].kept, (std::vector<bool>{true, true}));
}

TEST_F(TraceFusion, NothingIsStoredIntoAFactorWhileBlocksOfTheProductAreToCome) {
  const Operand a = tensor({512, 512});
  const Operand b = tensor({512, 512});
  const Operand product = tensor({512, 512});
  EXPECT_EQ(groups({matmul(a, b, product), eltwise(Eltwise::relu, {product}, a)}, {a}),
            (Groups{{0}, {1}}));
}

TEST_F(TraceFusion, AWriterInBetweenKeepsProgramsApart) {
  const Shape shape{48, 64};
  const Operand x = tensor(shape);
  const Operand y = tensor(shape);
  const Operand other = tensor(shape);
  const Operand table = tensor({64, 64});
  // The product needs the first result and gives the third program its other operand.
  EXPECT_EQ(groups({eltwise(Eltwise::relu, {x}, y), matmul(y, table, other),
                    eltwise(Eltwise::add, {y, other}, x)},
                   {x}),
            (Groups{{0}, {1, 2}}));
}

TEST_F(TraceFusion, OnePlaceForTwoIntermediatesTiesNothing) {
  const Shape shape{64, 64};
  const Operand x = tensor(shape);
  const Operand y = tensor(shape);
  const Operand weight = tensor(shape);
  const Operand place = tensor(shape);
  const Operand out = tensor(shape);
  // The second value of `place` is stored where a factor of the product lies.
  const std::vector<Program> trace{eltwise(Eltwise::relu, {weight}, place), matmul(x, place, y),
                                   eltwise(Eltwise::add, {y, x}, place),
                                   matmul(place, weight, out)};
  EXPECT_EQ(groups(trace, {out}), (Groups{{0}, {1}, {2}, {3}}));
  const RenamedTrace renamed = with_own_names(trace);
  std::vector<Members> members;
  const std::vector<FusedPrograms> fused = fuse(renamed.programs);
  for (const FusedPrograms& group : fused) members.push_back(group.members);
  EXPECT_EQ(members, (Groups{{0}, {1, 2}, {3}}));
  // The second group reads one and stores one, but its product does not; the trace has two places.
  int allocated = 0;
  const auto buffers = buffers_for(
      renamed, fused, [](BufferId) { return Bytes(64 * 64 * 2); },
      [&](Bytes) { return BufferId{100U + static_cast<unsigned>(allocated++)}; });
  EXPECT_EQ(allocated, 0);
  EXPECT_EQ(renamed.spare, (std::vector<BufferId>{y.buffer, place.buffer}));
  EXPECT_EQ(buffers.size(), 2U);
}

TEST_F(TraceFusion, AnIntermediateKeepsItsPlaceUntilItsLastReader) {
  const Shape shape{64, 64};
  const Operand x = tensor(shape);
  const Operand early = tensor(shape);
  const Operand turned = tensor(shape);
  const Operand back = tensor(shape);
  const Operand out = tensor(shape);
  const auto transpose = [](const Operand& from, const Operand& to) {
    return Program{.name = "transpose",
                   .attributes = TransposeAttributes{},
                   .inputs = {from},
                   .outputs = {to},
                   .flops = {}};
  };
  EXPECT_EQ(
      groups({eltwise(Eltwise::relu, {x}, early), transpose(x, turned), transpose(turned, back),
              transpose(back, turned), transpose(turned, back), matmul(back, early, out)},
             {out}),
      (Groups{{0}, {1}, {2}, {3}, {4}, {5}}));
}

TEST_F(TraceFusion, WhatATraceReadsBeforeItWritesKeepsItsName) {
  const Operand x = tensor({48, 64});
  const Operand y = tensor({48, 64});
  const RenamedTrace renamed = with_own_names(
      std::vector<Program>{eltwise(Eltwise::relu, {x}, y), eltwise(Eltwise::add, {y, x}, x)});
  EXPECT_EQ(renamed.programs[1].outputs[0].buffer, x.buffer);
  EXPECT_EQ(renamed.intermediates.size(), 1U);
  EXPECT_EQ(renamed.spare, std::vector<BufferId>{y.buffer});
}

TEST_F(TraceFusion, FactorsAreHeldAsFloat32WhereAllTheirReadersReadIt) {
  const Operand a = tensor({64, 96});
  const Operand b = tensor({96, 80});
  const Operand c = tensor({80, 72});
  const Operand factor = tensor({64, 80});    // a factor of the second product, and summed
  const Operand softened = tensor({64, 80});  // read by softmax alone
  const Operand mixed = tensor({64, 80});     // a factor that softmax reads too
  const Operand sum = tensor({1, 80});
  const Operand soft = tensor({64, 80});
  const Operand soft_mixed = tensor({64, 80});
  const Operand d = tensor({64, 72});
  const Operand e = tensor({64, 72});
  const auto softmax = [](const Operand& x, const Operand& out) {
    return Program{.name = "softmax",
                   .attributes = SoftmaxAttributes{},
                   .inputs = {x},
                   .outputs = {out},
                   .flops = {}};
  };
  const std::vector<Program> trace{
      matmul(a, b, factor),
      reduce(Reduction::sum, Dimension::rows, factor, sum),
      eltwise(Eltwise::multiply, {factor}, softened, 2.0F),
      eltwise(Eltwise::multiply, {factor}, mixed, 3.0F),
      softmax(softened, soft),
      softmax(mixed, soft_mixed),
      matmul(factor, c, d),
      matmul(mixed, c, e),
  };
  groups(trace, {sum, soft, soft_mixed, d, e});

  RenamedTrace renamed = with_own_names(trace);
  const BufferId name = renamed.programs[0].outputs[0].buffer;
  const Bytes size = renamed.intermediates.at(name);
  widen_factors(renamed);
  EXPECT_EQ(renamed.wide, (std::set<std::size_t>{0}));
  EXPECT_EQ(renamed.intermediates.at(name), 2 * size);
  for (std::size_t i = 0; i < trace.size(); ++i) {
    for (const Operand& input : renamed.programs[i].inputs) {
      const bool wide = input.buffer == name;
      EXPECT_EQ(input.spec.dtype, wide ? DataType::float32 : DataType::bfloat16) << i;
    }
    EXPECT_EQ(renamed.programs[i].outputs[0].spec.dtype, DataType::bfloat16) << i;
  }
}

TEST_F(TraceFusion, OtherShapesStayApart) {
  const Operand column = tensor({48, 1});
  const Operand x = tensor({48, 64});
  const Operand y = tensor({48, 64});
  const Operand batch = tensor({2, 48, 64});
  const Operand wide = tensor({2, 48, 64});
  const Operand turned = tensor({96, 32});
  EXPECT_EQ(
      groups({eltwise(Eltwise::relu, {x}, y), eltwise(Eltwise::multiply, {y, column}, x)}, {x}),
      (Groups{{0}, {1}}))
      << "a column for each row";
  EXPECT_EQ(
      groups({eltwise(Eltwise::relu, {x}, y), eltwise(Eltwise::add, {batch, y}, wide)}, {wide}),
      (Groups{{0}, {1}}))
      << "a matrix for each of a batch";
  const Operand viewed{y.buffer, turned.spec};
  EXPECT_EQ(
      groups({eltwise(Eltwise::relu, {x}, y), eltwise(Eltwise::gtz, {viewed}, turned)}, {turned}),
      (Groups{{0}, {1}}))
      << "the same elements in rows of another length";
}

TEST_F(TraceFusion, WhatReadsTheSumComesAfterIt) {
  const Operand x = tensor({40, 1}, DataType::float32);
  const Operand y = tensor({40, 1}, DataType::float32);
  const Operand sum = tensor({1, 1}, DataType::float32);
  EXPECT_EQ(groups({eltwise(Eltwise::relu, {x}, y), reduce(Reduction::sum, Dimension::all, y, sum),
                    eltwise(Eltwise::multiply, {y, sum}, y)},
                   {sum, y}),
            (Groups{{0, 1}, {2}}));
}

TEST_F(TraceFusion, LongChainsAreCut) {
  const Operand x = tensor({30, 1000});
  std::vector<Program> trace;
  for (int i = 0; i < 30; ++i) trace.push_back(eltwise(Eltwise::multiply, {x}, x, 1.25F));
  EXPECT_EQ(groups(trace, {x}).size(), 3U);
}

}  // namespace
}  // namespace howard::host
