// SPDX-License-Identifier: Apache-2.0
//
// Question: how does a training step of the MLP grow with its shape, and where does tracing stop
// paying?
//
// The report (part 1, shape table) found replays 8.1 times as fast as the dynamic engine at 256x256
// (batch x width) and 1.2 times at 4096x2048. Its 1.36 ms for the dynamic engine at 256x256 are
// more than the same calls took at 1024x512, though the host bounds both, so "8x" is an artefact.
// And the two engines do not run the same calls: the dynamic one has 33 launches, the traced one
// 25, so their ratio does not fall to 1. A replay saves host time and nothing else. It stops paying
// when the kernels of the same calls take as long as the host needs to make them.
//
// The experiment looks for that batch at each width: from there on, the static engine is less than
// 5 % slower than a replay of its own calls (`pays_below`).
//
// Timing: two layers. 5 steps warm up and 20 are timed, with one finish at the end; the result is
// the mean.

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "experiments/cases/kernel_account.h"
#include "experiments/cases/mlp_case.h"
#include "experiments/cases/training_case.h"
#include "experiments/experiment.h"
#include "experiments/questions/what_ifs.h"
#include "harness/measurement.h"
#include "harness/wrapped_case.h"

namespace howard::experiments {
namespace {

using harness::Backend;
using harness::CellSource;
using harness::Parameters;
using harness::PointResult;

constexpr harness::VirtualTiming kSweepTiming{.warmup = 5, .iterations = 20};
constexpr double kPays = 1.05;
constexpr std::int64_t kTile = 32;
constexpr std::int64_t kMostTiles = 512;

/// Returns how many times as long as a replay `engine` takes, on the emulator.
double gain_over(const DevBox& box, Engine engine, const Parameters& parameters) {
  const auto time = [&](Engine each) {
    const Parameters with = harness::changed(parameters, {kEngine.at(each)});
    return measure_virtual(*mlp_case(box, Backend::emulated, with), kSweepTiming).seconds();
  };
  const double slow = time(engine);
  return slow / time(Engine::traced);
}

/// Returns the smallest batch, in tiles, from which on a replay of the same calls gains nothing;
/// absent if it still gains at the largest.
std::optional<std::int64_t> tiles_without_gain(const DevBox& box, std::int64_t dim,
                                               chip::DispatchCoreType dispatch) {
  const auto pays = [&](std::int64_t tiles) {
    return gain_over(box, Engine::static_step,
                     {kEngine.at(Engine::static_step), kVariant.at(Variant::corrected),
                      kBatch.at(tiles * kTile), kDim.at(dim), kDispatch.at(dispatch)}) > kPays;
  };
  if (pays(kMostTiles)) return std::nullopt;
  std::int64_t low = 0;
  std::int64_t high = kMostTiles;
  while (high - low > 1) {
    const std::int64_t middle = (low + high) / 2;
    (pays(middle) ? low : high) = middle;
  }
  return high;
}

/// Runs a step and says what a replay on the emulator gains.
class ShapeCase final : public harness::WrappedCase {
 public:
  ShapeCase(const DevBox& box, Backend backend, const Point& point)
      : WrappedCase(mlp_case(box, backend, point)),
        batch_(static_cast<double>(point[kBatch])),
        dim_(static_cast<double>(point[kDim])),
        replays_(backend == Backend::emulated && point[kEngine] == Engine::traced &&
                 point[kQueues] == 1) {
    if (!replays_) return;
    gain_ = gain_over(box, Engine::dynamic, point.parameters());
    pays_below_ = tiles_without_gain(box, point[kDim], point[kDispatch]);
  }

  void describe(double seconds, PointResult& point) const override {
    WrappedCase::describe(seconds, point);
    // There are five products, two forward and three backward.
    point.metrics.push_back({.name = "work", .value = 10 * batch_ * dim_ * dim_, .unit = "FLOP"});
    if (!replays_) return;
    point.metrics.push_back(
        {.name = "gain", .value = gain_, .unit = "1", .better = harness::Better::higher});
    point.details.emplace_back("pays_below", text_of(pays_below_));
  }

 private:
  static std::string text_of(std::optional<std::int64_t> tiles) {
    if (!tiles) return fmt::format("every batch up to {}", kMostTiles * kTile);
    return *tiles == 1 ? "no batch" : fmt::format("batch {}", *tiles * kTile);
  }

  double batch_, dim_;
  bool replays_;
  double gain_ = 0;                         ///< A replay's gain over the dynamic engine.
  std::optional<std::int64_t> pays_below_;  ///< Tiles of rows; only a replay has them.
};

harness::Presentation shape_presentation() {
  return {.timed = step_timed(kSweepTiming),
          .timed_on_host = kStepTimedOnHost,
          .columns = {{"engine", CellSource::parameter, "engine"},
                      {"variant", CellSource::parameter, "variant"},
                      {"batch", CellSource::parameter, "batch"},
                      {"dim", CellSource::parameter, "dim"},
                      {"time", CellSource::metric, "time"},
                      expected_error_column(),
                      {"published", CellSource::reference, ""},
                      {"error", CellSource::error, ""},
                      {"host", CellSource::metric, "host_time"},
                      {"bound by", CellSource::detail, "bound_by"},
                      {"dynamic / traced", CellSource::metric, "gain"},
                      {"tracing pays below", CellSource::detail, "pays_below"},
                      {"loss", CellSource::detail, "loss"}},
          .plots = {{.title = "A training step of an MLP by its products' work",
                     .x_label = "work of its products",
                     .y_label = "time",
                     .x = "work",
                     .y = "time",
                     .series = {"engine", "dim"}},
                    {.title = "What a replay gains over the dynamic engine",
                     .x_label = "work of its products",
                     .y_label = "dynamic / traced",
                     .x = "work",
                     .y = "gain",
                     .series = {"dim"},
                     .ratio = true}}};
}

}  // namespace

Experiment shape_sweep(const Box& box) {
  const auto axes_on = [](Backend backend) {
    using Values = std::vector<std::string>;
    const auto sizes = [&](const Values& chip) {
      return backend == Backend::emulated ? chip : Values{"256", "512"};
    };
    std::vector<harness::Axis> axes{
        kEngine.of("the C++ engine that makes the calls of a step", {"dynamic", "static", "traced"},
                   {"dynamic", "traced"}),
        kVariant.with({"as_published"}),
        kBatch.with(sizes({"256", "512", "1024", "2048", "4096"}), {"256"}),
        kDim.means("width of both layers")
            .with(sizes({"256", "512", "1024", "2048"}), {"256", "512"})};
    add_training_axes(axes, backend, {"worker"});
    return axes;
  };
  return {.name = "shape_sweep",
          .question = "At which shapes of an MLP does tracing a training step stop paying?",
          .axes = axes_on(Backend::emulated),
          .host_axes = axes_on(Backend::host),
          .timing = kSweepTiming,
          .presentation = shape_presentation(),
          .prepare = [=](Backend backend, const Point& point) -> Prepared {
            if (auto reason = missing_cores(box->profiles().chip, point)) {
              return harness::NotApplicable{std::move(*reason)};
            }
            return std::make_unique<ShapeCase>(*box, backend, point);
          },
          .what_ifs = [=](const Point& point) { return mlp_what_ifs(*box, point); }};
}

}  // namespace howard::experiments
