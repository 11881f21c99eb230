// SPDX-License-Identifier: Apache-2.0
//
// Question: when does ETH dispatch pay, which leaves 8x8 cores to compute instead of 8x7?
//
// The report (postscript) found factors of 5.29 for one product of 4096 and 1.09 at 2048, nothing
// below, 0.94 for its MLP's replay and 0.99 for GPT-2. It explained them by sizes that 7 does not
// divide. What counts is how a product's rows of tiles are cut. 4096 rows are 128 tiles, 19 for
// each of 7 rows of cores. 19 is prime, so the output block of a core must be cut to one or two
// tiles, and an operand is read up to 16 times. 4032 divides by both 7 and 8. Otherwise ETH gives a
// seventh more cores to work that is bound by its cores, costs more for each dispatch, and changes
// nothing for a step that is bound by the host. `plans` compares the plans of the slowest product.
//
// Timing: an iteration is a product, or a replayed step of the MLP (batch 1024) or of GPT-2 (as
// published, 1 layer). 3 iterations warm up and 10 are timed, with one finish at the end; the
// result is the mean.

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "engines/autograd/calls.h"
#include "experiments/cases/gpt2_case.h"
#include "experiments/cases/training_case.h"
#include "experiments/experiment.h"
#include "experiments/questions/what_ifs.h"
#include "harness/measurement.h"
#include "harness/wrapped_case.h"

namespace howard::experiments {
namespace {

using harness::Backend;
using harness::CellSource;
using harness::PointResult;

enum class Dispatched : std::uint8_t { matmul, mlp, gpt2 };
const auto kDispatched = choice_axis<Dispatched>(
    "workload", "one product, or a training step",
    {{"matmul", Dispatched::matmul}, {"mlp", Dispatched::mlp}, {"gpt2", Dispatched::gpt2}});
const auto kSize = count_axis("size", "side of the product, or width of the model");

constexpr harness::VirtualTiming kDispatchTiming{.warmup = 3, .iterations = 10};

/// Returns one product of square matrices as a step without anything to train.
Training multiply(Device& device, std::int64_t size) {
  struct Factors {
    ops::Tensor a, b;
  };
  const TensorSpec spec{.shape = {size, size}};
  const auto factors =
      std::make_shared<Factors>(Factors{ops::Tensor(device, spec), ops::Tensor(device, spec)});
  return {.step = [&factors = *factors](
                      Device& on) { return autograd::Calls(on).matmul(factors.a, factors.b); },
          .parameters = {},
          .model = factors};
}

std::unique_ptr<harness::Case> dispatched(const DevBox& box, const Point& point,
                                          chip::DispatchCoreType dispatch) {
  const Dispatched what = point[kDispatched];
  const std::int64_t size = point[kSize];
  const TrainingOptions options{.backend = Backend::emulated,
                                .dispatch = dispatch,
                                .engine = Engine::traced,
                                .as_published = what == Dispatched::gpt2};
  if (what == Dispatched::gpt2) return gpt2_case(box, options, gpt2_options(32, 1, size));
  return std::make_unique<TrainingCase>(box, options, [&](Device& device) {
    if (what == Dispatched::matmul) return multiply(device, size);
    return train_mlp(device, {.batch = 1024, .width = size}, models::MlpFunctions::by_layer);
  });
}

/// Runs a point, and for ETH compares it with the same point under WORKER.
class DispatchCase final : public harness::WrappedCase {
 public:
  DispatchCase(const DevBox& box, const Point& point)
      : WrappedCase(dispatched(box, point, point[kDispatch])) {
    using enum chip::DispatchCoreType;
    if (point[kDispatch] != eth) return;
    const chip::ChipProfile& chip = box.profiles().chip;
    worker_grid_ = text_of(chip.compute_grid(worker));
    eth_grid_ = text_of(chip.compute_grid(eth));
    const auto other = dispatched(box, point, worker);
    worker_seconds_ = measure_virtual(*other, kDispatchTiming).seconds();
    other->describe(*worker_seconds_, worker_);
  }

  void describe(double seconds, PointResult& point) const override {
    WrappedCase::describe(seconds, point);
    if (!worker_seconds_) return;
    point.metrics.push_back({.name = "gain",
                             .value = *worker_seconds_ / seconds,
                             .unit = "1",
                             .better = harness::Better::higher});
    const auto kernel = [](const PointResult& of) { return of.find_metric("kernel_time")->value; };
    point.details.emplace_back(
        "plans", fmt::format("kernels {:.1f} us on {}, {:.1f} us on {}; {} becomes {}",
                             1e6 * kernel(worker_), worker_grid_, 1e6 * kernel(point), eth_grid_,
                             *worker_.find(harness::kSlowestProduct),
                             *point.find(harness::kSlowestProduct)));
  }

 private:
  static std::string text_of(CoreGrid grid) {
    return fmt::format("{}x{}", grid.columns, grid.rows);
  }

  std::string worker_grid_, eth_grid_;  ///< The cores that compute; only ETH points have them.
  std::optional<double>
      worker_seconds_;  ///< The same point's under WORKER; only ETH points have it.
  PointResult worker_;
};

}  // namespace

Experiment dispatch_cores(const Box& box) {
  constexpr std::int64_t kWidest = 1024;
  return {
      .name = "dispatch_cores",
      .question = "When does ETH dispatch pay, for a product, an MLP and GPT-2?",
      .axes = {kDispatched.with(kDispatched.choices),
               kSize.with({"256", "384", "512", "1024", "2048", "4032", "4096"}, {"384", "512"}),
               kDispatch.with({"worker", "eth"})},
      .timing = kDispatchTiming,
      .presentation = {.timed = "a replayed product or training step, one finish after all",
                       .columns = {{"workload", CellSource::parameter, "workload"},
                                   {"size", CellSource::parameter, "size"},
                                   {"dispatch", CellSource::parameter, "dispatch"},
                                   {"time", CellSource::metric, "time"},
                                   {"ETH / WORKER speed", CellSource::metric, "gain"},
                                   {"bound by", CellSource::detail, "bound_by"},
                                   {"slowest product", CellSource::detail, "slowest_product"},
                                   {"from WORKER to ETH", CellSource::detail, "plans"}},
                       .bar_charts = {{.title = "Speed under ETH dispatch",
                                       .label = "of the speed under WORKER dispatch",
                                       .metric = "gain",
                                       .bars = {"workload", "size"},
                                       .line = 1.0}}},
      .prepare = [=](Backend, const Point& point) -> Prepared {
        if (point[kDispatched] == Dispatched::gpt2 && point[kSize] > kWidest) {
          return harness::NotApplicable{
              "as published GPT-2 has 32 copies of each weight: too many beyond 1024"};
        }
        return std::make_unique<DispatchCase>(*box, point);
      },
      .what_ifs = [](const Point& point) -> std::vector<harness::WhatIf> {
        return {
            eth_dispatch(point), pad_count(point, kSize), {"trace", {}, "it is a replay already"}};
      }};
}

}  // namespace howard::experiments
