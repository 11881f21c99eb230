// SPDX-License-Identifier: Apache-2.0
#include "experiments/questions/other_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/error.h"
#include "engines/chip/kernels/lowering.h"
#include "engines/chip/kernels/matmul/matmul_search.h"
#include "engines/chip/kernels/planner.h"
#include "engines/program/matmul_config.h"

namespace howard::experiments {
namespace {

using List = std::vector<Attributes>;

constexpr std::array<std::int64_t, 7> kPowers{1, 2, 4, 8, 16, 32, 64};

std::vector<std::int64_t> divisors(std::int64_t of) {
  std::vector<std::int64_t> found;
  for (std::int64_t i = 1; i <= of; ++i) {
    if (of % i == 0) found.push_back(i);
  }
  return found;
}

bool has_shards(const Program& program) {
  const auto is_sharded = [](const Operand& operand) { return operand.spec.sharding.has_value(); };
  return std::ranges::any_of(program.inputs, is_sharded) ||
         std::ranges::any_of(program.outputs, is_sharded);
}

/// Finds the arguments of a call that are tried.
class Arguments {
 public:
  Arguments(const PlacedCall& call, const chip::Profiles& profiles, std::size_t most, int threads)
      : call_(call), profiles_(profiles), most_(most), threads_(threads) {}

  List all() {
    std::visit([this](const auto& op) { add_of(op); }, call_.program.attributes.variant());
    return std::move(list_);
  }

 private:
  template <class Op>
  void add_of(const Op& /*op*/) {}

  /// What is sharded has its cores and their shares from the shards.
  void add_of(const MatmulAttributes& op) {
    if (op.config && op.config->gather_in0) return;
    if (has_shards(call_.program)) return add_blocks(op);
    using enum MatmulKind;
    const bool fuses = profiles_.software.matmul_fuses_transposes;
    add_ranked(op, fuses, {multicast_2d, multicast_1d_in0, multicast_1d_in1});
    add_ranked(op, false, {reuse, multi_core});
  }

  /// Adds the fastest of some kinds, whose kernels transpose or not.
  void add_ranked(const MatmulAttributes& op, bool transposes, std::vector<MatmulKind> kinds) {
    chip::MatmulProblem problem = chip::problem_of(call_.program, op);
    problem.config.reset();
    problem.core_grid.reset();
    problem.transposed_a = transposes && op.transpose_a;
    problem.transposed_b = transposes && op.transpose_b;
    if (kinds.front() == MatmulKind::reuse) problem.activation.reset();
    problem.compute.fidelity = call_.own_choice.fidelity;
    problem.compute.fp32_accumulation = call_.own_choice.fp32_accumulation;
    const chip::MatmulRanking ranking = chip::rank_matmuls(problem,
                                                           {.grid = call_.grid,
                                                            .circular_buffers = call_.l1_free,
                                                            .kinds = std::move(kinds),
                                                            .most = most_,
                                                            .threads = threads_},
                                                           profiles_);
    for (const chip::PricedMatmul& priced : ranking.best) add(op, config_of(priced.plan));
  }

  /// Adds other blocks of the shares that the cores have.
  void add_blocks(const MatmulAttributes& op) {
    const chip::MatmulPlan& own = call_.own_choice;
    if (own.config.kind == MatmulKind::dram_sharded) {
      MatmulConfig config = config_of(own);
      for (const std::int64_t step : divisors(own.k)) {
        config.in0_block_w = step;
        add(op, config);
      }
      return;
    }
    for (const auto& priced : chip::blockings_of(own, call_.l1_free, profiles_)) {
      add(op, config_of(priced.plan));
    }
  }

  void add(MatmulAttributes op, const MatmulConfig& config) {
    op.core_grid.reset();
    op.config = config;
    // A caller's configuration has another fidelity by default.
    op.compute.fidelity = call_.own_choice.fidelity;
    op.compute.fp32_accumulation = call_.own_choice.fp32_accumulation;
    list_.emplace_back(std::move(op));
  }

  void add_of(const MinimalMatmulAttributes& op) {
    const std::int64_t most_tiles = op.compute.fp32_accumulation.value_or(false) ? 4 : 8;
    MinimalMatmulAttributes other = op;
    for (const std::int64_t m : kPowers) {
      for (const std::int64_t k : kPowers) {
        for (const std::int64_t n : kPowers) {
          for (const std::int64_t h : kPowers) {
            for (const std::int64_t w : kPowers) {
              if (h * w > most_tiles || m % h != 0 || n % w != 0) continue;
              other.block_m = m, other.block_k = k, other.block_n = n;
              other.subblock_h = h, other.subblock_w = w;
              list_.emplace_back(other);
            }
          }
        }
      }
    }
  }

  void add_of(const AttentionAttributes& op) {
    AttentionAttributes other = op;
    const auto rows = [&](std::size_t input) {
      return kTileSide * call_.program.inputs.at(input).spec.shape.tile_rows();
    };
    for (const std::int64_t query : kPowers) {
      for (const std::int64_t key : kPowers) {
        other.query_chunk = kTileSide * query;
        other.key_chunk = kTileSide * key;
        if (other.query_chunk > rows(0) || other.key_chunk > rows(1)) continue;
        list_.emplace_back(other);
      }
    }
  }

  void add_of(const DecodeAttentionAttributes& op) {
    DecodeAttentionAttributes other = op;
    for (const std::int64_t key : kPowers) {
      for (const std::int64_t cores : kPowers) {
        other.key_chunk = kTileSide * key;
        other.cores_of_head = static_cast<int>(cores);
        list_.emplace_back(other);
      }
    }
  }

  void add_of(const Conv2dAttributes& op) {
    const std::int64_t m = ceil_div(op.window.places_out(), kTileSide);
    std::int64_t cores = op.cores > 0                        ? op.cores
                         : op.sharding == ShardLayout::block ? call_.grid.rows
                                                             : call_.grid.cores();
    if (op.sharding == ShardLayout::width) cores = 1;
    std::vector<std::int64_t> heights = divisors(ceil_div(m, std::min(m, cores)));
    heights.back() = 0;  // all
    Conv2dAttributes other = op;
    for (const std::int64_t height : heights) {
      for (const bool x : {false, true}) {
        for (const bool weights : {false, true}) {
          other.act_block_h = height;
          other.double_buffers_x = x;
          other.double_buffers_weights = weights;
          list_.emplace_back(other);
        }
      }
    }
  }

  void add_of(const GroupNormAttributes& op) {
    if (call_.program.inputs[0].spec.sharding) return;
    GroupNormAttributes other = op;
    for (int columns = 1; columns <= call_.grid.columns; ++columns) {
      for (int rows = 1; rows <= call_.grid.rows; ++rows) {
        other.core_grid = CoreGrid{columns, rows};
        list_.emplace_back(other);
      }
    }
  }

  void add_of(const AllGatherAttributes& op) { add_uses(op, op.use); }
  void add_of(const ReduceScatterAttributes& op) { add_uses(op, op.use); }

  /// The links and their topology are those that the call has: how the chips are wired is known to
  /// its caller.
  template <class Op>
  void add_uses(Op op, const LinkUse& own) {
    constexpr std::array kWorkers{0, 1, 2, 3, 4, 6, 8};
    constexpr std::array kChunks{0, 1, 2, 5, 10, 20, 40, 80, 160, 320};
    constexpr std::array kBuffers{0, 1, 2, 4, 8};
    for (int links = own.links; links >= 1; --links) {
      for (const int workers : kWorkers) {
        for (const int chunk : kChunks) {
          for (const int buffers : kBuffers) {
            op.use = {.links = links,
                      .ring = own.ring,
                      .workers = workers,
                      .chunk = chunk,
                      .buffers = buffers};
            list_.emplace_back(op);
          }
        }
      }
    }
  }

  const PlacedCall& call_;
  const chip::Profiles& profiles_;
  std::size_t most_;
  int threads_;
  List list_;
};

/// Returns what the kernels of a call take; nothing if the chip refuses it.
std::optional<SimTime> time_of(const Program& program, CoreGrid grid,
                               const chip::Profiles& profiles) {
  try {
    SimTime time;
    for (auto& [launch, matmul] : chip::lower(program, grid, profiles)) {
      const chip::PlannedProgram planned =
          chip::plan_program(std::move(launch), grid, profiles, matmul);
      if (planned.buffers.least > profiles.chip.l1_circular_buffers) return std::nullopt;
      time += planned.kernel.total;
    }
    return time;
  } catch (const Error&) {
    return std::nullopt;
  }
}

using Named = std::vector<std::pair<std::string_view, std::string>>;

std::string number(std::int64_t value) { return std::to_string(value); }
std::string truth(bool value) { return value ? "True" : "False"; }

/// Stands for the arguments of a kind that has none to tune.
struct NoArguments {
  operator Named() const { return {}; }  // NOLINT(*-explicit-*)
};

template <class Op>
NoArguments named(const Op& /*op*/) {
  return {};
}
Named named(const MinimalMatmulAttributes& op) {
  return {{"M_block_size", number(op.block_m)},
          {"K_block_size", number(op.block_k)},
          {"N_block_size", number(op.block_n)},
          {"subblock_h", number(op.subblock_h)},
          {"subblock_w", number(op.subblock_w)}};
}
Named named(const AttentionAttributes& op) {
  return {{"q_chunk_size", number(op.query_chunk)}, {"k_chunk_size", number(op.key_chunk)}};
}
Named named(const DecodeAttentionAttributes& op) {
  return {{"k_chunk_size", op.key_chunk == 0 ? "None" : number(op.key_chunk)},
          {"max_cores_per_head_batch", number(op.cores_of_head)}};
}
Named named(const Conv2dAttributes& op) {
  return {{"act_block_h_override", number(kTileSide * op.act_block_h)},
          {"enable_act_double_buffer", truth(op.double_buffers_x)},
          {"enable_weights_double_buffer", truth(op.double_buffers_weights)}};
}
Named named(const GroupNormAttributes& op) {
  if (!op.core_grid) return {{"core_grid", "None"}};
  return {{"core_grid",
           fmt::format("ttnn.CoreGrid(x={}, y={})", op.core_grid->columns, op.core_grid->rows)}};
}

/// What ttnn chooses by itself is None.
Named named_use(const LinkUse& use) {
  const auto chosen = [](int value) { return value == 0 ? "None" : number(value); };
  return {{"num_links", number(use.links)},
          {"num_workers_per_link", chosen(use.workers)},
          {"chunks_per_sync", chosen(use.chunk)},
          {"num_buffers_per_channel", chosen(use.buffers)}};
}
Named named(const AllGatherAttributes& op) { return named_use(op.use); }
Named named(const ReduceScatterAttributes& op) { return named_use(op.use); }

}  // namespace

Named tuned_arguments(const Attributes& attributes) {
  return std::visit([](const auto& op) -> Named { return named(op); }, attributes.variant());
}

bool has_other_arguments(const Attributes& attributes) {
  return std::visit(
      []<class Op>(const Op& op) {
        return std::is_same_v<Op, MatmulAttributes> ||
               !std::is_same_v<decltype(named(op)), NoArguments>;
      },
      attributes.variant());
}

std::vector<OtherArguments> fastest_arguments(const PlacedCall& call,
                                              const chip::Profiles& profiles, std::size_t most,
                                              int threads) {
  chip::Profiles in_place = profiles;
  in_place.chip.l1_circular_buffers = call.l1_free;
  std::vector<OtherArguments> found;
  Program program = chip::timing_key(call.program);
  for (Attributes& other : Arguments(call, in_place, most, threads).all()) {
    if (other == call.program.attributes) continue;
    program.attributes = std::move(other);
    if (const auto time = time_of(program, call.grid, in_place)) {
      found.push_back({std::move(program.attributes), *time});
    }
  }
  std::ranges::stable_sort(found, {}, &OtherArguments::time);
  if (found.size() > most) found.resize(most);
  return found;
}

}  // namespace howard::experiments
