// SPDX-License-Identifier: Apache-2.0
#include "engines/host/trace_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace howard::host {
namespace {

using Members = std::vector<std::size_t>;

Program eltwise(Eltwise function, const std::vector<Operand>& inputs, const Operand& output) {
  return {.name = "eltwise",
          .attributes = EltwiseAttributes{.function = function, .scalar = {}},
          .inputs = inputs,
          .outputs = {output},
          .flops = {}};
}

Program relu(const Operand& x, const Operand& out) { return eltwise(Eltwise::relu, {x}, out); }

Program transpose(const Operand& x, const Operand& out) {
  return {.name = "transpose",
          .attributes = TransposeAttributes{},
          .inputs = {x},
          .outputs = {out},
          .flops = {}};
}

class TraceMemory : public ::testing::Test {
 protected:
  /// Makes an intermediate of the trace.
  Operand made(const Shape& shape, DataType dtype = DataType::float32) {
    const Operand operand = given(shape, dtype);
    trace_.intermediates.emplace(operand.buffer, operand.spec.host_bytes());
    return operand;
  }
  /// Makes a buffer that belongs to others.
  Operand given(const Shape& shape, DataType dtype = DataType::float32) {
    return {BufferId{next_++}, {shape, dtype}};
  }
  /// Hands the trace a buffer of `size`.
  void spare(BufferId buffer, Bytes size) {
    trace_.spare.push_back(buffer);
    sizes_.emplace(buffer, size);
  }

  /// Returns the places when `groups` of `programs` run. All of their results are stored but for
  /// those of `inner`.
  std::map<BufferId, BufferId> places(const std::vector<Program>& programs,
                                      const std::vector<Members>& groups,
                                      const Members& inner = {}) {
    trace_.programs = programs;
    std::vector<FusedPrograms> fused;
    for (const Members& members : groups) {
      FusedPrograms& group = fused.emplace_back(FusedPrograms{members, {}, {}});
      for (const std::size_t member : members) {
        group.kept.push_back(std::ranges::find(inner, member) == inner.end());
      }
    }
    return buffers_for(
        trace_, fused, [&](BufferId buffer) { return sizes_.at(buffer); },
        [&](Bytes size) {
          allocated_.push_back(size);
          return BufferId{next_++};
        });
  }

  RenamedTrace trace_;
  std::map<BufferId, Bytes> sizes_;  ///< The sizes of the spare ones.
  std::vector<Bytes> allocated_;
  std::uint64_t next_ = 1;
};

constexpr Bytes kSize(std::int64_t{4} * 2 * 64);

TEST_F(TraceMemory, AResultReplacesWhatNobodyReadsAfterIt) {
  const Operand x = given({2, 64});
  const Operand a = made({2, 64});
  const Operand b = made({2, 64});
  const Operand c = made({2, 64});
  const auto place = places(
      {relu(x, a), relu(a, b), transpose(x, c), eltwise(Eltwise::add, {b, c}, given({2, 64}))},
      {{0}, {1}, {2}, {3}});
  EXPECT_EQ(place.at(b.buffer), place.at(a.buffer));
  EXPECT_NE(place.at(c.buffer), place.at(b.buffer)) << "the place is b's now";
  EXPECT_EQ(allocated_, (std::vector{kSize, kSize}));
}

TEST_F(TraceMemory, AResultDoesNotReplaceWhatALaterMemberReads) {
  const Operand x = given({2, 64});
  const Operand a = made({2, 64});
  const Operand b = made({2, 64});
  const Operand c = made({2, 64});
  const auto place = places({relu(x, a), relu(a, b), eltwise(Eltwise::add, {b, a}, c),
                             eltwise(Eltwise::add, {b, c}, given({2, 64}))},
                            {{0}, {1, 2}, {3}});
  EXPECT_NE(place.at(b.buffer), place.at(a.buffer));
  EXPECT_EQ(place.at(c.buffer), place.at(a.buffer)) << "the last member that reads it";
}

TEST_F(TraceMemory, AResultDoesNotReplaceWhatIsNotReadElementByElement) {
  const Operand x = given({64, 64});
  const Operand a = made({64, 64});
  const Operand turned = made({64, 64});
  const Operand product = made({64, 64});
  const Operand b = made({64, 64});
  const Program matmul{.name = "matmul",
                       .attributes = MatmulAttributes{},
                       .inputs = {turned, x},
                       .outputs = {product},
                       .flops = {}};
  const auto place =
      places({relu(x, a), transpose(a, turned), matmul, relu(product, b), relu(b, given({64, 64}))},
             {{0}, {1}, {2, 3}, {4}}, {2});
  EXPECT_NE(place.at(turned.buffer), place.at(a.buffer));
  EXPECT_NE(place.at(b.buffer), place.at(turned.buffer)) << "blocks of the product are to come";
  EXPECT_FALSE(place.contains(product.buffer)) << "it is not stored";
}

TEST_F(TraceMemory, AResultDoesNotReplaceARowOfAsManyBytes) {
  const Operand x = given({2, 64}, DataType::bfloat16);
  const Operand row = made({1, 64});
  const Operand sum = made({2, 64}, DataType::bfloat16);
  const auto place = places({relu(given({1, 64}), row), eltwise(Eltwise::add, {x, row}, sum),
                             relu(sum, given({2, 64}, DataType::bfloat16))},
                            {{0}, {1}, {2}});
  EXPECT_NE(place.at(sum.buffer), place.at(row.buffer));
}

TEST_F(TraceMemory, AResultDoesNotReplaceElementsOfAnotherSize) {
  const Operand wide = made({2, 64});
  const Operand half = made({2, 64}, DataType::bfloat16);
  const auto place = places({relu(given({2, 64}), wide), eltwise(Eltwise::cast, {wide}, half),
                             relu(half, given({2, 64}, DataType::bfloat16))},
                            {{0}, {1}, {2}});
  EXPECT_NE(place.at(half.buffer), place.at(wide.buffer));
}

TEST_F(TraceMemory, ThePlaceThatWasGivenBackLastIsTakenFirst) {
  const Operand x = given({2, 64});
  const Operand out = given({2, 64});
  const Operand a = made({2, 64});
  const Operand b = made({2, 64});
  const Operand c = made({2, 64});
  const Operand d = made({2, 64});
  const auto place = places({transpose(x, a), transpose(x, b), transpose(a, out), transpose(b, out),
                             transpose(x, c), transpose(x, d), eltwise(Eltwise::add, {c, d}, out)},
                            {{0}, {1}, {2}, {3}, {4}, {5}, {6}});
  EXPECT_EQ(place.at(c.buffer), place.at(b.buffer));
  EXPECT_EQ(place.at(d.buffer), place.at(a.buffer));
  EXPECT_EQ(allocated_.size(), 2U);
}

TEST_F(TraceMemory, TheSmallestSpareBufferThatSufficesIsTakenAndKeepsItsSize) {
  const BufferId small{1000};
  const BufferId large{1001};
  const BufferId larger{1002};
  spare(small, Bytes(100));
  spare(larger, 4 * kSize);
  spare(large, 2 * kSize);
  const Operand x = given({2, 64});
  const Operand out = given({2, 64});
  const Operand a = made({2, 64});
  const Operand b = made({2, 64});
  const Operand c = made({4, 64});
  const auto place =
      places({relu(x, a), relu(a, b), transpose(b, out), relu(x, c), transpose(c, out)},
             {{0}, {1}, {2}, {3}, {4}});
  EXPECT_EQ(place.at(a.buffer), large);
  EXPECT_EQ(place.at(b.buffer), large) << "in the place of a";
  EXPECT_EQ(place.at(c.buffer), large) << "twice as large as a and b";
  EXPECT_TRUE(allocated_.empty());
}

TEST_F(TraceMemory, ABufferThatAlsoHoldsAStateOrWhatIsLeftBehindIsNotSpare) {
  const Operand state = given({2, 64});
  const Operand left = given({2, 64});
  const Operand other = given({2, 64});
  const RenamedTrace renamed =
      with_own_names(std::vector{relu(state, state), relu(state, state), relu(state, left),
                                 relu(left, other), relu(other, left)});
  EXPECT_EQ(renamed.intermediates.size(), 3U);
  EXPECT_EQ(renamed.spare, std::vector{other.buffer});
}

}  // namespace
}  // namespace howard::host
