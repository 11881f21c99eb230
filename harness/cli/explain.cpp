// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "experiments/all.h"
#include "experiments/explain.h"
#include "harness/cli/chip_context.h"
#include "harness/cli/command_line.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/manual.h"
#include "harness/cli/options.h"
#include "harness/cli/outputs.h"
#include "harness/cli/picture_options.h"
#include "harness/environment.h"
#include "harness/runner.h"

namespace howard::cli {

extern const std::string_view kExplainHelp;  // explain_help.md, compiled in by the build

namespace {

using harness::AxisOverride;
using harness::Experiment;
using harness::Parameters;

/// A workload by its shapes: an experiment, and values for axes that nobody sets.
struct Workload {
  std::string_view word;
  std::string_view experiment;
  std::string_view axes;
};
constexpr std::array kWorkloads{
    Workload{"matmul", "matmul_sweep", ""},
    Workload{"mlp", "mlp_engines", "engine=dynamic variant=corrected"},
    Workload{"gpt2", "gpt2_trace", "engine=static variant=corrected"},
    Workload{"ops", "op_list", ""},
};

struct ExplainOptions {
  std::vector<std::string> names;
  std::vector<std::string> axes;
  Options outputs;  ///< Profiles, color and where results go.
  bool help = false;
};

ExplainOptions explain_options(int argc, const char* const* argv) {
  CLI::App app;
  ExplainOptions options;
  app.set_help_flag();
  app.add_flag("-h,--help", options.help);
  std::vector<std::string> workloads;
  for (const Workload& workload : kWorkloads) workloads.emplace_back(workload.word);
  app.add_option("names", options.names, join(workloads, ","));
  app.add_option("-a,--axis", options.axes)->allow_extra_args(false);
  app.add_option("--profile", options.outputs.profiles.profiles)->allow_extra_args(false);
  app.add_option("--set", options.outputs.profiles.settings)->allow_extra_args(false);
  app.add_option("--results", options.outputs.results);
  app.add_option("--json", options.outputs.json);
  app.add_option("--csv", options.outputs.csv);
  app.add_option("--md", options.outputs.markdown);
  add_picture_options(app, options.outputs.canvas);
  add_color_option(app, options.outputs.color);
  parse_command_line(app, argc, argv);
  if (!options.help && options.names.size() > 1) {
    throw UsageError(fmt::format("explain takes one workload or experiment, not {}",
                                 join(options.names, " and ")));
  }
  return options;
}

std::vector<AxisOverride> parse_axes(const std::vector<std::string>& texts) {
  std::vector<AxisOverride> axes = harness::parse_axis_overrides(texts);
  for (const AxisOverride& axis : axes) {
    if (axis.values.size() == 1) continue;
    throw UsageError(fmt::format("explain takes one point, and {} has {} values: {}", axis.axis,
                                 axis.values.size(), join(axis.values, ",")));
  }
  return axes;
}

bool gives(const std::vector<AxisOverride>& axes, std::string_view axis) {
  return std::ranges::find(axes, axis, &AxisOverride::axis) != axes.end();
}

/// The sizes of A[m,k] B[k,n], in the order in which the axis shape has them.
constexpr std::array<std::string_view, 3> kSizes{"m", "k", "n"};

/// Removes the value that was given for `axis`.
std::optional<std::string> take(std::vector<AxisOverride>& axes, std::string_view axis) {
  const auto found = std::ranges::find(axes, axis, &AxisOverride::axis);
  if (found == axes.end()) return std::nullopt;
  std::string value = found->values.front();
  axes.erase(found);
  return value;
}

/// m, k and n are the sizes of A[m,k] B[k,n], which the experiment knows as one shape.
void join_shape(std::vector<AxisOverride>& axes) {
  const auto m = take(axes, kSizes[0]), k = take(axes, kSizes[1]), n = take(axes, kSizes[2]);
  if (!m && !k && !n) return;
  if (gives(axes, "shape")) {
    throw UsageError(
        "the sizes of the product are given twice, by shape and by m, k and n; accepted: one of "
        "the two spellings");
  }
  if (!m || !k || !n) {
    throw UsageError("a product A[m,k] B[k,n] has three sizes; try -a m=1024 -a k=512 -a n=512");
  }
  axes.push_back({"shape", {*m + "x" + *k + "x" + *n}});
}

const Experiment& find(const experiments::ExperimentList& list, const std::string& name) {
  const auto found = std::ranges::find_if(
      list, [&](const auto& experiment) { return experiment->name() == name; });
  if (found != list.end()) return **found;
  std::vector<std::string> words;
  for (const Workload& workload : kWorkloads) words.emplace_back(workload.word);
  for (const auto& experiment : list) words.emplace_back(experiment->name());
  const auto suggestion = closest(name, words);
  throw UsageError(fmt::format("unknown workload or experiment '{}'; {}", name,
                               suggestion
                                   ? "did you mean " + *suggestion + "?"
                                   : "matmul, mlp, gpt2, ops, or one of run_experiment list"));
}

/// The experiment and the axes that `options` mean.
const Experiment& understand(const ExplainOptions& options, const experiments::ExperimentList& list,
                             std::vector<AxisOverride>& axes) {
  axes = parse_axes(options.axes);
  const bool has_sizes =
      std::ranges::any_of(kSizes, [&](std::string_view size) { return gives(axes, size); });
  if (options.names.empty() && !has_sizes) {
    throw UsageError(
        "nothing to explain; try run_experiment explain matmul -a m=1024 -a k=512 -a n=512");
  }
  const std::string name = options.names.empty() ? "matmul" : options.names.front();
  const auto workload = std::ranges::find(kWorkloads, name, &Workload::word);
  if (workload == kWorkloads.end()) return find(list, name);
  if (workload->word == "matmul") join_shape(axes);
  for (const std::string& text : split(workload->axes, ' ')) {
    if (text.empty()) continue;
    AxisOverride preset = harness::parse_axis_override(text);
    if (!gives(axes, preset.axis)) axes.push_back(std::move(preset));
  }
  return find(list, std::string(workload->experiment));
}

/// The points of the experiment with these values. UsageError when it has none that are timed.
std::vector<harness::PointResult> plan(const Experiment& experiment,
                                       std::vector<AxisOverride> axes) {
  const auto emulated = harness::Backend::emulated;
  if (experiment.axes(emulated).empty() || experiment.timing().iterations == 0) {
    throw UsageError(
        fmt::format("{} times nothing on the emulator that could be explained", experiment.name()));
  }
  return harness::plan_points(experiment, {.backends = {emulated}, .overrides = std::move(axes)});
}

/// The first of them that the emulator can run. Error, with the first one's reason, when none can.
Parameters first_of(const Experiment& experiment, const std::vector<harness::PointResult>& points) {
  std::optional<std::string> reason;
  for (const harness::PointResult& point : points) {
    const auto prepared = experiment.prepare(harness::Backend::emulated, point.parameters);
    const auto* const left_out = std::get_if<harness::NotApplicable>(&prepared);
    if (left_out == nullptr) return point.parameters;
    if (!reason) reason = left_out->reason;
  }
  throw Error({.attempted = fmt::format("explain {}", experiment.name()),
               .value = *reason,
               .accepted = "",
               .hint = fmt::format("run_experiment list {}", experiment.name())});
}

std::string option_of(std::string_view axis, std::string_view value) {
  return shell_word(fmt::format("{}={}", axis, value));
}

/// The command that asks for `point` and no other, in the words of `options`: with a value for each
/// axis that has several to choose from.
std::string command_for(const ExplainOptions& options, const Experiment& experiment,
                        const Parameters& point) {
  std::string command = "run_experiment explain";
  for (const std::string& name : options.names) command += " " + name;
  for (const std::string& axis : options.axes) command += " -a " + shell_word(axis);
  const std::vector<AxisOverride> given = parse_axes(options.axes);
  for (const harness::Axis& axis : experiment.axes(harness::Backend::emulated)) {
    const bool sizes = axis.name == "shape" && gives(given, kSizes[0]);
    if (axis.values.size() < 2 || gives(given, axis.name) || sizes) continue;
    command += " -a " + option_of(axis.name, *harness::find_parameter(point, axis.name));
  }
  for (const std::string& profile : options.outputs.profiles.profiles) {
    command += " --profile " + shell_word(profile);
  }
  for (const std::string& setting : options.outputs.profiles.settings) {
    command += " --set " + shell_word(setting);
  }
  return command;
}

/// `changes` of `point` as options of such a command: sizes are those that it has.
std::string options_for(const Parameters& changes, const Parameters& point, bool has_sizes) {
  std::vector<std::string> words;
  for (const auto& [axis, value] : changes) {
    if (axis != "shape" || !has_sizes) {
      words.push_back("-a " + option_of(axis, value));
      continue;
    }
    const std::vector<std::string> before = split(*harness::find_parameter(point, axis), 'x');
    const std::vector<std::string> after = split(value, 'x');
    for (std::size_t i = 0; i < kSizes.size(); ++i) {
      if (before.at(i) != after.at(i))
        words.push_back("-a " + option_of(kSizes.at(i), after.at(i)));
    }
  }
  return join(words, " ");
}

/// Says how to have each of the runs again.
void add_commands(const ExplainOptions& options, const Experiment& experiment,
                  reports::Explanation& explanation) {
  explanation.command = command_for(options, experiment, explanation.parameters);
  const bool has_sizes = gives(parse_axes(options.axes), kSizes[0]);
  for (reports::TriedChange& change : explanation.tried) {
    change.how = options_for(change.changes, explanation.parameters, has_sizes);
  }
}

int write(const ExplainOptions& options, const reports::Explanation& explanation,
          const wormhole::Profiles& profiles) {
  harness::RunContext context = harness::describe_environment();
  describe_chip(profiles, context);
  Outputs outputs(options.outputs);
  outputs.require_writable();
  const Finished finished{.result = reports::explanation_result(explanation, context),
                          .presentation = reports::explanation_presentation(),
                          .documents = {},
                          .tables = reports::explanation_tables(explanation)};
  outputs.finish(finished);
  bool well = outputs.write({finished});
  well = outputs.add_picture([&](const reports::Canvas& canvas) {
    return reports::write_explanation_plot(explanation, canvas);
  }) && well;
  outputs.print_written();
  return well ? kOk : kFailed;
}

}  // namespace

std::string experiment_of_workload(const std::string& name) {
  const auto workload = std::ranges::find(kWorkloads, name, &Workload::word);
  return workload == kWorkloads.end() ? name : std::string(workload->experiment);
}

int explain(int argc, const char* const* argv) {
  const ExplainOptions options = explain_options(argc, argv);
  if (options.help) {
    fmt::print("{}", manual(kExplainHelp));
    return kOk;
  }
  const wormhole::Profiles profiles =
      read_settings(options.outputs.profiles, wormhole::load_profiles);
  const auto box = std::make_shared<const experiments::DevBox>(profiles, host::HostOptions{}, 1);
  const auto list = experiments::all_experiments(box, options.outputs.profiles);
  const Experiment* experiment = nullptr;
  std::vector<harness::PointResult> points;
  try {
    std::vector<AxisOverride> axes;
    experiment = &understand(options, list, axes);
    points = plan(*experiment, std::move(axes));
  } catch (const Error& failure) {
    throw UsageError(failure.what());
  }
  const Parameters point = first_of(*experiment, points);
  reports::Explanation explanation = experiments::explain(*box, *experiment, point);
  add_commands(options, *experiment, explanation);
  return write(options, explanation, profiles);
}

}  // namespace howard::cli
