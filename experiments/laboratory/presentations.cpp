// SPDX-License-Identifier: Apache-2.0
#include "experiments/laboratory/presentations.h"

#include <algorithm>

#include "experiments/questions/tuning_report.h"
#include "reports/findings/explanation.h"

namespace howard::experiments {
namespace {

using harness::CellSource;
using harness::ExperimentResult;
using harness::Presentation;

Presentation generation_presentation() {
  return {.timed = "a token behind the first",
          .columns = {{"model", CellSource::parameter, "model"},
                      {"tokens of the prompt", CellSource::parameter, "prompt"},
                      {"tokens written", CellSource::parameter, "tokens"},
                      {"cache", CellSource::parameter, "cache"},
                      {"prompt", CellSource::metric, "prefill"},
                      {"token", CellSource::metric, "time"},
                      {"tokens/s", CellSource::metric, "tokens"}}};
}

/// Returns columns for everything that the result holds.
Presentation all_of(const ExperimentResult& result) {
  Presentation presentation;
  const auto add = [&](CellSource source, const std::string& name) {
    const bool known = std::ranges::any_of(presentation.columns, [&](const auto& column) {
      return column.source == source && column.name == name;
    });
    if (!known) presentation.columns.push_back({.title = name, .source = source, .name = name});
  };
  for (const harness::PointResult& point : result.points) {
    for (const auto& [axis, value] : point.parameters) add(CellSource::parameter, axis);
  }
  for (const harness::PointResult& point : result.points) {
    for (const harness::Metric& metric : point.metrics) add(CellSource::metric, metric.name);
  }
  return presentation;
}

}  // namespace

Presentation training_presentation() {
  return {.timed = "a training step",
          .columns = {{"engine", CellSource::parameter, "engine"},
                      {"steps done", CellSource::detail, "steps_done"},
                      {"loss", CellSource::metric, "loss"},
                      {"time", CellSource::metric, "time"},
                      {"tokens/s", CellSource::metric, "tokens"},
                      {"memory", CellSource::metric, "memory"},
                      {"data", CellSource::detail, "data"}}};
}

Presentations::Presentations() {
  for (const auto& experiment : laboratory_.experiments()) {
    known_.push_back({std::string(experiment->name()),
                      {std::string(experiment->question()), experiment->presentation()}});
  }
  using enum harness::CommandResult;
  known_.push_back({name_of(train), {"How does a training go?", training_presentation()}});
  known_.push_back({name_of(generate), {"How fast is text written?", generation_presentation()}});
  known_.push_back({name_of(explain), {"", reports::explanation_presentation()}});
  known_.push_back({name_of(tune), {"", tuning_presentation()}});
}

Shown Presentations::of(const ExperimentResult& result) const {
  const auto known = std::ranges::find(known_, result.experiment, &Known::name);
  Shown shown = known == known_.end() ? Shown{"", all_of(result)} : known->shown;
  if (result.points.empty()) return shown;
  // Axes that are constants of the chip were swept.
  for (const auto& [axis, value] : result.points.front().parameters) {
    if (axis.find('.') != std::string::npos) shown.presentation.swept.push_back(axis);
  }
  return shown;
}

bool Presentations::is_experiment(std::string_view name) const {
  return std::ranges::any_of(laboratory_.experiments(),
                             [&](const auto& experiment) { return experiment->name() == name; });
}

void Presentations::sort(std::vector<ExperimentResult>& results) const {
  std::ranges::stable_sort(results, {}, [&](const ExperimentResult& result) {
    return std::ranges::find(known_, result.experiment, &Known::name) - known_.begin();
  });
}

}  // namespace howard::experiments
