// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/chip_links.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "engines/chip/kernels/collective/collective.h"
#include "engines/chip/kernels/plan/footprint.h"
#include "engines/chip/kernels/planner.h"

namespace howard::chip {
namespace {

SimTime us(std::int64_t count) { return SimTime::microseconds(count); }

constexpr CollectiveCosts kRound{.gather_start = SimTime::microseconds(4),
                                 .gather_step = SimTime::microseconds(2),
                                 .shards_start = SimTime::microseconds(1),
                                 .gather_link = Bandwidth(10'000'000'000),
                                 .gather_copy = Bandwidth(20'000'000'000),
                                 .scatter_start = SimTime::microseconds(3),
                                 .scatter_step = SimTime::microseconds(5),
                                 .scatter_ring_start = SimTime::microseconds(7),
                                 .scatter_ring_step = SimTime::microseconds(6),
                                 .scatter_link = Bandwidth(5'000'000'000),
                                 .scatter_add = Bandwidth(50'000'000'000)};

TEST(ChipLinks, TheFarthestShareOfAnAllGatherLeavesLate) {
  // A chip's share of 1 MB takes 100 us over a link and 50 to be copied.
  EXPECT_EQ(all_gather_time(kRound, {2, 1, Bytes(2'000'000)}), us(4 + 2 + 100 + 50));
  EXPECT_EQ(all_gather_time(kRound, {2, 2, Bytes(2'000'000)}), us(4 + 4 + 100 + 50));
  // It is passed on whole, as it is less than a worker announces at once.
  EXPECT_EQ(all_gather_time(kRound, {4, 3, Bytes(4'000'000)}), us(4 + 6 + 300 + 50));
  // A large one is passed on in parts while the busiest link is busy with the others.
  EXPECT_EQ(all_gather_time(kRound, {4, 3, Bytes(400'000'000)}), us(4 + 6 + 30'000));
}

TEST(ChipLinks, TheLastShareOfAReduceScatterIsAddedInTheOpen) {
  EXPECT_EQ(reduce_scatter_time(kRound, {2, 1, Bytes(2'000'000)}), us(3 + 5 + 200 + 20));
  EXPECT_EQ(reduce_scatter_time(kRound, {4, 3, Bytes(4'000'000)}), us(3 + 15 + 600 + 20));
}

TEST(ChipLinks, EachLinkHasItsPartOfAShare) {
  // The first chip's workers copy a share to its own result faster too.
  EXPECT_EQ(all_gather_time(kRound, {2, 1, Bytes(4'000'000), {.links = 2}}), us(4 + 2 + 100 + 50));
  EXPECT_EQ(reduce_scatter_time(kRound, {4, 3, Bytes(8'000'000), {.links = 2}}),
            us(3 + 15 + 600 + 20));
}

TEST(ChipLinks, ARingPassesHalfFromEitherSide) {
  // Seven shares of 1 MB come from two sides; the farthest chip is four links away.
  EXPECT_EQ(all_gather_time(kRound, {8, 0, Bytes(8'000'000), {.ring = true}}), us(4 + 8 + 350));
  // Half of each share goes all the way round, one chip after the other.
  EXPECT_EQ(reduce_scatter_time(kRound, {8, 0, Bytes(8'000'000), {.ring = true}}),
            us(7 + 42 + 700 + 20));
  // In later versions a whole one goes half the way.
  CollectiveCosts later = kRound;
  later.scatter_half_ring = true;
  EXPECT_EQ(reduce_scatter_time(later, {8, 0, Bytes(8'000'000), {.ring = true}}),
            us(7 + 24 + 700 + 20));
}

TEST(ChipLinks, BatchesOfARingGoRoundOneAfterAnother) {
  const ChipLine one{8, 0, Bytes(8'000'000), {.ring = true}};
  ChipLine five = one;
  five.passes = 5;
  EXPECT_EQ(reduce_scatter_time(kRound, five) - reduce_scatter_time(kRound, one), us(4 * 42));
  ChipLine line{8, 7, Bytes(8'000'000)};
  const SimTime all = reduce_scatter_time(kRound, line);
  line.passes = 5;
  EXPECT_EQ(reduce_scatter_time(kRound, line), all) << "the first chip of a line waits for nobody";
}

TEST(ChipLinks, ShardsWithPreparedBuffersStartAtOnce) {
  ChipLine chips{8, 0, Bytes(8'000'000), {.ring = true}};
  chips.is_prepared = true;
  EXPECT_EQ(all_gather_time(kRound, chips), us(1 + 8 + 350));
}

TEST(ChipLinks, HalfOfALineSendsToTheOtherHalf) {
  CollectiveCosts costs = kRound;
  costs.exchange_start = us(3);
  costs.exchange_step = us(2);
  // Each of two chips sends 1 MB to each of two others, 100 us each.
  EXPECT_EQ(all_to_all_time(costs, {4, 3, {}}, Bytes(1'000'000)), us(3 + 6 + 400));
  EXPECT_EQ(all_to_all_time(costs, {4, 3, {}, {.links = 2}}, Bytes(1'000'000)), us(3 + 6 + 200));
  EXPECT_EQ(all_to_all_time(costs, {8, 7, {}, {.ring = true}}, Bytes(1'000'000)), us(3 + 8 + 800));
}

/// tt-metal's band for a T3000, June 2026: 32 to 38 us. Each of four chips of a row has eight
/// tokens, which choose eight of 64 experts on eight chips.
TEST(ChipLinks, ADispatchTakesWhatAT3000Takes) {
  const auto numbers = [](std::int64_t rows, std::int64_t columns) {
    return Operand(TensorSpec{{rows, columns}, DataType::uint32, Layout::row_major});
  };
  const auto tokens = [](std::int64_t rows) {
    return Operand(TensorSpec{{rows, 7168}, DataType::bfloat16, Layout::row_major});
  };
  const Program program = make_program(AllToAllDispatchAttributes{},
                                       {tokens(8), numbers(1, 1), numbers(8, 8), numbers(64, 8)},
                                       {tokens(32), numbers(32, 8)});
  const double time = plan_program(program, {8, 8}, load_profiles()).kernel.total.seconds();
  EXPECT_NEAR(time * 1e6, 35, 3);
}

TEST(ChipLinks, SmallPacketsTakeAsLongAsTheRouterAndTheWorkersNeed) {
  CollectiveCosts costs = kRound;
  costs.packet = SimTime::microseconds(2);
  costs.ring_packet = SimTime::microseconds(3);
  costs.worker_packet = SimTime::microseconds(10);
  // 3 x 100 packets through one link, or 150 in one direction of a ring.
  const auto time = [&](LinkUse use) {
    const ChipLine chips{4, 3, Bytes(4 * 100 * 1000), use, Bytes(1000)};
    return reduce_scatter_time(costs, chips) -
           reduce_scatter_time(costs, {4, 3, Bytes(), use, Bytes(1000)}) -
           transfer_time(Bytes(100'000), costs.scatter_add);
  };
  // A worker alone gives its packets to the link itself.
  EXPECT_EQ(time({.workers = 1}), us(299 * (10 + 2)));
  EXPECT_EQ(time({.workers = 2, .buffers = 2}), us(149 * 10));
  EXPECT_EQ(time({.workers = 10}), us(300 * 2));
  EXPECT_EQ(time({.ring = true, .workers = 10}), us(150 * 3));
  // Several wait for it too if there is no room for a second packet, which they must ask for.
  EXPECT_EQ(time({.workers = 2, .buffers = 1}), us(149 * (10 + 2)));
  EXPECT_EQ(time({.workers = 2, .buffers = 1}), time({.workers = 2}));
  EXPECT_EQ(time({.workers = 1, .buffers = 1}), time({.workers = 1}));
  // 30 announcements instead of one.
  EXPECT_EQ(time({.workers = 10, .chunk = 10}), us(300 * 2 + 29 * 2));
  EXPECT_EQ(time({.workers = 10, .chunk = 200}), time({.workers = 10}));
}

struct MeasuredRing {
  bool gathers;
  int chips;
  TensorSpec part;  ///< What a chip gives to an all_gather, or gets from a reduce_scatter.
  LinkUse use;
  double us;
};

TensorSpec spec_of(std::int64_t rows, std::int64_t columns, DataType dtype) {
  return {.shape = {1, 1, rows, columns}, .dtype = dtype};
}

/// tt-metal's rings, December 2025: the targets of Galaxies for Llama's prefill (four links; one
/// worker is inferred), and the middle of the band for a T3000.
std::vector<MeasuredRing> measured_rings() {
  const LinkUse four{.links = 4, .ring = true, .workers = 1};
  const auto block = [](std::int64_t rows, std::int64_t columns) {
    return spec_of(rows, columns, DataType::bfloat8_b);
  };
  return {{false, 8, block(128, 256), four, 48},
          {false, 4, block(128, 896), four, 50},
          {true, 8, block(128, 256), four, 26},
          {true, 4, block(128, 896), four, 30},
          {true, 4, spec_of(128, 32, DataType::bfloat16), four, 16},
          {false, 4, block(4096, 320), four, 280},
          {false, 4, block(4096, 896), four, 750},
          {true, 4, block(4096, 320), four, 285},
          {true, 4, block(4096, 896), four, 770},
          {false, 8, block(8192, 256), four, 950},
          {false, 4, block(8192, 320), four, 540},
          {true, 8, block(8192, 256), four, 960},
          {true, 4, block(8192, 320), four, 550},
          {true, 4, spec_of(8192, 32, DataType::bfloat16), four, 65},
          {true, 8, spec_of(384, 8192, DataType::bfloat16), {.ring = true}, 2350}};
}

/// Returns the spec of tiles that lie over eight cores.
TensorSpec shards_of(std::int64_t columns, DataType dtype) {
  TensorSpec spec = spec_of(32, columns, dtype);
  spec.storage = Storage::l1;
  spec.sharding = Sharding{
      .layout = ShardLayout::width, .grid = {8, 1}, .rows = 32, .columns = (columns + 255) / 8};
  return spec;
}

/// Returns how far the kernel of a ring is from what was measured, as a share.
double error_of(const MeasuredRing& row, const Profiles& profiles) {
  TensorSpec whole = row.part;
  const auto sides = row.part.shape.dimensions();
  whole.shape = {sides[0], sides[1], sides[2], sides[3] * row.chips};
  if (whole.sharding) whole.sharding->columns *= row.chips;
  const TensorSpec group = {
      .shape = {1, 1, 1, 1}, .dtype = DataType::uint32, .layout = Layout::row_major};
  const Attributes op = row.gathers ? Attributes(AllGatherAttributes{.use = row.use})
                                    : Attributes(ReduceScatterAttributes{.use = row.use});
  const Program program =
      make_program(op, {{BufferId{1}, row.gathers ? row.part : whole}, {BufferId{2}, group}},
                   {{BufferId{3}, row.gathers ? whole : row.part}});
  const SimTime time = plan_program(program, {8, 8}, profiles).kernel.total;
  return time.seconds() * 1e6 / row.us - 1;
}

TEST(ChipLinks, RingsTakeWhatGalaxiesAndAT3000Take) {
  const Profiles profiles = load_profiles();
  std::vector<double> errors;
  for (const MeasuredRing& row : measured_rings()) {
    errors.push_back(std::abs(error_of(row, profiles)));
  }
  std::ranges::sort(errors);
  EXPECT_LT(errors[errors.size() / 2], 0.06);
  // What the smallest two have besides packets and steps is not known.
  EXPECT_LT(errors[errors.size() - 3], 0.11);
  EXPECT_LT(errors.back(), 0.46);
}

/// Llama-70B's decoding layer on a Galaxy 6U, December 2025 (decoder_perf_targets_6u.json): the
/// gather of what is activated, the sums of w3, of the heads, of the output and of w2 (by analogy
/// gathers), and the gather of what the heads found.
TEST(ChipLinks, ShardsAreExchangedAsInAStepOfAGalaxy) {
  const Profiles profiles = load_profiles();
  constexpr LinkUse kFour{.links = 4, .ring = true};
  const MeasuredRing rows[] = {{true, 4, shards_of(896, DataType::bfloat8_b), kFour, 7.084},
                               {true, 4, shards_of(896, DataType::bfloat8_b), kFour, 7.219},
                               {true, 4, shards_of(320, DataType::bfloat16), kFour, 8.011},
                               {true, 8, shards_of(512, DataType::bfloat8_b), kFour, 13.3},
                               {true, 8, shards_of(512, DataType::bfloat8_b), kFour, 13.441},
                               {true, 4, shards_of(256, DataType::bfloat16), kFour, 8.412}};
  double emulated = 0, measured = 0;
  for (const MeasuredRing& row : rows) {
    const double error = error_of(row, profiles);
    EXPECT_LT(std::abs(error), 0.27);
    emulated += (1 + error) * row.us;
    measured += row.us;
  }
  EXPECT_NEAR(emulated, measured, 0.03 * measured);
}

Profiles later_software() {
  return load_profiles({.profiles = {"tt_metal_2026_07"}, .settings = {}});
}

/// tt-metal's pull request 41522, April 2026: reduce_scatters of bfloat16 on eight chips of a
/// Galaxy over one link, on a line, on a ring as before it, and on a ring as after it.
TEST(ChipLinks, AReduceScatterTakesWhatEightChipsOfAGalaxyTake) {
  const Profiles before = load_profiles(), after = later_software();
  struct Row {
    Shape part;
    double line, ring, half_ring;
  };
  const std::vector<Row> rows{{{1, 1, 32, 32}, 34.23, 46.76, 30.81},
                              {{1, 1, 32, 128}, 42.28, 49.15, 34.68},
                              {{1, 1, 32, 256}, 50.43, 55.42, 39.23},
                              {{1, 1, 32, 448}, 62.66, 66.61, 45.93},
                              {{2, 8, 512, 128}, 1384.15, 915.39, 896.7}};
  std::vector<double> errors;
  for (const auto& [part, line, ring, half_ring] : rows) {
    const auto add = [&](bool is_ring, double us, const Profiles& profiles) {
      const MeasuredRing row{false, 8, {.shape = part}, {.ring = is_ring}, us};
      errors.push_back(std::abs(error_of(row, profiles)));
    };
    add(false, line, before);
    add(true, ring, before);
    add(true, half_ring, after);
  }
  std::ranges::sort(errors);
  EXPECT_LT(errors[errors.size() / 2], 0.06);
  EXPECT_LT(errors.back(), 0.15);
}

/// tt-metal's pull request 55543, September 2026, as it was before it: eight Blackhole chips in a
/// ring with two links. Over the channels, each of eight batches goes round by itself.
TEST(ChipLinks, ARingOfBlackholeTakesABatchAfterTheOther) {
  const Profiles profiles =
      load_profiles({.profiles = {"blackhole_p150", "tt_metal_2026_07_blackhole"}, .settings = {}});
  struct Row {
    std::int64_t rows, columns;
    double over_batch, over_channels;
  };
  const std::vector<Row> rows{{32, 32, 20.8, 77.7},    {32, 64, 22.9, 78.3},
                              {64, 64, 27.7, 78.7},    {64, 128, 37.5, 89.3},
                              {128, 128, 52.5, 114.7}, {128, 256, 83.6, 164.4},
                              {256, 256, 114.5, 189.4}};
  std::vector<double> errors;
  for (const auto& [height, columns, over_batch, over_channels] : rows) {
    // The share of a chip: a batch, or a channel of each.
    for (const auto& [batches, us] : {std::pair{1, over_batch}, {8, over_channels}}) {
      const TensorSpec part{.shape = {batches, 8 / batches, height, columns}};
      const MeasuredRing row{false, 8, part, {.links = 2, .ring = true}, us};
      errors.push_back(std::abs(error_of(row, profiles)));
    }
  }
  std::ranges::sort(errors);
  EXPECT_LT(errors[errors.size() / 2], 0.06);
  EXPECT_LT(errors.back(), 0.2);
}

TEST(ChipLinks, ASumIsBothAndALaunchBetweenThem) {
  Profiles profiles = load_profiles();
  profiles.software.collectives = kRound;
  EXPECT_EQ(all_reduce_time(profiles, 1, 0, Bytes(1'000'000)), SimTime());
  const ChipLine line{4, 3, Bytes(4'000'000)};
  const SimTime both = all_gather_time(kRound, line) + reduce_scatter_time(kRound, line);
  const SimTime launch = all_reduce_time(profiles, 4, 3, line.whole) - both;
  EXPECT_EQ(launch, go_time(collective_footprint(true, line, profiles), profiles.software,
                            DispatchCoreType::worker));
  EXPECT_GT(launch, us(1));
  EXPECT_LT(launch, us(2));
}

/// tt-metal's formulas for a line, in microseconds and bytes; at two and four chips the rate is the
/// published one of large buffers.
struct PublishedLine {
  double start, step, rate;
  double of(int chips, double size) const {
    return start + step * (chips - 1) + (chips - 1) * size / chips / rate / 1e3;
  }
};

TEST(ChipLinks, LargeBuffersHaveThePublishedRatesOnLinesOfTwoFourAndEight) {
  const CollectiveCosts& costs = load_profiles().software.collectives;
  constexpr Bytes kLarge(1'000'000'000);
  const auto expect = [](SimTime time, double published) {
    EXPECT_NEAR(time.seconds() * 1e6, published, 0.01 * published);
  };
  for (const auto& [chips, rate] : {std::pair{2, 6.36}, {4, 11.74}, {8, 11.8}}) {
    expect(all_gather_time(costs, {chips, chips - 1, kLarge}),
           PublishedLine{4.47, 1.91, rate}.of(chips, 1e9));
  }
  for (const auto& [chips, rate] : {std::pair{2, 8.92}, {4, 10.5}, {8, 11.1}}) {
    expect(reduce_scatter_time(costs, {chips, chips - 1, kLarge}),
           PublishedLine{3.23, 3.97, rate}.of(chips, 1e9));
  }
  // Nothing of an all_reduce is among the constants.
  const Profiles profiles = load_profiles();
  for (const auto& [chips, rate] : {std::pair{2, 7.42}, {4, 11.07}}) {
    expect(all_reduce_time(profiles, chips, chips - 1, kLarge),
           PublishedLine{9.07, 5.82, rate / 2}.of(chips, 1e9));
  }
}

TEST(ChipLinks, ASentBufferIsAsLongAsItsPacketsAre) {
  Profiles profiles = load_profiles();
  profiles.software.collectives = kRound;
  const SimTime one = send_time(profiles, Bytes(4096));
  EXPECT_EQ(send_time(profiles, Bytes(1)), one);
  // One worker waits for each packet that it reads, which takes longer than the link does.
  EXPECT_GT(one, us(6) + transfer_time(Bytes(4096), kRound.gather_link));
  EXPECT_EQ(send_time(profiles, Bytes(40'960)) - us(6), 10 * (one - us(6)));
}

TEST(ChipLinks, AChipBehindAnotherAnswersLaterAndIsReadMoreSlowly) {
  const Profiles near = load_profiles();
  const Profiles far = behind_ethernet(near);
  EXPECT_EQ(far.software.host_finish - near.software.host_finish, 2 * near.chip.link_latency);
  EXPECT_LT(far.chip.pcie_read, near.chip.pcie_read);
  EXPECT_LT(far.chip.pcie_write, near.chip.pcie_write);
  Profiles slow = near;
  slow.chip.pcie_read = Bandwidth(1'000'000);
  EXPECT_EQ(behind_ethernet(slow).chip.pcie_read, slow.chip.pcie_read)
      << "no faster than the way to it";
}

}  // namespace
}  // namespace howard::chip
