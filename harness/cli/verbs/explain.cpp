// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/verbs/explain.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "engines/chip/profiles/profile.h"
#include "experiments/laboratory/laboratory.h"
#include "experiments/questions/explain_question.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/options.h"
#include "harness/cli/outputs.h"
#include "harness/cli/picture_options.h"
#include "harness/cli/profile_options.h"
#include "harness/cli/table_options.h"
#include "harness/cli/terminal/interruption.h"
#include "harness/cli/verbs/manual/manual.h"
#include "harness/cli/verbs/onnx_model.h"

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

int write(const ExplainOptions& options, const experiments::Laboratory& laboratory,
          const reports::Explanation& explanation) {
  catch_signals();  // all files are written, which takes a moment
  Outputs outputs(options.outputs);
  outputs.require_writable();
  const Finished finished{.result = laboratory.result_of(explanation),
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
  const auto laboratory = open_laboratory({.profiles = options.outputs.profiles});
  take_model(options);
  try {
    return write(options, *laboratory,
                 laboratory->explain({.what = options.names.empty() ? "" : options.names.front(),
                                      .axes = options.axes,
                                      .profiles = options.outputs.profiles,
                                      .range = options.range}));
  } catch (const experiments::BadQuestion& failure) {
    throw UsageError(failure.what());
  }
}

}  // namespace howard::cli
