// SPDX-License-Identifier: Apache-2.0
#include "engines/host/kernels/matmul/product_tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "engines/host/host_memory.h"
#include "engines/host/kernels/matmul/matmul_blocks.h"
#include "engines/host/kernels/matmul/product_plan.h"
#include "engines/host/kernels/matmul/way_choice.h"
#include "engines/host/kernels/workspace.h"

namespace howard::host {
namespace {

using TuningClock = std::chrono::steady_clock;

/// The names of the kinds, in the order of kind_of().
constexpr std::array<std::string_view, 6> kKindNames = {"plain",        "large_plain",
                                                        "a_transposed", "large_a_transposed",
                                                        "b_transposed", "large_b_transposed"};
constexpr std::array<std::pair<std::string_view, ProductWay>, 6> kWays = {
    {{"parts", {.cut = ProductWay::Cut::parts, .pads = false}},
     {"parts+gaps", {.cut = ProductWay::Cut::parts, .pads = true}},
     {"two", {.cut = ProductWay::Cut::two, .pads = false}},
     {"two+gaps", {.cut = ProductWay::Cut::two, .pads = true}},
     {"one", {.cut = ProductWay::Cut::one, .pads = false}},
     {"one+gaps", {.cut = ProductWay::Cut::one, .pads = true}}}};

/// A product is large from here on. This is more than what is measured for small ones, 268 MFLOP a
/// thread for two threads, and less than what is measured for large ones.
constexpr Flops kLargeProduct(std::int64_t{1} << 30);

/// Kinds whose measurement has not begun by then keep the fixed way.
constexpr std::chrono::milliseconds kTime{800};

/// The operands of what is measured. Their rows lie a multiple of 2 KiB apart: ways differ most for
/// such rows, and models have them.
struct Trial {
  explicit Trial(const MatmulShape& shape)
      : a(filled(shape.m * shape.k)), b(filled(shape.k * shape.n)), c(filled(shape.m * shape.n)) {}

  /// Returns `elements` numbers, or null when the system has no memory left.
  static LargePages filled(std::int64_t elements) {
    LargePages values(Bytes(elements * 4));
    auto* const first = reinterpret_cast<float*>(values.get());
    if (first == nullptr) return values;
    for (std::int64_t i = 0; i < elements; ++i) first[i] = static_cast<float>(i % 61) / 61 - 0.5F;
    return values;
  }

  LargePages a, b, c;
};

/// Returns the product that stands for a kind. Each of up to 32 threads has the same work; more
/// would need more than 200 MB of memory.
MatmulShape trial_shape(std::size_t kind, int threads) {
  const bool large = kind % 2 == 1;
  MatmulShape shape{.transpose_a = kind / 2 == 1,
                    .transpose_b = kind / 2 == 2,
                    .a = DataType::float32,
                    .b = DataType::float32,
                    .bias = {},
                    .result = DataType::float32};
  shape.m = std::int64_t{512} * std::min(threads, 32);
  shape.k = 512;
  shape.n = large ? 2048 : 512;
  return shape;
}

/// Measures which way is fastest for a product. Returns nothing if the machine was disturbed.
std::optional<ProductWay> fastest_way(const MatmulShape& shape, WorkerPool& pool) {
  const Trial trial(shape);
  for (const LargePages* operand : {&trial.a, &trial.b, &trial.c}) {
    if (operand->get() == nullptr) return fixed_way();
  }
  Workspace workspace(pool.threads());
  std::vector<ProductWay> ways;
  std::vector<std::unique_ptr<ProductPlan>> plans;
  for (const auto& [name, way] : kWays) {
    ways.push_back(way);
    plans.push_back(std::make_unique<ProductPlan>(shape, pool.threads(), way));
  }
  const auto seconds = [&](std::size_t i) {
    const auto start = TuningClock::now();
    plans[i]->run({trial.a.get(), trial.b.get(), nullptr, trial.c.get()}, pool, workspace);
    return std::chrono::duration<double>(TuningClock::now() - start).count();
  };
  seconds(0);  // wakes the threads and touches the memory
  return choose_way(ways, fixed_way(), seconds);
}

}  // namespace

ProductTuning::ProductTuning() { ways_.fill(fixed_way()); }

ProductTuning::Measured ProductTuning::measured(WorkerPool& pool) {
  Measured result;
  const auto start = TuningClock::now();
  // Small products take a tenth of the time of large ones, so they come first.
  for (const std::size_t kind : std::array<std::size_t, kKinds>{0, 2, 4, 1, 3, 5}) {
    if (TuningClock::now() - start > kTime) break;
    const std::optional<ProductWay> way = fastest_way(trial_shape(kind, pool.threads()), pool);
    if (way) result.tuning.ways_.at(kind) = *way;
    if (!way) result.is_sure = false;
  }
  return result;
}

std::size_t ProductTuning::kind_of(const MatmulShape& shape) {
  const std::size_t layout = shape.transpose_a ? 1 : (shape.transpose_b ? 2 : 0);
  return 2 * layout + (shape.flops() >= kLargeProduct ? 1 : 0);
}

const ProductWay& ProductTuning::way(const MatmulShape& shape) const {
  static const ProductWay kFixed = fixed_way();
  return has_ways(shape) ? ways_.at(kind_of(shape)) : kFixed;
}

std::string ProductTuning::text() const {
  std::string text;
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    const auto* const way =
        std::ranges::find(kWays, ways_.at(kind), &std::pair<std::string_view, ProductWay>::second);
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", kKindNames.at(kind), way->first);
  }
  return text;
}

ProductTuning ProductTuning::parse(std::string_view text) {
  ProductTuning tuning;
  const std::vector<std::string> words = split(text, ' ');
  const auto fail = [&](const std::string& value) {
    throw Error({.attempted = "read the ways of products",
                 .value = "'" + value + "'",
                 .accepted = "KIND=WAY for each kind, as this version of Howard writes it"});
  };
  if (words.size() != kKinds) fail(std::string(text));
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    const std::string prefix = std::string(kKindNames.at(kind)) + "=";
    if (!words[kind].starts_with(prefix)) fail(words[kind]);
    const auto* const way = std::ranges::find(kWays, words[kind].substr(prefix.size()),
                                              &std::pair<std::string_view, ProductWay>::first);
    if (way == kWays.end()) fail(words[kind]);
    tuning.ways_.at(kind) = way->second;
  }
  return tuning;
}

}  // namespace howard::host
