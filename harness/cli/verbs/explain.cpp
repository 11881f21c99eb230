// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/verbs/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "experiments/all.h"
#include "experiments/workloads/chip_context.h"
#include "experiments/workloads/logs/log_content.h"
#include "experiments/workloads/logs/log_workload.h"
#include "experiments/workloads/questions/explain_question.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/options.h"
#include "harness/cli/outputs.h"
#include "harness/cli/picture_options.h"
#include "harness/cli/profile_options.h"
#include "harness/cli/table_options.h"
#include "harness/cli/terminal/interruption.h"
#include "harness/cli/verbs/manual/manual.h"
#include "harness/cli/verbs/onnx_model.h"
#include "harness/environment.h"
#include "harness/runner.h"

namespace howard::cli {

extern const std::string_view kExplainHelp;  // the build compiles explain_help.md in

namespace {

struct ExplainOptions {
  std::vector<std::string> names;
  std::vector<std::string> axes;
  profiler::LogRange range;         ///< The part of a log that is explained.
  std::vector<std::string> inputs;  ///< The shapes of the inputs of an ONNX model.
  Options outputs;                  ///< Profiles, color and where results go.
  bool help = false;
};

ExplainOptions explain_options(int argc, const char* const* argv) {
  CLI::App app;
  ExplainOptions options;
  app.set_help_flag();
  app.add_flag("-h,--help", options.help);
  app.add_option("names", options.names, join(experiments::explained_workloads(), ","));
  app.add_option("-a,--axis", options.axes)->allow_extra_args(false);
  app.add_option("--from", options.range.from);
  app.add_option("--to", options.range.to);
  app.add_flag("--all", options.range.with_warmup);
  app.add_option("--input", options.inputs)->allow_extra_args(false);
  add_profile_options(app, options.outputs.profiles);
  add_table_options(app, options.outputs);
  add_picture_options(app, options.outputs.canvas);
  parse_command_line(app, argc, argv);
  if (!options.help && options.names.size() > 1) {
    throw UsageError(fmt::format("explain takes one workload or experiment, not {}",
                                 join(options.names, " and ")));
  }
  require_one_text_in_each_place(options.outputs);
  return options;
}

/// Returns the log that is to be explained; empty for a workload, whose file is JSON, or an
/// experiment.
std::string log_of(const ExplainOptions& options) {
  if (options.names.empty()) return "";
  const std::string& name = options.names.front();
  const bool is_path = name.find_first_of("./") != std::string::npos;
  return is_path && !name.ends_with(".json") ? name : "";
}

reports::Explanation explain_file(const ExplainOptions& options, const std::string& file,
                                  const chip::Profiles& profiles,
                                  std::shared_ptr<const experiments::DevBox> box) {
  const experiments::LogContent content = experiments::read_log_content(
      file, nullptr, {.tensors = profiler::Tensors::read, .range = options.range});
  const auto* const log = std::get_if<profiler::Log>(&content);
  if (log == nullptr) {
    throw Error({.attempted = "explain " + file,
                 .value = "it is a result file",
                 .accepted = "an ops_perf_results CSV",
                 .hint = "run_experiment analyze " + file});
  }
  const experiments::LogWorkload workload = experiments::log_workload(*log, file, profiles);
  std::string what = shell_word(file);
  for (const auto& [option, value] :
       {std::pair{"--from", options.range.from}, {"--to", options.range.to}}) {
    if (!value.empty()) what += fmt::format(" {} {}", option, shell_word(value));
  }
  if (options.range.with_warmup) what += " --all";
  const auto experiment = experiments::log_experiment(box, workload);
  return experiments::explain_log(
      *box, {.what = what, .axes = options.axes, .profiles = options.outputs.profiles}, *experiment,
      workload);
}

/// An ONNX model becomes the program that its inference is.
void take_model(ExplainOptions& options) {
  const bool is_model = !options.names.empty() && options.names.front().ends_with(".onnx");
  if (!is_model) {
    if (options.inputs.empty()) return;
    throw UsageError("--input is of ONNX models; try explain MODEL.onnx --input x=1x3x224x224");
  }
  const std::filesystem::path model = options.names.front();
  const std::filesystem::path workload =
      options.outputs.results / (model.stem().string() + ".workload.json");
  record_onnx_model(model, options.inputs, options.outputs.profiles, workload);
  options.names.front() = workload.string();
}

int write(const ExplainOptions& options, const reports::Explanation& explanation) {
  catch_signals();  // all files are written, which takes a moment
  harness::RunContext context = harness::describe_environment();
  experiments::describe_chip(options.outputs.profiles, context);
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
  if (interrupted()) return kInterrupted;
  return well ? kOk : kFailed;
}

}  // namespace

int explain(int argc, const char* const* argv) {
  ExplainOptions options = explain_options(argc, argv);
  if (options.help) {
    fmt::print("{}", manual(kExplainHelp));
    return kOk;
  }
  end_on_signals();
  const chip::Profiles profiles = read_settings(options.outputs.profiles, chip::load_profiles);
  take_model(options);
  const auto box = std::make_shared<const experiments::DevBox>(profiles, host::HostOptions{}, 1);
  if (const std::string file = log_of(options); !file.empty()) {
    return write(options, explain_file(options, file, profiles, box));
  }
  if (!options.range.is_whole() || options.range.with_warmup) {
    throw UsageError("--from, --to and --all are for logs");
  }
  const auto list = experiments::all_experiments(box, options.outputs.profiles);
  const experiments::ExplainQuestion question{
      .what = options.names.empty() ? "" : options.names.front(),
      .axes = options.axes,
      .profiles = options.outputs.profiles};
  experiments::PlannedExplanation planned;
  try {
    planned = experiments::plan_explanation(question, list);
  } catch (const Error& failure) {
    throw UsageError(failure.what());
  }
  const reports::Explanation explanation = experiments::answer(*box, question, planned);
  return write(options, explanation);
}

}  // namespace howard::cli
