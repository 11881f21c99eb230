// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/matmul/matmul_search.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>

namespace howard::chip {
namespace {

std::vector<std::int64_t> factors(std::int64_t n) {
  std::vector<std::int64_t> result;
  for (std::int64_t d = 1; d <= n; ++d) {
    if (n % d == 0) result.push_back(d);
  }
  return result;
}

/// Sizes from `least` to `most`.
struct Range {
  std::int64_t least = 1, most = 1;

  /// Returns how many of them are multiples of `part`.
  std::int64_t multiples_of(std::int64_t part) const { return most / part - (least - 1) / part; }
};

/// The shares of M and N that a core may have in one kind of configuration.
struct Family {
  MatmulPlan plan;  ///< Has its kind, its grid and the problem's sizes, but no share yet.
  Range m, n;
};

/// Returns everything about a plan but how it is cut. It has the arithmetic of ttnn's own choice,
/// so that what is compared has the same numbers.
MatmulPlan uncut_plan(const MatmulProblem& problem, const MatmulSearch& search) {
  MatmulProblem own_choice = problem;
  own_choice.config.reset();
  own_choice.core_grid.reset();
  const MatmulPlan chosen = plan_matmul(own_choice, search.grid, search.circular_buffers);
  MatmulProblem told = problem;
  told.core_grid.reset();
  told.compute = {.fidelity = chosen.fidelity, .fp32_accumulation = chosen.fp32_accumulation};
  told.config = MatmulConfig{.kind = MatmulKind::multi_core};  // It is legal for every product.
  return plan_matmul(told, search.grid, search.circular_buffers);
}

/// Says whether a share is possible: reuse deals out whole parts of M only.
bool is_share(const Family& family, std::int64_t m) {
  return family.plan.config.kind != MatmulKind::reuse || family.plan.m % m == 0;
}

/// Adds the families of `plan`, whose kind and batch are chosen.
void add_families(const MatmulPlan& plan, CoreGrid grid, std::vector<Family>& result) {
  const auto cores = static_cast<std::int64_t>(grid.cores());
  const std::int64_t m = plan.m, n = plan.n;
  const auto add = [&](Range of_m, Range of_n, bool transposed = false) {
    result.push_back({.plan = plan, .m = of_m, .n = of_n});
    result.back().plan.config.transpose_mcast = transposed;
  };
  switch (plan.config.kind) {
    case MatmulKind::multicast_2d:
      add({ceil_div(m, grid.rows), m}, {ceil_div(n, grid.columns), n});
      add({ceil_div(m, grid.columns), m}, {ceil_div(n, grid.rows), n}, true);
      break;
    case MatmulKind::multicast_1d_in0:
      add({m, m}, {ceil_div(n, cores), n});
      break;
    case MatmulKind::multicast_1d_in1:
      add({ceil_div(m, cores), m}, {n, n});
      break;
    case MatmulKind::reuse:
      add({1, m}, {n, n});
      break;
    case MatmulKind::multi_core:
      add({1, 1}, {1, 1});
      break;
    case MatmulKind::dram_sharded:
      break;  // It takes sharded operands, which are not searched.
  }
}

std::vector<Family> families(const MatmulProblem& problem, const MatmulSearch& search) {
  std::vector<Family> result;
  MatmulPlan plan = uncut_plan(problem, search);
  for (const MatmulKind kind : search.kinds) {
    plan.config.kind = kind;
    const bool has_both = problem.batched_a && problem.batched_b;
    if (kind == MatmulKind::reuse && problem.batch > 1 && !has_both) continue;
    add_families(plan, search.grid, result);
    if (problem.batch == 1 || problem.batched_b || !plan.is_multicast()) continue;
    MatmulPlan fused = plan;  // It takes the batch of A as more rows.
    fused.m *= fused.batch;
    fused.batch = 1;
    add_families(fused, search.grid, result);
  }
  return result;
}

/// A family's plan with one share for each core.
struct SharedPlan {
  MatmulPlan plan;
  SimTime least;  ///< No blocking of the share is faster.
};

/// Says whether a plan fits without transposing the multicast. A transposed multicast takes as
/// long, so it is only looked at if the other one does not fit.
bool fits_untransposed(const MatmulPlan& plan, CoreGrid grid) {
  return plan.active_rows() <= grid.rows && plan.active_columns() <= grid.columns;
}

/// Gives the plan a share. 2D configurations name the cores that they use, the others the whole
/// grid.
void take_share(MatmulPlan& plan, std::int64_t m, std::int64_t n) {
  plan.config.per_core_m = m;
  plan.config.per_core_n = n;
  if (plan.config.kind != MatmulKind::multicast_2d) return;
  const auto rows = static_cast<int>(plan.active_rows());
  const auto columns = static_cast<int>(plan.active_columns());
  plan.config.grid =
      plan.config.transpose_mcast ? CoreGrid{rows, columns} : CoreGrid{columns, rows};
}

std::vector<SharedPlan> shared_plans(const std::vector<Family>& all, CoreGrid grid,
                                     const Profiles& profiles) {
  std::vector<SharedPlan> plans;
  for (const Family& family : all) {
    for (std::int64_t m = family.m.least; m <= family.m.most; ++m) {
      if (!is_share(family, m)) continue;
      for (std::int64_t n = family.n.least; n <= family.n.most; ++n) {
        SharedPlan shared{.plan = family.plan, .least = {}};
        take_share(shared.plan, m, n);
        if (shared.plan.config.transpose_mcast && fits_untransposed(shared.plan, grid)) continue;
        shared.least = least_matmul_time(shared.plan, profiles);
        plans.push_back(std::move(shared));
      }
    }
  }
  std::ranges::stable_sort(plans, {}, &SharedPlan::least);
  return plans;
}

/// Returns the sub-blocks of at most `most` tiles, which is 8 or 4.
std::vector<std::pair<std::int64_t, std::int64_t>> subblocks(std::int64_t most) {
  std::vector<std::pair<std::int64_t, std::int64_t>> result;
  for (std::int64_t h = 1; h <= most; ++h) {
    for (std::int64_t w = 1; h * w <= most; ++w) result.emplace_back(h, w);
  }
  return result;
}

std::int64_t most_tiles_of(const MatmulPlan& plan) { return plan.fp32_accumulation ? 4 : 8; }

/// Calls `use` with every blocking of a share that fits in L1, with its best sub-block.
template <class Use>
void each_blocking(const MatmulPlan& share, Bytes limit, const Profiles& profiles, Use use) {
  MatmulPlan plan = share;
  const bool is_whole =
      share.config.kind == MatmulKind::reuse || share.config.kind == MatmulKind::multi_core;
  const auto heights =
      is_whole ? std::vector{share.config.per_core_m} : factors(share.config.per_core_m);
  const auto widths =
      is_whole ? std::vector{share.config.per_core_n} : factors(share.config.per_core_n);
  const auto steps =
      share.config.kind == MatmulKind::multi_core ? std::vector<std::int64_t>{1} : factors(share.k);
  const auto parts = subblocks(most_tiles_of(share));
  for (const std::int64_t k : steps) {
    plan.config.in0_block_w = k;
    for (const std::int64_t h : heights) {
      plan.config.out_block_h = h;
      for (const std::int64_t w : widths) {
        plan.config.out_block_w = w;
        if (circular_buffer_bytes(plan) >= limit) break;
        std::optional<PricedMatmul> best;
        for (const auto& [sub_h, sub_w] : parts) {
          if (h % sub_h != 0 || w % sub_w != 0) continue;
          plan.config.subblock_h = sub_h;
          plan.config.subblock_w = sub_w;
          PricedMatmul priced = price(plan, profiles);
          if (!best || ranks_before(priced, *best)) best = std::move(priced);
        }
        use(*best);
      }
    }
  }
}

/// Returns how many configurations a family has. Each block that fits belongs to every share that
/// it divides, with every sub-block that divides it.
std::uint64_t count_legal(const Family& family, Bytes limit) {
  MatmulPlan plan = family.plan;
  if (plan.config.kind == MatmulKind::multi_core) return 1;
  const auto parts = subblocks(most_tiles_of(plan));
  const bool whole = plan.config.kind == MatmulKind::reuse;
  std::uint64_t count = 0;
  for (const std::int64_t k : factors(plan.k)) {
    plan.config.in0_block_w = k;
    for (std::int64_t h = 1; h <= family.m.most; ++h) {
      const std::int64_t shares_m =
          whole ? (is_share(family, h) ? 1 : 0) : family.m.multiples_of(h);
      if (shares_m == 0) continue;
      plan.config.out_block_h = h;
      for (std::int64_t w = whole ? plan.n : 1; w <= family.n.most; ++w) {
        plan.config.out_block_w = w;
        if (circular_buffer_bytes(plan) >= limit) break;
        const std::int64_t shares_n = whole ? 1 : family.n.multiples_of(w);
        const auto dividing = std::ranges::count_if(
            parts, [&](const auto& part) { return h % part.first == 0 && w % part.second == 0; });
        count += static_cast<std::uint64_t>(shares_m * shares_n * dividing);
      }
    }
  }
  return count;
}

/// Holds the best blockings so far, which several threads add to.
class Podium {
 public:
  explicit Podium(std::size_t most) : most_(most) {}

  /// Says whether something that takes at least `time` may still get on it.
  bool may_take(SimTime time) const { return time.ps() <= limit_.load(std::memory_order_relaxed); }

  void offer(const PricedMatmul& priced) {
    if (!may_take(priced.kernel.total)) return;
    const std::lock_guard lock(mutex_);
    const auto place = std::ranges::upper_bound(best_, priced, ranks_before);
    best_.insert(place, priced);
    if (best_.size() > most_) best_.pop_back();
    if (best_.size() == most_) limit_.store(best_.back().kernel.total.ps());
  }

  std::vector<PricedMatmul> take() { return std::move(best_); }

 private:
  std::size_t most_;
  std::atomic<std::int64_t> limit_ = std::numeric_limits<std::int64_t>::max();
  std::mutex mutex_;
  std::vector<PricedMatmul> best_;
};

}  // namespace

bool ranks_before(const PricedMatmul& a, const PricedMatmul& b) {
  const auto key = [](const PricedMatmul& priced) {
    return std::tuple(priced.kernel.total, priced.l1, priced.kernel.cores, config_of(priced.plan));
  };
  if (a.kernel.total != b.kernel.total) return a.kernel.total < b.kernel.total;
  return key(a) < key(b);
}

PricedMatmul price(const MatmulPlan& plan, const Profiles& profiles) {
  return {.plan = plan,
          .kernel = matmul_cost(plan, profiles).kernel,
          .l1 = circular_buffer_bytes(plan)};
}

MatmulRanking rank_matmuls(const MatmulProblem& problem, const MatmulSearch& search,
                           const Profiles& profiles) {
  const std::vector<Family> all = families(problem, search);
  MatmulRanking ranking;
  for (const Family& family : all) ranking.legal += count_legal(family, search.circular_buffers);
  const std::vector<SharedPlan> plans = shared_plans(all, search.grid, profiles);
  Podium podium(std::max<std::size_t>(1, search.most));
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < plans.size(); i = next++) {
      if (!podium.may_take(plans[i].least)) return;  // None of those after it may, either.
      each_blocking(plans[i].plan, search.circular_buffers, profiles,
                    [&](const PricedMatmul& priced) { podium.offer(priced); });
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (int i = 1; i < search.threads; ++i) helpers.emplace_back(work);
    work();
  }
  ranking.best = podium.take();
  return ranking;
}

std::vector<PricedMatmul> blockings_of(const MatmulPlan& plan, Bytes circular_buffers,
                                       const Profiles& profiles) {
  std::vector<PricedMatmul> result;
  each_blocking(plan, circular_buffers, profiles,
                [&](const PricedMatmul& priced) { result.push_back(priced); });
  return result;
}

}  // namespace howard::chip
