// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "experiments/laboratory/laboratory.h"
#include "experiments/questions/tuning.h"
#include "experiments/questions/tuning_report.h"
#include "experiments/questions/work_tuning_report.h"
#include "harness/cli/command/command.h"
#include "harness/cli/command/shared_options.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/objects/object.h"
#include "harness/cli/outputs/outputs.h"
#include "harness/cli/terminal/interruption.h"
#include "harness/cli/terminal/status_line.h"
#include "harness/cli/terminal/terminal.h"
#include "harness/cli/verbs/recorded_object.h"
#include "harness/environment.h"
#include "reports/tables/terminal_table.h"

namespace howard::cli {

namespace {

struct TuneOptions {
  std::vector<std::string> names;  ///< What is tuned; empty: the product of the axes.
  std::vector<std::string> axes;
  std::vector<std::string> inputs;  ///< The shapes of the inputs of an ONNX model.
  profiler::LogRange range;         ///< The part of a log that is tuned.
  std::size_t top = 10;
  int threads = 0;  ///< 0 stands for all threads that the process may use.
  chip::ProfileChoice profiles;
  OutputPlaces outputs;
};

OptionList tune_options(TuneOptions& options) {
  options.outputs.files.offers.pictures = true;
  options.outputs.files.offers.configurations = true;
  const auto of_product = [&] { return options.names.empty(); };
  const auto of_object = [&] { return !options.names.empty(); };
  return joined(
      {{{"", "OBJECT", "", to(options.names, Completes::explained)},
        {"-a, --axis", "AXIS=VALUE",
         "Sets the product and how it runs, or a point of an experiment",
         to(options.axes, Completes::axes)},
        {"--top",
         "N",
         "Shows the best N configurations of a product (default 10)",
         whole(options.top, 1, 1000),
         {of_product, "a product that axes describe"}},
        {"--input",
         "NAME=SHAPE",
         "Sets the shape of an input of an ONNX model, if the model leaves it open",
         to(options.inputs),
         {of_object, "an ONNX model"}},
        {"--from",
         "NAME",
         "Tunes a log from this signpost, or GLOBAL CALL COUNT, on",
         to(options.range.from),
         {of_object, "a log"}},
        {"--to", "NAME", "Tunes a log up to this one", to(options.range.to), {of_object, "a log"}},
        {"--all",
         "",
         "Keeps the warm-up of a log",
         to(options.range.with_warmup),
         {of_object, "a log"}},
        threads_option(options.threads,
                       "Searches with N threads (default: all). The answer is the same for any N")},
       chip_options(options.profiles),
       output_options(options.outputs,
                      "Writes tune.json, .csv, .md, tune.py and, of a "
                      "product, the picture to DIR (default results)"),
       picture_options(options.outputs.canvas)});
}

/// Prints what can be pasted, where the tables went.
void print_python(const std::vector<experiments::Tuning>& tunings, const OutputPlaces& options) {
  std::FILE* const stream = options.files.use_standard_output() ? stderr : stdout;
  for (const experiments::Tuning& tuning : tunings) {
    fmt::print(stream, "{}\n", experiments::best_python(tuning));
  }
  std::fflush(stream);
}

reports::PlotFiles draw_tunings(const std::vector<experiments::Tuning>& tunings,
                                const reports::Canvas& canvas) {
  reports::PlotFiles files;
  for (std::size_t i = 0; i < tunings.size(); ++i) {
    const std::string name = i == 0 ? "tune" : fmt::format("tune_{}", i + 1);
    files.add(experiments::write_tuning_plot(tunings[i], name, canvas));
  }
  return files;
}

int write_tunings(const TuneOptions& options, const experiments::Laboratory& laboratory,
                  const std::vector<experiments::Tuning>& tunings) {
  Outputs outputs(options.outputs);
  outputs.require_writable();
  const Finished finished{
      .result = laboratory.result_of(tunings),
      .presentation = experiments::tuning_presentation(),
      .documents = {{"tune.py", experiments::tuning_module(tunings)}},
      .tables = experiments::tuning_tables(tunings),
      .draw = [&](const reports::Canvas& canvas) { return draw_tunings(tunings, canvas); },
      .python = [&] { return experiments::tuning_module(tunings); },
      .mlir = [&] { return experiments::tuning_mlir(tunings); }};
  outputs.finish(finished);
  print_python(tunings, options.outputs);
  const bool well = outputs.write({finished});
  outputs.print_written();
  return well ? kOk : kFailed;
}

int tune_products(const TuneOptions& options) {
  const auto laboratory = open_laboratory({.profiles = options.profiles});
  const auto tunings = laboratory->tune(options.axes, options.top, options.threads);
  catch_signals();  // all files are written, which takes a moment
  const int status = write_tunings(options, *laboratory, tunings);
  return interrupted() ? kInterrupted : status;
}

/// Returns what is tuned in the words of explain; objects that are no program become one.
experiments::ExplainQuestion question_of(const TuneOptions& options) {
  experiments::ExplainQuestion question{.what = options.names.front(),
                                        .axes = options.axes,
                                        .profiles = options.profiles,
                                        .range = options.range,
                                        .verb = "tune"};
  const std::optional<Object> object =
      looks_like_file(question.what) ? object_at(question.what) : std::nullopt;
  if (object && is_recorded(object->kind)) {
    question.what =
        recorded(*object, {options.inputs, options.profiles, options.outputs.results}).string();
  } else if (!options.inputs.empty()) {
    throw UsageError("--input is of ONNX models; try tune MODEL.onnx --input x=1x3x224x224");
  }
  return question;
}

/// Returns what the answer is called: the object, with the axes that were given.
std::string title_of(const TuneOptions& options) {
  std::string title = options.names.front();
  for (const std::string& axis : options.axes) title += " " + axis;
  return title;
}

int write_work(const TuneOptions& options, const experiments::Laboratory& laboratory,
               const experiments::WorkTuning& tuning) {
  const std::string what = title_of(options);
  const harness::RunContext context = laboratory.emulated_context();
  const std::vector<harness::ExperimentResult> results{
      experiments::work_tuning_result(tuning, context)};
  const Shown shown{.results = results,
                    .tables = experiments::work_tuning_tables(tuning, what),
                    .json = [&] { return experiments::work_tuning_json(tuning, what, context); },
                    .python = [&] { return experiments::work_tuning_python(tuning, what); },
                    .mlir = [&] { return experiments::work_tuning_mlir(tuning, what); }};
  const OutputFiles& files = options.outputs.files;
  const reports::TerminalStyle style = terminal_style(STDOUT_FILENO, options.outputs.color);
  files.print(shown, "text", style);
  std::vector<std::filesystem::path> written;
  const bool well = files.write(shown, options.outputs.canvas, style, written);
  if (options.outputs.keeps_all) {
    for (const auto& [name, text] :
         {std::pair{"tune.json", shown.json()}, {"tune.py", shown.python()}}) {
      written.push_back(options.outputs.results / name);
      write_file(written.back(), text);
    }
  }
  say_written(written);
  return well ? kOk : kFailed;
}

int tune_work(const TuneOptions& options) {
  if (options.names.size() > 1) {
    throw UsageError(
        fmt::format("tune takes one object, not {}; a script with arguments: run_experiment python "
                    "--save-workload W.json SCRIPT ARGUMENTS, and run_experiment tune W.json",
                    join(options.names, " and ")));
  }
  if (options.outputs.files.has_picture()) {
    throw UsageError("the picture is of a product; try tune -a m=M -a k=K -a n=N");
  }
  options.outputs.files.require_writable();
  if (options.outputs.keeps_all) require_writable_folder(options.outputs.results);
  end_on_signals();
  const auto laboratory = open_laboratory({.profiles = options.profiles});
  StatusLine line(true);
  const auto tuning = laboratory->tune(
      question_of(options), options.threads, [&](std::size_t done, std::size_t all) {
        if (line.is_due()) line.show(fmt::format("tuned {} of {} calls that differ", done, all));
      });
  line.clear();
  return write_work(options, *laboratory, tuning);
}

int tune(const TuneOptions& options) {
  options.outputs.files.require_apart();
  return options.names.empty() ? tune_products(options) : tune_work(options);
}

}  // namespace

const Command kTune{
    .name = "tune",
    .summary = "find the best configurations of a script, a log, a model or a product",
    .usage = {"OBJECT [-a AXIS=VALUE]... [OPTIONS]",
              "-a m=M -a k=K -a n=N [-a AXIS=VALUE]... [OPTIONS]"},
    .text =
        {{"",
          "OBJECT is a script, a log or a folder of tt-metal's profiler, a workload or a list "
          "of ops, a served model (a name, or a config.json), an ONNX model, a module of "
          "tt-mlir's TTNN dialect, or what explain takes. All its calls that differ are tuned: "
          "the configurations of matrix products, the chunks of attention, the blocks of "
          "convolutions, the grids of group norms, and how collectives use their links. Each "
          "time is that of the whole run again with the configuration. What would gain less "
          "than the expected error of such times is left out, and counted."},
         {"",
          "-o FILE.py is a module whose linear() and matmul() take the configurations, FILE.json "
          "has the fields of the keys and recipes of tt-metal's registry of matmul "
          "configurations, and FILE.mlir attributes of tt-mlir."},
         {"",
          "Of a product whose sizes axes give, it prices every matmul configuration that ttnn "
          "accepts for A[m,k] B[k,n] and that "
          "fits in L1: 2D multicast (both ways round), 1D multicast of A or of B, reuse and "
          "plain multi-core, with every grid, per_core_M and per_core_N, in0_block_w, "
          "out_block and out_subblock. It prints what ttnn chooses by itself beside the best "
          "ones, and the best one as Python to paste. Of configurations that differ in nothing "
          "but the sub-block it shows the best one."},
         {"",
          "All have the fidelity of ttnn's own choice, so that the numbers stay the same. ttnn "
          "takes LoFi for a bfloat16 product with a program_config unless it is told "
          "otherwise: paste the compute_kernel_config with it. Several values of an axis (-a "
          "m=512,1024) are several products."}},
    .examples =
        {"run_experiment tune step.py -o tuned.py",
         "run_experiment tune ops_perf_results.csv -o tuned.json",
         "run_experiment tune llama-3.1-8b -a machine=n150 -a batch=32",
         "run_experiment tune -a m=4096 -a k=4096 -a n=4096",
         "run_experiment tune -a m=1024 -a k=768 -a n=3072 -a bias=yes -a activation=gelu --json -",
         "run_experiment tune -a m=32,64,128 -a k=4096 -a n=4096 -a dtype=bfloat8_b -a "
         "dispatch=eth",
         "run_experiment matmul_sweep --backend emulated -a shape=4096 -a fidelity=HiFi2 -a "
         "config=CONFIG"},
    .status = "0 done; 1 it cannot run, or a file cannot be written; 2 bad command line",
    .begin = begin<tune_options, tune>,
    .parts = {{"AXES OF A PRODUCT",
               {{"m, k, n", "sizes in elements; they have no default"},
                {"batch", "products (default 1)"},
                {"batched", "who has the batch: a or both (default a)"},
                {"dtype", "bfloat16, float32, bfloat8_b, bfloat4_b (default bfloat16)"},
                {"fidelity", "default (ttnn's choice), LoFi, HiFi2, HiFi3, HiFi4"},
                {"transpose", "none, a, b, ab: what is stored with rows and columns swapped"},
                {"weights, output", "data types of B and of the result (default: that of A)"},
                {"bias", "no, yes (of the result's data type), or a data type"},
                {"activation", "none, relu, gelu, exp, sqrt, rsqrt, reciprocal"},
                {"memory_a", "dram, l1: where A is interleaved (also memory_b and memory_out)"},
                {"dispatch", "worker (8x7 compute cores), eth (8x8)"},
                {"grid", "default (all cores), or CxR: no more columns and rows than these"}}}}};

}  // namespace howard::cli
