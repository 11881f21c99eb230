// SPDX-License-Identifier: Apache-2.0
#include "experiments/questions/tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "engines/chip/kernels/matmul/dram_sharded.h"
#include "engines/ops/tensor.h"
#include "engines/program/matmul_config.h"
#include "experiments/axes/axes.h"
#include "experiments/cases/emulated_case.h"
#include "experiments/cases/kernel_account.h"
#include "harness/measurement.h"

namespace howard::experiments {
namespace {

using chip::MatmulProblem;
using chip::PricedMatmul;
using harness::Axis;
using harness::Parameters;

/// These are the iterations of matmul_sweep.
constexpr harness::VirtualTiming kCallTiming{.warmup = 10, .iterations = 50};

constexpr std::array<std::string_view, 3> kSizes{"m", "k", "n"};

/// ttnn applies these functions to the result within the kernel of a product.
constexpr std::array kActivations{Eltwise::relu, Eltwise::gelu,  Eltwise::exp,
                                  Eltwise::sqrt, Eltwise::rsqrt, Eltwise::reciprocal};

const auto kM = count_axis("m", "rows of A"), kK = count_axis("k", "columns of A, rows of B"),
           kN = count_axis("n", "columns of B"), kProducts = count_axis("batch", "products");
const auto kBatchesBoth = choice_axis<bool>("batched", "who has the batch: A, or A and B",
                                            {{"a", false}, {"both", true}});

/// Says which factors are stored with rows and columns swapped.
struct Transposed {
  bool a = false, b = false;
  friend bool operator==(const Transposed&, const Transposed&) = default;
};
const auto kTranspose = choice_axis<Transposed>(
    "transpose", "what is stored with rows and columns swapped",
    {{"none", {}}, {"a", {.a = true}}, {"b", {.b = true}}, {"ab", {.a = true, .b = true}}});

TypedAxis<std::optional<Eltwise>> activation_axis() {
  std::vector<std::pair<std::string, std::optional<Eltwise>>> words{{"none", std::nullopt}};
  for (const Eltwise function : kActivations) words.emplace_back(name_of(function), function);
  return choice_axis<std::optional<Eltwise>>("activation", "what is applied to the result", words);
}
const auto kActivation = activation_axis();

TypedAxis<Storage> memory_axis(std::string name, std::string_view of) {
  return choice_axis<Storage>(std::move(name), fmt::format("memory of {}, interleaved", of),
                              {{"dram", Storage::dram}, {"l1", Storage::l1}});
}
const auto kMemoryA = memory_axis("memory_a", "A"), kMemoryB = memory_axis("memory_b", "B"),
           kMemoryOut = memory_axis("memory_out", "the result");

TensorSpec spec_of(const Point& product, DataType type, const TypedAxis<Storage>& memory,
                   bool batched, const TypedAxis<std::int64_t>& rows,
                   const TypedAxis<std::int64_t>& columns) {
  return {.shape = {batched ? product[kProducts] : 1, product[rows], product[columns]},
          .dtype = type,
          .storage = product[memory]};
}

/// Runs a product on a device of its own: its operands, and the calls that ttnn makes of it.
class TunedProduct final : public EmulatedCase {
 public:
  TunedProduct(const DevBox& box, const Point& product)
      : EmulatedCase(box.open_chip({.dispatch = product[kDispatch]})),
        batched_b_(product[kBatchesBoth]),
        types_(product_types(product)),
        attributes_(attributes_of(product)),
        a_(device(), attributes_.transpose_a ? spec_of(product, types_.a, kMemoryA, true, kK, kM)
                                             : spec_of(product, types_.a, kMemoryA, true, kM, kK)),
        b_(device(), attributes_.transpose_b
                         ? spec_of(product, types_.b, kMemoryB, batched_b_, kN, kK)
                         : spec_of(product, types_.b, kMemoryB, batched_b_, kK, kN)),
        out_(device(), spec_of(product, types_.out, kMemoryOut, true, kM, kN)) {
    if (product[kBias].is_added) {
      bias_.emplace(device(), TensorSpec{.shape = {product[kN]}, .dtype = types_.bias});
    }
  }

  void run() override {
    queue().enqueue(multiplication());
    queue().finish();
  }
  void finish() override {}
  void describe(double /*seconds*/, harness::PointResult& /*point*/) const override {}

  Program multiplication() const {
    return bias_ ? make_program(attributes_, {a_, b_, *bias_}, {out_})
                 : make_program(attributes_, {a_, b_}, {out_});
  }
  /// Uses this configuration from here on, or ttnn's choice.
  void use(const std::optional<MatmulConfig>& config) {
    attributes_.config = config;
    attributes_.compute.fidelity = fidelity();
  }

  /// Returns the math fidelity, which is ttnn's choice unless the point names one.
  MathFidelity fidelity() {
    if (attributes_.compute.fidelity) return *attributes_.compute.fidelity;
    return device().explain(multiplication()).matmul->fidelity;
  }

  /// Returns the time of all kernels of the calls.
  SimTime kernel_time() { return kernel_time_of(device(), multiplication()); }
  const chip::PlannedProgram& planned() { return device().explain(multiplication()); }

  /// Returns the time of the programs beside a product whose kernel does not transpose, nor apply
  /// the activation unless it `activates`.
  SimTime time_beside(bool activates) {
    const MatmulAttributes own = attributes_;
    attributes_.config = MatmulConfig{.kind = MatmulKind::multi_core};
    if (activates) attributes_.activation.reset();
    SimTime time;
    for (const auto& launch : device().launches(multiplication())) {
      if (!launch.matmul) time += launch.kernel.total;
    }
    attributes_ = own;
    return time;
  }

  /// Returns the product itself, as the kernels of multicast configurations see it, or as the
  /// others do.
  MatmulProblem problem(const DevBox& box, bool multicast) const {
    MatmulProblem problem = chip::problem_of(multiplication(), attributes_);
    problem.config.reset();
    // Kernels that cannot transpose get an operand that a program of its own has transposed.
    const bool fuses = multicast && box.profiles().software.matmul_fuses_transposes;
    problem.transposed_a = fuses && attributes_.transpose_a;
    problem.transposed_b = fuses && attributes_.transpose_b;
    if (!multicast) problem.activation.reset();
    return problem;
  }

  Bytes l1_free() const { return device().l1_free(); }
  CoreGrid grid() const { return device().compute_grid(); }
  double flops() const { return static_cast<double>(multiplication().flops.value()); }

 private:
  static MatmulAttributes attributes_of(const Point& product) {
    const Transposed transposed = product[kTranspose];
    MatmulAttributes attributes{.transpose_a = transposed.a,
                                .transpose_b = transposed.b,
                                .core_grid = {},
                                .compute = {.fidelity = product[kFidelity]},
                                .config = {}};
    if (const auto function = product[kActivation]) attributes.activation = step_of(*function);
    return attributes;
  }

  bool batched_b_;
  chip::MatmulTypes types_;
  MatmulAttributes attributes_;
  ops::Tensor a_, b_, out_;
  std::optional<ops::Tensor> bias_;
};

/// Returns the cores that the search may use. Throws Error when the chip has fewer.
CoreGrid searched_grid(const Point& product, CoreGrid all) {
  const auto wanted = product[kGrid];
  if (!wanted) return all;
  if (wanted->columns <= all.columns && wanted->rows <= all.rows) return *wanted;
  throw Error(
      {.attempted = "tune a product",
       .value = fmt::format("the grid {}x{} is not on the chip", wanted->columns, wanted->rows),
       .accepted = fmt::format("up to {}x{} cores with dispatch {}", all.columns, all.rows,
                               kDispatch.print(product[kDispatch])),
       .hint = fmt::format("-a grid={}x{}", all.columns, all.rows)});
}

/// Holds what the search has found, and what its kernels leave to other programs.
struct Found {
  PricedMatmul priced;
  SimTime time;
};

std::vector<Found> search_all(const DevBox& box, const Point& product, TunedProduct& tuned,
                              std::size_t most, int threads, std::uint64_t& legal) {
  std::vector<Found> found;
  const auto add = [&](bool multicast, std::vector<MatmulKind> kinds, SimTime beside) {
    MatmulProblem problem = tuned.problem(box, multicast);
    problem.compute.fidelity = tuned.fidelity();
    const chip::MatmulRanking ranking =
        chip::rank_matmuls(problem,
                           {.grid = searched_grid(product, tuned.grid()),
                            .circular_buffers = tuned.l1_free(),
                            .kinds = std::move(kinds),
                            .most = most,
                            .threads = threads},
                           box.profiles());
    legal += ranking.legal;
    for (const PricedMatmul& priced : ranking.best) {
      found.push_back({priced, priced.kernel.total + beside});
    }
  };
  const bool fuses = box.profiles().software.matmul_fuses_transposes;
  add(true, {MatmulKind::multicast_2d, MatmulKind::multicast_1d_in0, MatmulKind::multicast_1d_in1},
      fuses ? SimTime() : tuned.time_beside(/*activates=*/true));
  add(false, {MatmulKind::reuse, MatmulKind::multi_core}, tuned.time_beside(/*activates=*/false));
  std::ranges::stable_sort(found, [](const Found& a, const Found& b) {
    if (a.time != b.time) return a.time < b.time;
    return ranks_before(a.priced, b.priced);
  });
  if (found.size() > most) found.resize(most);
  return found;
}

/// Returns every blocking of the share that `config` gives a core, with the time beside the
/// product.
std::vector<TuningPlace> places(const TunedConfig& config, Bytes l1, const DevBox& box) {
  const SimTime beside = config.time - chip::price(config.plan, box.profiles()).kernel.total;
  std::vector<TuningPlace> result;
  for (const PricedMatmul& priced : chip::blockings_of(config.plan, l1, box.profiles())) {
    result.push_back({priced.l1, priced.kernel.total + beside});
  }
  return result;
}

TunedConfig own_choice(TunedProduct& tuned) {
  tuned.use(std::nullopt);
  const chip::PlannedProgram& planned = tuned.planned();
  return {.rank = "default",
          .plan = *planned.matmul,
          .time = tuned.kernel_time(),
          .call = harness::measure_virtual(tuned, kCallTiming),
          .bound = planned.kernel.bottleneck,
          .l1 = planned.buffers.size};
}

}  // namespace

std::vector<Axis> tuning_axes() {
  return {kM.with({}),
          kK.with({}),
          kN.with({}),
          kProducts.with({"1"}),
          kBatchesBoth.with({"a"}),
          kDtype.with({"bfloat16"}),
          kWeights.optional(),
          kOutput.optional(),
          kFidelity.with({"default"}),
          kTranspose.with({"none"}),
          kBias.with({"no"}),
          kActivation.with({"none"}),
          kMemoryA.with({"dram"}),
          kMemoryB.with({"dram"}),
          kMemoryOut.with({"dram"}),
          kDispatch.with({"worker"}),
          kGrid.with({"default"})};
}

std::vector<Parameters> tuned_products(const std::vector<std::string>& texts) {
  const std::vector<harness::AxisOverride> overrides = harness::parse_axis_overrides(texts);
  std::vector<Axis> axes = tuning_axes();
  std::vector<std::string> names;
  for (const Axis& axis : axes) names.push_back(axis.name);
  for (const harness::AxisOverride& given : overrides) {
    if (std::ranges::find(names, given.axis) != names.end()) continue;
    const auto suggestion = closest(given.axis, names);
    throw Error({.attempted = "tune a product",
                 .value = fmt::format("there is no axis '{}'", given.axis),
                 .accepted = join(names, ", "),
                 .hint = suggestion ? fmt::format("-a {}=", *suggestion) : ""});
  }
  for (const std::string_view size : kSizes) {
    if (std::ranges::find(overrides, size, &harness::AxisOverride::axis) != overrides.end()) {
      continue;
    }
    throw Error({.attempted = "tune a product",
                 .value = fmt::format("A[m,k] B[k,n] has three sizes, and {} is not given", size),
                 .hint = "run_experiment tune -a m=1024 -a k=512 -a n=512"});
  }
  harness::apply_overrides(axes, overrides);
  return harness::expand(axes);
}

Tuning tune(const DevBox& box, const Parameters& product, std::size_t most, int threads) {
  TunedProduct tuned(box, product);
  Tuning tuning{.parameters = product, .configs = {own_choice(tuned)}, .flops = tuned.flops()};
  const std::vector<Found> found =
      search_all(box, product, tuned, std::max<std::size_t>(1, most), threads, tuning.legal);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto& [priced, time] = found[i];
    TunedProduct own(box, product);
    own.use(config_of(priced.plan));
    tuning.configs.push_back({.rank = std::to_string(i + 1),
                              .plan = priced.plan,
                              .time = time,
                              .call = harness::measure_virtual(own, kCallTiming),
                              .bound = priced.kernel.bottleneck,
                              .l1 = priced.l1});
  }
  MatmulProblem problem = tuned.problem(box, /*multicast=*/true);
  problem.compute.fidelity = tuning.own_choice().plan.fidelity;
  tuning.dram_sharded =
      chip::best_dram_sharded(problem, searched_grid(product, tuned.grid()),
                              box.profiles().chip.l1_circular_buffers, box.profiles());
  tuning.default_share = places(tuning.own_choice(), tuned.l1_free(), box);
  if (tuning.configs.size() > 1) {
    tuning.best_share = places(tuning.best(), tuned.l1_free(), box);
  }
  return tuning;
}

std::string config_text(const TunedConfig& config) { return text_of(config_of(config.plan)); }

harness::WhatIf tuned_config(const DevBox& box, const Point& point, MathFidelity fidelity) {
  const char* const kWhat = "matmul configuration";
  if (point[kQueues] == 2) return {kWhat, {}, "each of two queues has a product of its own"};
  constexpr std::size_t kMost = 3;
  const ProductShape shape = point[kShape];
  Parameters given{kM.at(shape.m),         kK.at(shape.k),
                   kN.at(shape.n),         kDtype.at(point[kDtype]),
                   kFidelity.at(fidelity), kDispatch.at(point[kDispatch])};
  for (const auto* const type : {&kWeights, &kOutput}) {
    if (point.has(*type)) given.push_back(type->at(point[*type]));
  }
  std::vector<std::string> axes;
  for (const auto& [axis, value] : given) axes.push_back(axis + "=" + value);
  const Parameters product = tuned_products(axes).front();
  TunedProduct tuned(box, product);
  const SimTime own = tuned.kernel_time();
  std::uint64_t legal = 0;
  harness::WhatIf change{.what = kWhat, .candidates = {}, .reason = {}};
  for (const Found& found : search_all(box, product, tuned, kMost, 1, legal)) {
    if (found.time >= own) continue;
    Parameters changes{kConfig.at(config_of(found.priced.plan)), kFidelity.at(fidelity)};
    if (point[kGrid]) changes.push_back(kGrid.at(std::nullopt));
    change.candidates.push_back(std::move(changes));
  }
  if (change.candidates.empty()) change.reason = "no legal one is faster than ttnn's choice";
  return change;
}

}  // namespace howard::experiments
