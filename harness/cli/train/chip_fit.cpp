// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/train/chip_fit.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "engines/training/memory_need.h"
#include "experiments/training_plan/fit.h"
#include "experiments/training_plan/plan_search.h"
#include "experiments/training_plan/plan_tables.h"
#include "harness/cli/command/shared_options.h"

namespace howard::cli {
namespace {

using experiments::RunPlan;
using experiments::RunSetting;

/// Returns a rough figure of the DRAM of a chip, which tells small runs from others in no time. A
/// block keeps some ten activations, of which the widest are four or eight times the model's width.
double rough_need(const RunSetting& setting) {
  constexpr double kBytesOfActivations = 64;
  const training::Recipe& recipe = setting.recipe;
  const training::MemoryNeed need = training::memory_need(recipe, setting.vocabulary, false);
  const double tokens =
      static_cast<double>(recipe.model.batch) * static_cast<double>(recipe.model.sequence);
  return need.tensors + need.sequences +
         kBytesOfActivations * tokens * static_cast<double>(recipe.model.width) *
             recipe.model.layers;
}

std::string gibibytes_of(Bytes bytes) {
  return fmt::format("{:.2f} GiB", static_cast<double>(bytes.value()) / (1 << 30));
}

/// Returns the fastest settings that fit, on as many chips if there are some.
std::string settings_that_fit(const RunPlan& plan, const chip::Profiles& profiles) {
  const std::vector<RunPlan> others = experiments::search_settings(plan.setting, profiles);
  const RunPlan* const best = experiments::best_that_fits(plan, others);
  if (best == nullptr) return "a smaller model, shorter sequences or more chips";
  const int chips = best->setting.chips();
  return fmt::format("on {} chip{}: {}", chips, chips == 1 ? "" : "s",
                     experiments::options_text(*best));
}

}  // namespace

void require_fitting_chip(const TrainOptions& options, std::int64_t vocabulary) {
  if (options.backend != harness::Backend::emulated) return;
  const chip::Profiles profiles = read_settings(options.profiles, chip::load_profiles);
  const RunSetting setting{.recipe = options.recipe,
                           .vocabulary = vocabulary,
                           .plan = options.plan.value_or(training::MeshPlan{})};
  const auto capacity = static_cast<double>(profiles.chip.dram_capacity.value());
  if (rough_need(setting) < capacity / 4 || !experiments::is_plannable(setting.recipe)) return;
  const RunPlan plan = experiments::plan_run(setting, profiles);
  if (!plan.clash.empty() || plan.fits()) return;  // a clash is the kernel's own error
  throw Error(
      {.attempted = fmt::format("train on {}", profiles.chip.name),
       .value = fmt::format("it needs {} of DRAM, {} more than a chip has", gibibytes_of(plan.peak),
                            gibibytes_of(plan.peak - plan.capacity)),
       .accepted = settings_that_fit(plan, profiles),
       .hint = "run_experiment fit with these files, which says what holds the memory"});
}

}  // namespace howard::cli
