// SPDX-License-Identifier: Apache-2.0
#include "experiments/training_plan/planned_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "experiments/cases/training_case.h"
#include "experiments/experiment.h"
#include "experiments/training_plan/emulated_run.h"

namespace howard::experiments {
namespace {

class StepCase final : public harness::Case {
 public:
  StepCase(const DevBox& box, const RunSetting& setting)
      : run_(setting, box.profiles(), box.chip_memory()) {
    static_cast<void>(run_.update());
    plan_ = complete_plan(run_.planned_update(), setting, box.profiles());
  }

  void run() override { static_cast<void>(run_.update()); }
  void finish() override {}  // an update ends with one
  SimTime now() const override { return run_.chip().now(); }
  void set_trace_sink(EventSink* sink) override { run_.set_trace_sink(sink); }
  void describe(double /*seconds*/, harness::PointResult& point) const override {
    point.add(
        harness::kTimed,
        "a training step with its data, whose loss is read, from an idle chip to an idle chip");
    experiments::describe(plan_, point);
  }

 private:
  EmulatedRun run_;
  RunPlan plan_;
};

/// Returns the name of what takes most of a step.
std::string largest_part(const profiler::StepTimes& step) {
  const std::string_view name =
      std::ranges::max(step.parts(), {}, [](const auto& part) { return part.second; }).first;
  return name == "compute" ? "kernels" : std::string(name);
}

}  // namespace

void describe(const RunPlan& plan, harness::PointResult& point) {
  using harness::Better;
  const profiler::StepTimes& step = plan.step;
  const double seconds = step.time.seconds();
  const auto add = [&](std::string name, double value, std::string unit, Better better) {
    point.metrics.push_back(
        {.name = std::move(name), .value = value, .unit = std::move(unit), .better = better});
  };
  for (const auto& [name, part] : step.parts()) {
    point.metrics.push_back(exact_time(fmt::format("{}{}", kStepTimes, name), part));
  }
  add("chips", plan.setting.chips(), "chips", Better::lower);
  add("tokens", plan.tokens_per_second(), "1/s", Better::higher);
  add("mfu", plan.share_of_peak(), "1", Better::higher);
  add("memory", static_cast<double>(plan.peak.value()), "B", Better::lower);
  const Bytes over = plan.peak - plan.capacity;
  point.add(harness::kShortage,
            plan.fits()
                ? ""
                : fmt::format("over by {:.1f} GB", 1e-9 * static_cast<double>(over.value())));
  if (plan.launches() == 0) {
    point.add(harness::kBoundBy, largest_part(step));
    return;
  }
  const double rate = static_cast<double>(plan.computed.value()) / seconds;
  constexpr int kHifi2 = 2;  // passes over the mantissa take half of HiFi4's time
  add("throughput", rate, "FLOP/s", Better::higher);
  add("share_of_peak", rate / (kHifi2 * plan.peak_flops * plan.setting.chips()), "1",
      Better::higher);
  point.details.emplace_back("calls", std::to_string(plan.calls));
  point.details.emplace_back("launches", std::to_string(plan.launches()));
  plan.kernels.describe(seconds, plan.host, point, &plan.exchanges, step.exchange + step.sums);
  if (!plan.kernels.slowest_product().empty()) {
    point.add(harness::kSlowestProduct, plan.kernels.slowest_product());
  }
}

std::unique_ptr<harness::Case> ttml_case(const DevBox& box, harness::Backend backend,
                                         const Point& point, const training::Recipe& recipe) {
  TrainingOptions options = training_options(backend, point);
  options.as_published = false;
  options.reads_loss = true;
  if (backend == harness::Backend::host) {
    return std::make_unique<TrainingCase>(
        box, options, [&](Device& device) { return train_ttml(device, recipe); });
  }
  const bool is_static = options.engine == Engine::static_step;
  return std::make_unique<StepCase>(
      box, RunSetting{.recipe = recipe,
                      .vocabulary = recipe.model.vocabulary,
                      .engine = is_static                          ? training::Engine::static_step
                                : options.engine == Engine::traced ? training::Engine::traced
                                                                   : training::Engine::dynamic,
                      .dispatch = options.dispatch});
}

}  // namespace howard::experiments
