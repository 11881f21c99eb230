// SPDX-License-Identifier: Apache-2.0
#include "engines/program/kinds/choice.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "base/error.h"
#include "engines/chip/emulated_chip.h"
#include "engines/chip/kernels/planner.h"
#include "engines/host/host_device.h"
#include "engines/ops/tensor.h"
#include "engines/program/program.h"
#include "engines/reference/reference_device.h"

namespace howard::ops {
namespace {

/// Runs one op on a device with values.
class Chosen {
 public:
  Chosen(Device& device, const Attributes& op, const TensorSpec& in) : x_(device, in) {
    for (const TensorSpec& spec : results_of(op, std::array{in})) {
      results_.emplace_back(device, spec);
      outputs_.push_back(results_.back().operand());
    }
    program_ = make_program(op, {x_.operand()}, outputs_);
    device_ = &device;
  }

  template <class T, std::size_t Count>
  void run(const std::array<T, Count>& values) {
    CommandQueue& queue = device_->command_queue(0);
    queue.write_buffer(x_.buffer(), std::as_bytes(std::span(values)));
    queue.enqueue(program_);
  }
  template <class T>
  std::vector<T> result(std::size_t i) {
    std::vector<T> read(static_cast<std::size_t>(results_[i].spec().shape.elements()));
    device_->command_queue(0).read_buffer(results_[i].buffer(),
                                          std::as_writable_bytes(std::span(read)));
    return read;
  }

 private:
  Device* device_ = nullptr;
  Tensor x_;
  std::vector<Tensor> results_;
  std::vector<Operand> outputs_;
  Program program_;
};

const TensorSpec kNumbers{.shape = {2, 4}, .dtype = DataType::float32};
constexpr std::array kValues{3.0F, 7.0F, -1.0F, 7.0F, -5.0F, -2.0F, -9.0F, -3.0F};
using Places = std::vector<std::uint32_t>;
using Numbers = std::vector<float>;

template <class Body>
void on_both(const Body& body) {
  host::HostDevice host;
  body(host);
  reference::ReferenceDevice reference;
  body(reference);
}

TEST(Choice, ArgmaxIsTheFirstOfTheLargest) {
  on_both([](Device& device) {
    Chosen argmax(device, ArgmaxAttributes{}, kNumbers);
    argmax.run(kValues);
    EXPECT_EQ(argmax.result<std::uint32_t>(0), (Places{1, 1}));
  });
}

TEST(Choice, TopkIsSortedAndKnowsWhereItsNumbersWere) {
  on_both([](Device& device) {
    Chosen largest(device, TopkAttributes{.k = 3}, kNumbers);
    largest.run(kValues);
    EXPECT_EQ(largest.result<float>(0), (Numbers{7, 7, 3, -2, -3, -5}));
    EXPECT_EQ(largest.result<std::uint32_t>(1), (Places{1, 3, 0, 1, 3, 0}));
    Chosen smallest(device, TopkAttributes{.k = 2, .largest = false}, kNumbers);
    smallest.run(kValues);
    EXPECT_EQ(smallest.result<float>(0), (Numbers{-1, 3, -9, -5}));
    EXPECT_EQ(smallest.result<std::uint32_t>(1), (Places{2, 0, 2, 0}));
  });
  EXPECT_THROW(results_of(TopkAttributes{.k = 5}, std::array{kNumbers}), Error);
}

TEST(Choice, ASortKeepsEqualNumbersInTheirOrderAndKnowsWhereTheyWere) {
  on_both([](Device& device) {
    Chosen up(device, SortAttributes{}, kNumbers);
    up.run(kValues);
    EXPECT_EQ(up.result<float>(0), (Numbers{-1, 3, 7, 7, -9, -5, -3, -2}));
    EXPECT_EQ(up.result<std::uint32_t>(1), (Places{2, 0, 1, 3, 2, 0, 3, 1}));
    Chosen down(device, SortAttributes{.descending = true}, kNumbers);
    down.run(kValues);
    EXPECT_EQ(down.result<float>(0), (Numbers{7, 7, 3, -1, -2, -3, -5, -9}));
    EXPECT_EQ(down.result<std::uint32_t>(1), (Places{1, 3, 0, 2, 1, 3, 0, 2}));
  });
  const TensorSpec rows{{2, 4}, DataType::float32, Layout::row_major};
  try {
    make_program(SortAttributes{}, {rows}, {rows, rows});
    FAIL() << "it sorts tiles";
  } catch (const Error& failure) {
    EXPECT_NE(failure.text().value.find("row"), std::string::npos) << failure.text().value;
    EXPECT_NE(failure.text().accepted.find("tile"), std::string::npos) << failure.text().accepted;
  }
}

TEST(Choice, ScatterPutsNumbersAtPlacesOfEachRow) {
  on_both([](Device& device) {
    CommandQueue& queue = device.command_queue(0);
    const auto make = [&](const Shape& shape, DataType dtype, const auto& values) {
      const Tensor tensor(device, {shape, dtype, Layout::row_major});
      queue.write_buffer(tensor.buffer(), std::as_bytes(std::span(values)));
      return tensor;
    };
    const Tensor x = make({2, 4}, DataType::float32, kValues);
    const Tensor source = make({2, 2}, DataType::float32, std::array{1.0F, 2.0F, 3.0F, 4.0F});
    const Tensor out(device, x.spec());
    const auto scattered = [&](const std::array<std::uint32_t, 4>& to) {
      const Tensor places = make({2, 2}, DataType::uint32, to);
      queue.enqueue(make_program(
          ScatterAttributes{}, {x.operand(), places.operand(), source.operand()}, {out.operand()}));
      Numbers result(8);
      queue.read_buffer(out.buffer(), std::as_writable_bytes(std::span(result)));
      return result;
    };
    EXPECT_EQ(scattered({3, 0, 1, 2}), (Numbers{2, 7, -1, 1, -5, 3, 4, -3}));
    if (dynamic_cast<host::HostDevice*>(&device) == nullptr) return;
    EXPECT_THROW(scattered({4, 0, 1, 2}), Error) << "a row has places 0 to 3";
  });
  const TensorSpec x{{2, 4}, DataType::float32, Layout::row_major};
  const TensorSpec places{{2, 2}, DataType::uint32, Layout::row_major};
  const TensorSpec fewer{{2, 1}, DataType::float32, Layout::row_major};
  EXPECT_THROW(results_of(ScatterAttributes{}, std::array{x, places, fewer}), Error);
}

TEST(Choice, PlusOneCountsOn) {
  on_both([](Device& device) {
    Chosen next(device, PlusOneAttributes{}, {{1, 4}, DataType::uint32, Layout::row_major});
    next.run(std::array<std::uint32_t, 4>{0, 41, 7, 127});
    EXPECT_EQ(next.result<std::uint32_t>(0), (Places{1, 42, 8, 128}));
  });
}

TEST(Choice, SamplingGivesATokenForEachRowAndNoDeviceWithValuesHasIt) {
  const TensorSpec values{.shape = {1, 1, 32, 64}};
  const TensorSpec names{{1, 1, 32, 64}, DataType::uint32, Layout::row_major};
  const SpecList tokens = results_of(SamplingAttributes{}, std::array{values, names});
  EXPECT_EQ(tokens.at(0), (TensorSpec{{32}, DataType::uint32, Layout::row_major}));
  const TensorSpec fewer{{1, 1, 32, 32}, DataType::uint32, Layout::row_major};
  EXPECT_THROW(results_of(SamplingAttributes{}, std::array{values, fewer}), Error);
  host::HostDevice host;
  const Program program = make_program(
      SamplingAttributes{}, {Tensor(host, values).operand(), Tensor(host, names).operand()},
      {Tensor(host, tokens[0]).operand()});
  EXPECT_THROW(host.command_queue(0).enqueue(program), Error);
}

class ChoiceOnTheChip : public ::testing::Test {
 protected:
  chip::PlannedProgram plan(const Attributes& op, const SpecList& in) {
    std::vector<Operand> inputs, outputs;
    for (const TensorSpec& spec : in) inputs.emplace_back(spec);
    for (const TensorSpec& spec : results_of(op, in)) outputs.emplace_back(spec);
    return device_.explain(make_program(op, inputs, outputs));
  }
  static TensorSpec rows(const Shape& shape) {
    return {shape, DataType::bfloat16, Layout::row_major};
  }

  /// Returns how long a sort of rows of tiles takes besides its start.
  SimTime sort_time(std::int64_t tile_rows, std::int64_t tiles) {
    const chip::PlannedProgram sort =
        plan(SortAttributes{}, {{.shape = {kTileSide * tile_rows, kTileSide * tiles}}});
    return sort.kernel.total - device_.profiles().software.tiles.start;
  }
  /// Returns how many pairs of tiles a network merges one after the other in `stages`.
  SimTime merges(std::int64_t pairs) { return pairs * device_.profiles().software.choice.merge; }

  chip::EmulatedChip device_{chip::load_profiles()};  // 56 cores
};

/// A network of 2^n tiles has n (n + 1) / 2 stages, in each of which all tiles are in one pair.
TEST_F(ChoiceOnTheChip, ACoreSortsARowOfFewTilesInAllStagesOfTheNetwork) {
  EXPECT_EQ(plan(SortAttributes{}, {{.shape = {1760, 1024}}}).kernel.cores, 55);
  EXPECT_LT(10 * sort_time(55, 32), 11 * sort_time(1, 32)) << "a core for each row of tiles";
  EXPECT_GT(10 * sort_time(57, 32), 19 * sort_time(56, 32)) << "one core has two rows";
  EXPECT_GT(sort_time(1, 32), merges(15 * 16));
  EXPECT_LT(10 * sort_time(1, 32), 11 * merges(15 * 16));
  EXPECT_LT(2 * sort_time(1, 4), 3 * merges(3 * 2));
  EXPECT_EQ(sort_time(1, 17), sort_time(1, 32)) << "filled up to a power of two";
  EXPECT_EQ(sort_time(1, 1), sort_time(1, 2)) << "two tiles at the least";
}

TEST_F(ChoiceOnTheChip, APowerOfTwoOfCoresSortsALongRowTogetherAndExchangesTiles) {
  EXPECT_EQ(plan(SortAttributes{}, {{.shape = {32, 2048}}}).kernel.cores, 32) << "two tiles each";
  EXPECT_EQ(plan(SortAttributes{}, {{.shape = {32, 131072}}}).kernel.cores, 32) << "of 56";
  // Four tiles a core: 13 of 28 stages are of its own two pairs; in 15 each of its tiles is merged
  // with one of another core.
  EXPECT_GT(sort_time(1, 128), merges(13 * 2 + 15 * 4));
  EXPECT_LT(5 * sort_time(1, 128), 6 * merges(13 * 2 + 15 * 4));
  EXPECT_GT(10 * sort_time(3, 128), 29 * sort_time(1, 128)) << "one row after the other";
  EXPECT_LT(sort_time(1, 64), sort_time(1, 32)) << "32 cores in place of one";
}

TEST_F(ChoiceOnTheChip, TheLongestRowsAreSortedInTheDramByAllCoresButOne) {
  const TensorSpec longest{.shape = {32, 262144}};  // 2^13 tiles, 256 for each of 32 cores
  const chip::PlannedProgram sort = plan(SortAttributes{}, {longest});
  EXPECT_EQ(sort.kernel.cores, 56) << "one starts the stages";
  constexpr std::int64_t kStages = 13 * 14 / 2, kPairs = 75;  // 4096 among 55
  EXPECT_GT(sort.kernel.total, merges(kStages * kPairs));
  EXPECT_LT(sort.kernel.total, 3 * merges(kStages * kPairs));
  const Bytes pair{2 * (2048 + 4096)};  // tiles of numbers, and of places of 32 bits
  EXPECT_EQ(sort.kernel.dram.value(), kStages * 4096 * 2 * pair.value());
  EXPECT_GT(10 * sort_time(2, 8192), 19 * sort_time(1, 8192));
}

TEST_F(ChoiceOnTheChip, ASortOfOneOrTwoCoresIsPlanned) {
  for (const CoreGrid grid : {CoreGrid{1, 1}, CoreGrid{2, 1}}) {
    for (const std::int64_t columns : {32, 2048, 16384}) {
      const TensorSpec x{.shape = {64, columns}};
      const Program program =
          make_program(SortAttributes{}, {x}, {x, TensorSpec{{64, columns}, DataType::uint32}});
      EXPECT_LE(plan_program(program, grid, device_.profiles()).kernel.cores, grid.cores());
    }
  }
}

TEST_F(ChoiceOnTheChip, CoresShareTheColumnsOfAnArgmaxUnlessItsRowsAreTilesOrItIsToldNotTo) {
  const chip::PlannedProgram shared = plan(ArgmaxAttributes{}, {rows({32, 131072})});
  EXPECT_EQ(shared.kernel.cores, 56);
  const chip::PlannedProgram alone =
      plan(ArgmaxAttributes{.use_multicore = false}, {rows({32, 131072})});
  EXPECT_EQ(alone.kernel.cores, 1);
  EXPECT_GT(alone.kernel.total.ps(), 50 * shared.kernel.total.ps());
  const chip::PlannedProgram tiles = plan(ArgmaxAttributes{}, {{.shape = {64, 1024}}});
  EXPECT_EQ(tiles.kernel.cores, 2) << "rows of tiles";
  EXPECT_EQ(plan(ArgmaxAttributes{}, {rows({1, 64})}).kernel.cores, 2) << "32 numbers at least";
}

TEST_F(ChoiceOnTheChip, CoresShareTheLongRowsOfATopkAndOneMergesWhatTheyFound) {
  const chip::PlannedProgram whole = plan(TopkAttributes{}, {{.shape = {32, 8160}}});
  EXPECT_EQ(whole.kernel.cores, 1);
  const chip::PlannedProgram shared = plan(TopkAttributes{}, {{.shape = {32, 16384}}});
  EXPECT_EQ(shared.kernel.cores, 17) << "of 7x5 cores no rectangle has 32";
  EXPECT_LT(shared.kernel.total, whole.kernel.total);
  EXPECT_EQ(shared.kernel.bottleneck, chip::Bottleneck::math) << "it is one step";
  EXPECT_EQ(plan(TopkAttributes{.cores = 17}, {{.shape = {32, 16032}}}).kernel.cores, 17);
  EXPECT_EQ(plan(TopkAttributes{.cores = 33}, {{.shape = {32, 16032}}}).kernel.cores, 33);
  EXPECT_EQ(plan(TopkAttributes{.k = 65}, {{.shape = {32, 16384}}}).kernel.cores, 1);
  EXPECT_EQ(plan(TopkAttributes{}, {{.shape = {32, 16032}}}).kernel.cores, 1) << "3 x 167 tiles";
  EXPECT_EQ(plan(TopkAttributes{}, {{.shape = {32, 24576}}}).kernel.cores, 17) << "48 tiles each";
  EXPECT_EQ(plan(TopkAttributes{}, {{.shape = {32, 65536}}}).kernel.cores, 1) << "too long";
  EXPECT_EQ(plan(TopkAttributes{.cores = 33}, {{.shape = {32, 65536}}}).kernel.cores, 1);
}

/// A tile is sorted with its places and merged with each of the tiles that are kept.
TEST_F(ChoiceOnTheChip, ACoreAloneMergesOneTileOfATopkAfterTheOther) {
  const auto time = [&](std::int64_t k, std::int64_t rows, std::int64_t tiles) {
    return plan(TopkAttributes{.k = k}, {{.shape = {rows, kTileSide * tiles}}}).kernel.total;
  };
  const SimTime tile = time(32, 32, 102) - time(32, 32, 101);
  EXPECT_GT(tile, merges(2));
  EXPECT_LT(tile, merges(3));
  EXPECT_EQ(time(32, 32, 2102) - time(32, 32, 2100), 2 * tile) << "from 65536 columns on as well";
  EXPECT_EQ(time(96, 32, 102) - time(96, 32, 101) - tile, merges(2)) << "three tiles are kept";
  EXPECT_GT(10 * (time(32, 96, 102) - time(32, 96, 101)), 29 * tile) << "one core has all rows";
}

TEST(Topk, OfJanuary2026SharesRowsOfTilesAndPowersOfTwoOfColumns) {
  const auto cores = [](const char* software, const Shape& shape) {
    chip::EmulatedChip device(chip::load_profiles({.profiles = {software}, .settings = {}}));
    const TensorSpec x{.shape = shape};
    std::vector<Operand> outputs;
    for (const TensorSpec& spec : results_of(TopkAttributes{}, std::array{x})) {
      outputs.emplace_back(spec);
    }
    return device.explain(make_program(TopkAttributes{}, {x}, outputs)).kernel.cores;
  };
  for (const char* software : {"tt_metal_2025_12", "tt_metal_2026_07"}) {
    EXPECT_EQ(cores(software, {32, 32768}), 17);
    EXPECT_EQ(cores(software, {32, 65536}), 1);
  }
  EXPECT_EQ(cores("tt_metal_2025_12", {32, 24576}), 17);
  EXPECT_EQ(cores("tt_metal_2026_07", {32, 24576}), 1);
  EXPECT_EQ(cores("tt_metal_2025_12", {96, 4096}), 1);
  EXPECT_EQ(cores("tt_metal_2026_07", {96, 4096}), 3);
}

TEST_F(ChoiceOnTheChip, ATopkOfOneOrTwoCoresIsNotShared) {
  for (const CoreGrid grid : {CoreGrid{1, 1}, CoreGrid{2, 1}}) {
    for (const int cores : {0, 33}) {
      const TopkAttributes op{.cores = cores};
      const TensorSpec x{.shape = {32, 16032}};
      std::vector<Operand> outputs;
      for (const TensorSpec& spec : results_of(op, std::array{x})) outputs.emplace_back(spec);
      const Program program = make_program(op, {x}, outputs);
      EXPECT_LE(plan_program(program, grid, device_.profiles()).kernel.cores, grid.cores());
    }
  }
}

TEST_F(ChoiceOnTheChip, SamplingHasACoreForEachUserAndLooksAtEachCandidate) {
  const TensorSpec values{.shape = {1, 1, 32, 256}};
  const TensorSpec names{{1, 1, 32, 256}, DataType::uint32, Layout::row_major};
  const chip::PlannedProgram many = plan(SamplingAttributes{}, {values, names});
  EXPECT_EQ(many.kernel.cores, 32);
  EXPECT_LT(plan(SamplingAttributes{.k = 1}, {values, names}).kernel.total, many.kernel.total);
}

TEST_F(ChoiceOnTheChip, PlusOneGoesFromNumberToNumber) {
  const TensorSpec few{{1, 32}, DataType::uint32, Layout::row_major};
  const TensorSpec many{{1, 3200}, DataType::uint32, Layout::row_major};
  const SimTime more = plan(PlusOneAttributes{}, {many}).kernel.total -
                       plan(PlusOneAttributes{}, {few}).kernel.total;
  EXPECT_GE(more, 3168 * 2 * device_.profiles().software.tiles.store);
}

}  // namespace
}  // namespace howard::ops
