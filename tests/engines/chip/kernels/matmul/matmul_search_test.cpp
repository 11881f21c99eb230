// SPDX-License-Identifier: Apache-2.0
//
// The search against pricing every configuration one by one, which takes loops and no thought.
#include "engines/chip/kernels/matmul/matmul_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "engines/chip/kernels/matmul/matmul_rules.h"
#include "engines/program/matmul_config.h"

namespace howard::chip {
namespace {

constexpr CoreGrid kGrid{3, 2};
constexpr Bytes kSmallL1{120'000};

const Profiles& profiles() {
  static const Profiles kBuiltIn = load_profiles();
  return kBuiltIn;
}

MatmulRanking rank(const MatmulProblem& problem, MatmulSearch search) {
  return rank_matmuls(problem, search, profiles());
}

/// Each size of a configuration up to `most`, on kGrid; what ttnn refuses is not called.
template <class Use>
void each_legal(const MatmulProblem& problem, MatmulConfig config, std::int64_t most, Use use) {
  for (config.per_core_m = 1; config.per_core_m <= most; ++config.per_core_m) {
    for (config.per_core_n = 1; config.per_core_n <= most; ++config.per_core_n) {
      for (config.in0_block_w = 1; config.in0_block_w <= problem.k; ++config.in0_block_w) {
        for (config.out_block_h = 1; config.out_block_h <= most; ++config.out_block_h) {
          for (config.out_block_w = 1; config.out_block_w <= most; ++config.out_block_w) {
            for (config.subblock_h = 1; config.subblock_h <= 8; ++config.subblock_h) {
              for (config.subblock_w = 1; config.subblock_w <= 8; ++config.subblock_w) {
                if (!matmul_objection(problem, config, kGrid)) use(config);
              }
            }
          }
        }
      }
    }
  }
}

PricedMatmul priced(MatmulProblem problem, const MatmulConfig& config) {
  problem.compute.fidelity = MathFidelity::hifi2;  // ttnn's choice without a configuration
  problem.config = config;
  return price(plan_matmul(problem, kGrid, kSmallL1), profiles());
}

struct Exhaustive {
  std::uint64_t legal = 0;
  std::vector<SimTime> times;  ///< Of the best sub-block of each blocking, sorted.
};

Exhaustive price_all(const MatmulProblem& problem) {
  std::map<
      std::tuple<MatmulKind, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>,
      SimTime>
      best;
  Exhaustive all;
  const auto visit = [&](const MatmulConfig& config) {
    const PricedMatmul one = priced(problem, config);
    if (one.l1 >= kSmallL1) return;
    ++all.legal;
    const auto key = std::tuple(config.kind, config.per_core_m, config.per_core_n,
                                config.in0_block_w, config.out_block_h, config.out_block_w);
    const auto [place, is_new] = best.emplace(key, one.kernel.total);
    if (!is_new) place->second = std::min(place->second, one.kernel.total);
  };
  const std::int64_t most = std::max(problem.m, problem.n);
  for (const MatmulKind kind :
       {MatmulKind::multicast_2d, MatmulKind::multicast_1d_in0, MatmulKind::multicast_1d_in1}) {
    each_legal(problem, {.kind = kind, .grid = kGrid}, most, [&](const MatmulConfig& config) {
      if (config.per_core_m <= problem.m && config.per_core_n <= problem.n) visit(config);
    });
  }
  each_legal(problem, {.kind = MatmulKind::multicast_2d, .grid = kGrid, .transpose_mcast = true},
             most, [&](const MatmulConfig& config) {
               if (config.per_core_m <= problem.m && config.per_core_n <= problem.n) visit(config);
             });
  // Reuse has no blocks within a share, so that one value of each stands for all.
  each_legal(problem, {.kind = MatmulKind::reuse, .grid = kGrid}, most,
             [&](const MatmulConfig& config) {
               if (config.out_block_h == 1 && config.out_block_w == 1) visit(config);
             });
  visit({.kind = MatmulKind::multi_core});
  for (const auto& [key, time] : best) all.times.push_back(time);
  std::ranges::sort(all.times);
  return all;
}

class MatmulSearchOf : public ::testing::TestWithParam<MatmulProblem> {};

TEST_P(MatmulSearchOf, FindsWhatPricingEveryConfigurationFinds) {
  constexpr std::size_t kMost = 40;
  const Exhaustive all = price_all(GetParam());
  const MatmulRanking found =
      rank(GetParam(), {.grid = kGrid, .circular_buffers = kSmallL1, .most = kMost});
  EXPECT_EQ(found.legal, all.legal);
  ASSERT_EQ(found.best.size(), std::min(kMost, all.times.size()));
  for (std::size_t i = 0; i < found.best.size(); ++i) {
    EXPECT_EQ(found.best[i].kernel.total, all.times[i]) << i << " " << found.best[i].plan.text();
    EXPECT_LT(found.best[i].l1, kSmallL1);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Small, MatmulSearchOf,
    ::testing::Values(MatmulProblem{.m = 7, .k = 4, .n = 6}, MatmulProblem{.m = 1, .k = 6, .n = 8},
                      MatmulProblem{.m = 6, .k = 3, .n = 5, .bias = true},
                      MatmulProblem{.m = 4, .k = 4, .n = 4, .transposed_b = true},
                      MatmulProblem{.m = 5, .k = 2, .n = 7, .activation = Eltwise::gelu},
                      MatmulProblem{.m = 6, .k = 4, .n = 6, .in0 = Storage::l1}));

TEST(MatmulSearch, ThreadsDoNotChangeTheAnswer) {
  const MatmulProblem problem{.m = 40, .k = 24, .n = 36};
  const auto texts = [&](int threads) {
    std::vector<std::string> result;
    for (const PricedMatmul& one :
         rank(
             problem,
             {.grid = {8, 7}, .circular_buffers = Bytes(1'401'856), .most = 25, .threads = threads})
             .best) {
      result.push_back(text_of(config_of(one.plan)));
    }
    return result;
  };
  const auto alone = texts(1);
  EXPECT_EQ(alone.size(), 25U);
  EXPECT_EQ(texts(4), alone);
  EXPECT_EQ(texts(7), alone);
}

TEST(MatmulSearch, TtnnAcceptsWhatIsFoundAndTakesAsLong) {
  for (const MatmulProblem& problem :
       {MatmulProblem{.m = 19, .k = 16, .n = 33}, MatmulProblem{.m = 1, .k = 128, .n = 128},
        MatmulProblem{.batch = 6, .m = 5, .k = 4, .n = 3},
        MatmulProblem{.batch = 6, .batched_b = true, .m = 5, .k = 4, .n = 3}}) {
    const MatmulRanking found =
        rank(problem, {.grid = {8, 7}, .circular_buffers = Bytes(1'401'856), .most = 30});
    ASSERT_FALSE(found.best.empty());
    for (const PricedMatmul& one : found.best) {
      MatmulProblem told = problem;
      told.config = parse_matmul_config(text_of(config_of(one.plan)));
      told.compute.fidelity = MathFidelity::hifi2;
      EXPECT_EQ(matmul_objection(told, *told.config, {8, 7}), std::nullopt) << one.plan.text();
      const MatmulPlan plan = plan_matmul(told, {8, 7}, Bytes(1'401'856));
      EXPECT_EQ(plan.text(), one.plan.text());
      EXPECT_EQ(price(plan, profiles()).kernel.total, one.kernel.total) << one.plan.text();
    }
  }
}

TEST(MatmulSearch, NoBlockingIsFasterThanTheBoundOfItsShare) {
  constexpr auto kBfloat16 = DataType::bfloat16, kBlock = DataType::bfloat8_b;
  for (const MatmulTypes types :
       {MatmulTypes::all(kBfloat16), MatmulTypes::all(DataType::float32), MatmulTypes::all(kBlock),
        MatmulTypes{kBfloat16, kBlock, kBfloat16}, MatmulTypes{kBlock, kBfloat16, kBfloat16}}) {
    for (const bool transposed : {false, true}) {
      const MatmulProblem problem{
          .m = 24, .k = 12, .n = 20, .types = types, .transposed_b = transposed};
      const MatmulRanking found =
          rank(problem, {.grid = {8, 7}, .circular_buffers = Bytes(1'401'856), .most = 200});
      for (const PricedMatmul& one : found.best) {
        EXPECT_LE(least_matmul_time(one.plan, profiles()), one.kernel.total);
      }
    }
  }
}

TEST(MatmulSearch, AShareThatDividesTakesTheCliffAtFourThousandAway) {
  const MatmulProblem problem{.m = 128, .k = 128, .n = 128};
  const SimTime own =
      price(plan_matmul(problem, {8, 7}, Bytes(1'401'856)), profiles()).kernel.total;
  const MatmulRanking found =
      rank(problem, {.grid = {8, 7}, .circular_buffers = Bytes(1'401'856), .threads = 2});
  EXPECT_EQ(found.best.size(), 10U);
  EXPECT_LT(4 * found.best.front().kernel.total.ps(), own.ps());
}

TEST(MatmulSearch, BlockingsOfAShareHoldTheBestOne) {
  const MatmulProblem problem{.m = 30, .k = 16, .n = 24};
  const MatmulRanking found = rank(problem, {.grid = {8, 7}, .circular_buffers = Bytes(1'401'856)});
  const auto all = blockings_of(found.best.front().plan, Bytes(1'401'856), profiles());
  const auto fastest = std::ranges::min_element(all, ranks_before);
  ASSERT_NE(fastest, all.end());
  EXPECT_EQ(fastest->kernel.total, found.best.front().kernel.total);
}

}  // namespace
}  // namespace howard::chip
