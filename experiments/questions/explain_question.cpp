// SPDX-License-Identifier: Apache-2.0
#include "experiments/questions/explain_question.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "engines/chip/profiles/choice_text.h"
#include "experiments/questions/explain.h"
#include "experiments/training_plan/fit.h"
#include "harness/runner.h"

namespace howard::experiments {
namespace {

using harness::AxisOverride;

/// Describes a workload by its shapes: an experiment, and values for axes that nobody sets.
struct ShapedWorkload {
  std::string_view word;
  std::string_view experiment;
  std::string_view axes;
};
constexpr std::array kShapedWorkloads{
    ShapedWorkload{"matmul", "matmul_sweep", ""},
    ShapedWorkload{"mlp", "mlp_engines", "engine=dynamic variant=corrected"},
    ShapedWorkload{"gpt2", "gpt2_trace", "engine=static variant=corrected"},
    ShapedWorkload{"ops", "op_list", ""},
};

std::vector<AxisOverride> explained_axes(const std::vector<std::string>& texts) {
  std::vector<AxisOverride> axes = harness::parse_axis_overrides(texts);
  for (const AxisOverride& axis : axes) {
    if (axis.values.size() == 1) continue;
    throw Error({.attempted = "explain several points: explain takes one point",
                 .value = fmt::format("{} has {} values: {}", axis.axis, axis.values.size(),
                                      join(axis.values, ",")),
                 .accepted = "one value"});
  }
  return axes;
}

bool gives(const std::vector<AxisOverride>& axes, std::string_view axis) {
  return std::ranges::find(axes, axis, &AxisOverride::axis) != axes.end();
}

/// These are the sizes of A[m,k] B[k,n], in the order in which the axis shape has them.
constexpr std::array<std::string_view, 3> kProductSizes{"m", "k", "n"};

/// Removes the value that was given for `axis`, and returns it.
std::optional<std::string> take_value(std::vector<AxisOverride>& axes, std::string_view axis) {
  const auto found = std::ranges::find(axes, axis, &AxisOverride::axis);
  if (found == axes.end()) return std::nullopt;
  std::string value = found->values.front();
  axes.erase(found);
  return value;
}

/// m, k and n are the sizes of A[m,k] B[k,n], which the experiment knows as one shape.
void join_shape(std::vector<AxisOverride>& axes) {
  const auto m = take_value(axes, kProductSizes[0]), k = take_value(axes, kProductSizes[1]),
             n = take_value(axes, kProductSizes[2]);
  if (!m && !k && !n) return;
  if (gives(axes, "shape")) {
    throw Error({.attempted = "explain a product",
                 .value = "the sizes of the product are given twice, by shape and by m, k and n",
                 .accepted = "one of the two spellings"});
  }
  if (!m || !k || !n) {
    throw Error({.attempted = "explain a product",
                 .value = "A[m,k] B[k,n] has three sizes, and not all are given",
                 .hint = "-a m=1024 -a k=512 -a n=512"});
  }
  axes.push_back({"shape", {*m + "x" + *k + "x" + *n}});
}

const harness::Experiment& find_explained(const ExperimentList& list, const std::string& name,
                                          std::string_view verb) {
  const auto found = std::ranges::find_if(
      list, [&](const auto& experiment) { return experiment->name() == name; });
  if (found != list.end()) return **found;
  std::vector<std::string> words;
  for (const ShapedWorkload& workload : kShapedWorkloads) words.emplace_back(workload.word);
  for (const auto& experiment : list) words.emplace_back(experiment->name());
  const auto suggestion = closest(name, words);
  throw Error({.attempted = fmt::format("{} '{}'", verb, name),
               .value = "there is no workload or experiment of that name",
               .accepted = suggestion ? ""
                                      : "matmul, mlp, gpt2, ops, the name of an experiment, or a "
                                        "file, as that of a training (.yaml)",
               .hint = suggestion.value_or("")});
}

/// Returns the experiment that the question means, and its `axes`.
const harness::Experiment& understand(const ExplainQuestion& question, const ExperimentList& list,
                                      std::vector<AxisOverride>& axes) {
  axes = explained_axes(question.axes);
  const bool has_sizes =
      std::ranges::any_of(kProductSizes, [&](std::string_view size) { return gives(axes, size); });
  if (question.what.empty() && !has_sizes) {
    throw Error({.attempted = "explain a point",
                 .value = "there is nothing to explain",
                 .hint = "run_experiment explain matmul -a m=1024 -a k=512 -a n=512"});
  }
  if (question.what.ends_with(".json")) {
    // It is a recorded program, named by its file. What its first calls take, it takes once.
    axes.push_back({"file", {question.what}});
    if (!gives(axes, "first_calls")) axes.push_back({"first_calls", {"known"}});
    return find_explained(list, "workload", question.verb);
  }
  if (names_training(question.what)) {
    for (const auto& [axis, value] :
         shared_as(question.what, described_run(question.what).setting)) {
      if (!gives(axes, axis)) axes.push_back({axis, {value}});
    }
    return find_explained(list, "parallel", question.verb);
  }
  const std::string name = question.what.empty() ? "matmul" : question.what;
  const auto workload = std::ranges::find(kShapedWorkloads, name, &ShapedWorkload::word);
  if (workload == kShapedWorkloads.end()) return find_explained(list, name, question.verb);
  if (workload->word == "matmul") join_shape(axes);
  for (const std::string& text : split(workload->axes, ' ')) {
    if (text.empty()) continue;
    AxisOverride preset = harness::parse_axis_override(text);
    if (!gives(axes, preset.axis)) axes.push_back(std::move(preset));
  }
  return find_explained(list, std::string(workload->experiment), question.verb);
}

std::string option_of(std::string_view axis, std::string_view value) {
  return shell_word(fmt::format("{}={}", axis, value));
}

/// Returns the command that asks for `point` and no other, in the words of `question`. It has a
/// value for each axis with several values.
std::string command_for(const ExplainQuestion& question, const harness::Experiment& experiment,
                        const harness::Parameters& point) {
  std::string command = "run_experiment explain";
  if (!question.what.empty()) command += " " + question.what;
  for (const std::string& axis : question.axes) command += " -a " + shell_word(axis);
  const std::vector<AxisOverride> given = explained_axes(question.axes);
  for (const harness::Axis& axis : experiment.axes(harness::Backend::emulated)) {
    const bool sizes = axis.name == "shape" && gives(given, kProductSizes[0]);
    const std::string_view value = harness::find_parameter(point, axis.name).value_or("");
    const bool said = gives(given, axis.name) || sizes || value == question.what;
    if (axis.values.size() > 1 && !said) command += " -a " + option_of(axis.name, value);
  }
  return command + chip::options_text(question.profiles);
}

/// Returns `changes` of `point` as options of such a command. Sizes are named as in the command.
std::string options_for(const harness::Parameters& changes, const harness::Parameters& point,
                        bool has_sizes) {
  std::vector<std::string> words;
  for (const auto& [axis, value] : changes) {
    if (axis != "shape" || !has_sizes) {
      words.push_back("-a " + option_of(axis, value));
      continue;
    }
    const std::vector<std::string> before = split(*harness::find_parameter(point, axis), 'x');
    const std::vector<std::string> after = split(value, 'x');
    for (std::size_t i = 0; i < kProductSizes.size(); ++i) {
      if (before.at(i) != after.at(i))
        words.push_back("-a " + option_of(kProductSizes.at(i), after.at(i)));
    }
  }
  return join(words, " ");
}

/// Says how to repeat each of the runs.
void add_commands(const ExplainQuestion& question, const harness::Experiment& experiment,
                  reports::Explanation& explanation) {
  explanation.command = command_for(question, experiment, explanation.parameters);
  const bool has_sizes = gives(explained_axes(question.axes), kProductSizes[0]);
  for (reports::TriedChange& change : explanation.tried) {
    change.how = options_for(change.changes, explanation.parameters, has_sizes);
  }
}

}  // namespace

harness::Parameters first_that_runs(const PlannedExperiment& planned) {
  std::optional<std::string> reason;
  for (const harness::PointResult& point : planned.points) {
    const auto prepared = planned.experiment->prepare(harness::Backend::emulated, point.parameters);
    const auto* const left_out = std::get_if<harness::NotApplicable>(&prepared);
    if (left_out == nullptr) return point.parameters;
    if (!reason) reason = left_out->reason;
  }
  throw Error({.attempted = fmt::format("run {}", planned.experiment->name()),
               .value = *reason,
               .hint = fmt::format("run_experiment list {}", planned.experiment->name())});
}

std::vector<std::string> explained_workloads() {
  std::vector<std::string> words;
  for (const ShapedWorkload& workload : kShapedWorkloads) words.emplace_back(workload.word);
  return words;
}

std::string experiment_of_workload(const std::string& name) {
  const auto workload = std::ranges::find(kShapedWorkloads, name, &ShapedWorkload::word);
  return workload == kShapedWorkloads.end() ? name : std::string(workload->experiment);
}

PlannedExperiment plan_explanation(const ExplainQuestion& question, const ExperimentList& list) {
  try {
    std::vector<AxisOverride> axes;
    const harness::Experiment& experiment = understand(question, list, axes);
    if (!is_explained(experiment)) {
      throw Error({.attempted = fmt::format("{} {}", question.verb, experiment.name()),
                   .value = "it times nothing on the emulator"});
    }
    return {&experiment, harness::plan_points(experiment, {.backends = {harness::Backend::emulated},
                                                           .overrides = std::move(axes)})};
  } catch (const Error& failure) {
    throw BadRequest(failure.text());
  }
}

PlannedExperiment plan_explanation(const ExplainQuestion& question,
                                   const harness::Experiment& experiment) {
  return {&experiment,
          harness::plan_points(experiment, {.backends = {harness::Backend::emulated},
                                            .overrides = explained_axes(question.axes)})};
}

reports::Explanation answer(const DevBox& box, const ExplainQuestion& question,
                            const PlannedExperiment& planned) {
  reports::Explanation explanation = explain(box, *planned.experiment, first_that_runs(planned));
  add_commands(question, *planned.experiment, explanation);
  return explanation;
}

}  // namespace howard::experiments
