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

#include "experiments/axes/axes.h"
#include "experiments/cases/known_time.h"
#include "experiments/cases/mlp_case.h"
#include "experiments/cases/training_case.h"
#include "experiments/laboratory/devbox.h"
#include "experiments/laboratory/experiment_list.h"
#include "experiments/questions/what_ifs.h"
#include "harness/measurement.h"
#include "harness/wrapped_case.h"

namespace howard::experiments {
namespace {

using harness::Backend;
using harness::CellSource;
using harness::NotApplicable;
using harness::Parameters;
using harness::PointResult;

constexpr harness::VirtualTiming kSweepTiming{.warmup = 5, .iterations = 20};
constexpr double kPays = 1.05;
constexpr std::int64_t kTile = 32;
constexpr std::int64_t kMostTiles = 512;

/// Returns how many times as long as a replay `engine` takes, on the emulator.
double gain_over(const DevBox& box, std::string_view engine, Parameters parameters) {
  const auto time = [&](std::string_view each) {
    for (auto& [axis, value] : parameters) {
      if (axis == "engine") value = each;
    }
    return measure_virtual(*mlp_case(box, Backend::emulated, parameters), kSweepTiming).seconds();
  };
  const double slow = time(engine);
  return slow / time("traced");
}

/// Returns the smallest batch, in tiles, from which on a replay of the same calls gains nothing;
/// absent if it still gains at the largest.
std::optional<std::int64_t> tiles_without_gain(const DevBox& box, std::string_view dim,
                                               std::string_view dispatch) {
  const auto pays = [&](std::int64_t tiles) {
    return gain_over(box, "static",
                     {{"engine", "static"},
                      {"variant", "corrected"},
                      {"batch", std::to_string(tiles * kTile)},
                      {"dim", std::string(dim)},
                      {"dispatch", std::string(dispatch)}}) > kPays;
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
  ShapeCase(const std::shared_ptr<const DevBox>& box, Backend backend, Parameters parameters)
      : WrappedCase(mlp_case(*box, backend, parameters)),
        parameters_(std::move(parameters)),
        replays_(backend == Backend::emulated && value("engine") == "traced" &&
                 parameter_or(parameters_, "queues", "1") == "1") {
    if (!replays_) return;
    gain_ = gain_over(*box, "dynamic", parameters_);
    pays_below_ = tiles_without_gain(*box, value("dim"), value("dispatch"));
  }

  void describe(double seconds, PointResult& point) const override {
    WrappedCase::describe(seconds, point);
    const auto batch = static_cast<double>(count_of(parameters_, "batch"));
    const auto dim = static_cast<double>(count_of(parameters_, "dim"));
    // There are five products, two forward and three backward.
    point.metrics.push_back({.name = "work", .value = 10 * batch * dim * dim, .unit = "FLOP"});
    if (!replays_) return;
    point.metrics.push_back(
        {.name = "gain", .value = gain_, .unit = "1", .better = harness::Better::higher});
    point.details.emplace_back("pays_below", text_of(pays_below_));
  }

 private:
  std::string_view value(std::string_view axis) const {
    return *harness::find_parameter(parameters_, axis);
  }
  static std::string text_of(std::optional<std::int64_t> tiles) {
    if (!tiles) return fmt::format("every batch up to {}", kMostTiles * kTile);
    return *tiles == 1 ? "no batch" : fmt::format("batch {}", *tiles * kTile);
  }

  Parameters parameters_;
  bool replays_;
  double gain_ = 0;                         ///< A replay's gain over the dynamic engine.
  std::optional<std::int64_t> pays_below_;  ///< Tiles of rows; only a replay has them.
};

class ShapeSweep final : public harness::Experiment {
 public:
  explicit ShapeSweep(std::shared_ptr<const DevBox> box) : box_(std::move(box)) {}

  std::string_view name() const override { return "shape_sweep"; }
  std::string_view question() const override {
    return "At which shapes of an MLP does tracing a training step stop paying?";
  }

  std::vector<harness::Axis> axes(Backend backend) const override {
    const bool emulated = backend == Backend::emulated;
    const auto sizes = [&](std::vector<std::string> chip) {
      return emulated ? std::move(chip) : std::vector<std::string>{"256", "512"};
    };
    std::vector<harness::Axis> axes{
        harness::word_axis("engine", "the C++ engine that makes the calls of a step",
                           {"dynamic", "static", "traced"}, {"dynamic", "traced"}),
        variant_axis("the calls and buffers of the released code, or the same for all engines",
                     {"as_published"}),
        count_axis("batch", "rows of the input", sizes({"256", "512", "1024", "2048", "4096"}),
                   {"256"}),
        count_axis("dim", "width of both layers", sizes({"256", "512", "1024", "2048"}),
                   {"256", "512"})};
    add_training_axes(axes, backend, {"worker"});
    return axes;
  }

  std::vector<harness::WhatIf> what_ifs(const Parameters& parameters) const override {
    return mlp_what_ifs(*box_, parameters);
  }

  harness::VirtualTiming timing() const override { return kSweepTiming; }

  harness::Presentation presentation() const override {
    return {.timed = kStepTimed,
            .timed_on_host = kStepTimedOnHost,
            .columns = {{"engine", CellSource::parameter, "engine"},
                        {"variant", CellSource::parameter, "variant"},
                        {"batch", CellSource::parameter, "batch"},
                        {"dim", CellSource::parameter, "dim"},
                        {"time", CellSource::metric, "time"},
                        mean_error_column(),
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
                       .series = {"dim"}}}};
  }

  std::variant<std::unique_ptr<harness::Case>, NotApplicable> prepare(
      Backend backend, const Parameters& parameters) const override {
    if (auto reason = missing_cores(box_->profiles().chip, parameters)) {
      return NotApplicable{std::move(*reason)};
    }
    return std::make_unique<ShapeCase>(box_, backend, parameters);
  }

 private:
  std::shared_ptr<const DevBox> box_;
};

}  // namespace

std::unique_ptr<harness::Experiment> shape_sweep(std::shared_ptr<const DevBox> box) {
  return std::make_unique<ShapeSweep>(std::move(box));
}

}  // namespace howard::experiments
