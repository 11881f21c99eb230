// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "engines/chip/profiles/profile.h"
#include "experiments/laboratory/laboratory.h"
#include "experiments/logs/log_analysis.h"
#include "experiments/questions/explain_question.h"
#include "harness/cli/command/command.h"
#include "harness/cli/command/shared_options.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/objects/object.h"
#include "harness/cli/outputs/outputs.h"
#include "harness/cli/terminal/interruption.h"
#include "harness/cli/verbs/recorded_object.h"
#include "reports/findings/log_advice_report.h"

namespace howard::cli {

namespace {

struct ExplainOptions {
  std::vector<std::string> names;
  std::vector<std::string> axes;
  profiler::LogRange range;         ///< The part of a log that is explained.
  std::vector<std::string> inputs;  ///< The shapes of the inputs of an ONNX model.
  chip::ProfileChoice profiles;
  OutputPlaces outputs;
};

OptionList explain_options(ExplainOptions& options) {
  options.outputs.files.offers.pictures = true;
  return joined({{{"", "WHAT", "", to(options.names, Completes::explained)},
                  {"-a, --axis", "AXIS=VALUE",
                   "Chooses the point. run_experiment list NAME shows the axes of NAME",
                   to(options.axes, Completes::axes)},
                  {"--input", "NAME=SHAPE",
                   "Sets the shape of an input of an ONNX model, if the model leaves it open",
                   to(options.inputs)},
                  {"--from", "NAME", "Explains a log from this signpost, or GLOBAL CALL COUNT, on",
                   to(options.range.from)},
                  {"--to", "NAME", "Explains a log up to this one", to(options.range.to)},
                  {"--all", "", "Keeps the warm-up of a log", to(options.range.with_warmup)}},
                 chip_options(options.profiles),
                 output_options(options.outputs,
                                "Writes explain.json, .csv, .md and the picture to DIR (default "
                                "results)"),
                 picture_options(options.outputs.canvas)});
}

/// An ONNX model becomes the program that its inference is, and a module that of its functions.
void take_model(ExplainOptions& options) {
  const auto ends_with = [&](std::string_view ending) {
    return !options.names.empty() && options.names.front().ends_with(ending);
  };
  const bool is_module = ends_with(".mlir");
  if (!is_module && !ends_with(".onnx")) {
    if (options.inputs.empty()) return;
    throw UsageError("--input is of ONNX models; try explain MODEL.onnx --input x=1x3x224x224");
  }
  const Object model{is_module ? ObjectKind::mlir : ObjectKind::onnx, options.names.front()};
  options.names.front() =
      recorded(model, {options.inputs, options.profiles, options.outputs.results}).string();
}

/// Returns what `analyze` says would save time, if a log is explained.
std::vector<reports::Table> log_findings(const ExplainOptions& options) {
  constexpr std::size_t kShown = 8;
  std::vector<reports::Table> tables;
  if (options.names.empty()) return tables;
  const std::string& file = options.names.front();
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return tables;
  const std::optional<Object> object = object_at(file);
  if (!object || object->kind != ObjectKind::log) return tables;
  const experiments::Analyzed log =
      experiments::LogAnalysis({.profiles = options.profiles, .range = options.range}).read(file);
  for (std::size_t run = 0; run < log.advice.size(); ++run) {
    tables.push_back(reports::finding_table(log.advice[run], log.title_of(run), kShown));
  }
  return tables;
}

int write(const ExplainOptions& options, const experiments::Laboratory& laboratory,
          const reports::Explanation& explanation) {
  catch_signals();  // all files are written, which takes a moment
  Outputs outputs(options.outputs);
  outputs.require_writable();
  std::vector<reports::Table> tables = reports::explanation_tables(explanation);
  std::ranges::move(log_findings(options), std::back_inserter(tables));
  const Finished finished{.result = laboratory.result_of(explanation),
                          .presentation = reports::explanation_presentation(),
                          .documents = {},
                          .tables = std::move(tables),
                          .draw = [&](const reports::Canvas& canvas) {
                            return reports::write_explanation_plot(explanation, canvas);
                          }};
  outputs.finish(finished);
  const bool well = outputs.write({finished});
  outputs.print_written();
  if (interrupted()) return kInterrupted;
  return well ? kOk : kFailed;
}

int explain(ExplainOptions& options) {
  if (options.names.size() > 1) {
    throw UsageError(fmt::format("explain takes one workload or experiment, not {}",
                                 join(options.names, " and ")));
  }
  options.outputs.files.require_apart();
  end_on_signals();
  const auto laboratory = open_laboratory({.profiles = options.profiles});
  take_model(options);
  return write(options, *laboratory,
               laboratory->explain({.what = options.names.empty() ? "" : options.names.front(),
                                    .axes = options.axes,
                                    .profiles = options.profiles,
                                    .range = options.range}));
}

}  // namespace

const Command kExplain{
    .name = "explain",
    .summary = "show what bounds a workload or a point, and what would help",
    .usage = {"WHAT [-a AXIS=VALUE]... [OPTIONS]"},
    .text =
        {{"",
          "WHAT is a workload with its shapes, or any experiment that times iterations on the "
          "emulator:"},
         {"matmul", "A[m,k] B[k,n], as in -a m=1024 -a k=512 -a n=512. This is the default"},
         {"mlp", "A training step, as in -a batch=1024 -a dim=512 -a layers=2 -a engine=dynamic"},
         {"gpt2", "A training step, as in -a batch=32 -a dim=384 -a layers=6 -a engine=static"},
         {"ops", "A list of ops, as in -a ops=1024x512/linear:2048/gelu/linear:512/softmax"},
         {"NAME", "A point of an experiment. An axis left out gets its first value that can run"},
         {"FILE.json",
          "A recorded program whose programs are known already (-a first_calls=recorded: as it was "
          "recorded), or a list of ops of your own (docs/workload_format.md)"},
         {"MODEL.onnx",
          "The inference of an ONNX model, as in --input x=1x3x224x224. It needs python3-onnx"},
         {"MODULE.mlir",
          "The functions of a module of tt-mlir's TTNN dialect, as text. Ops that are not known "
          "are "
          "left out, and named"},
         {"TRAINING.yaml",
          "A step of TTML's training on the chips that its files name, as the experiment parallel "
          "has it"},
         {"LOG.csv",
          "An ops_perf_results log: its ops as the emulator runs them, with what would help. Ops "
          "that it does not have keep their logged time, and the answer says how much that is"},
         {"", "It names what bounds the point:"},
         {"dispatch-bound", "The cores wait for the next program (host, dispatcher, finish)"},
         {"compute-bound", "The time goes to arithmetic at the peak of all cores"},
         {"DRAM-bound", "The time goes to data that moves at the DRAM's peak"},
         {"kernel-inefficient",
          "Kernels take longer than both: start, unpacking, idle cores, small reads"},
         {"",
          "Then it lists the largest costs of an iteration and what would help. Each figure comes "
          "from a run of the same point on the emulator with that one thing changed; the options "
          "in the last column repeat it. Changes that could not be tried are listed with the "
          "reason."}},
    .examples = {"run_experiment explain -a m=1024 -a k=512 -a n=512",
                 "run_experiment explain mlp -a engine=static -a batch=256 -a dim=256",
                 "run_experiment explain gpt2 -a layers=6 --json -",
                 "run_experiment explain mlp_engines -a engine=dynamic -a batch=256 -a dim=256",
                 "run_experiment explain two_queues -a shape=512",
                 "run_experiment explain ops_perf_results.csv --from forward --to backward"},
    .status = "0 done; 1 the point cannot run, or a file cannot be written; 2 bad command line",
    .begin = begin<explain_options, explain>};

}  // namespace howard::cli
