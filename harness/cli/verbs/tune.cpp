// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "experiments/laboratory/laboratory.h"
#include "experiments/questions/tuning.h"
#include "experiments/questions/tuning_report.h"
#include "harness/cli/command/command.h"
#include "harness/cli/command/shared_options.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/outputs/outputs.h"
#include "harness/cli/terminal/interruption.h"
#include "harness/environment.h"

namespace howard::cli {

namespace {

struct TuneOptions {
  std::vector<std::string> axes;
  std::size_t top = 10;
  int threads = 0;  ///< 0 stands for all threads that the process may use.
  chip::ProfileChoice profiles;
  OutputPlaces outputs;
};

OptionList tune_options(TuneOptions& options) {
  options.outputs.files.offers.pictures = true;
  return joined(
      {{{"-a, --axis", "AXIS=VALUE", "Sets the product and how it runs",
         to(options.axes, Completes::axes)},
        {"--top", "N", "Shows the best N configurations (default 10)", whole(options.top, 1, 1000)},
        threads_option(options.threads,
                       "Searches with N threads (default: all). The answer is the same for any N")},
       chip_options(options.profiles),
       output_options(options.outputs,
                      "Writes tune.json, .csv, .md, tune.py and the "
                      "picture to DIR (default results)"),
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
      .draw = [&](const reports::Canvas& canvas) { return draw_tunings(tunings, canvas); }};
  outputs.finish(finished);
  print_python(tunings, options.outputs);
  const bool well = outputs.write({finished});
  outputs.print_written();
  return well ? kOk : kFailed;
}

int tune(const TuneOptions& options) {
  options.outputs.files.require_apart();
  const auto laboratory = open_laboratory({.profiles = options.profiles});
  const auto tunings = laboratory->tune(options.axes, options.top, options.threads);
  catch_signals();  // all files are written, which takes a moment
  const int status = write_tunings(options, *laboratory, tunings);
  return interrupted() ? kInterrupted : status;
}

}  // namespace

const Command kTune{
    .name = "tune",
    .summary = "rank the matmul configurations of a product",
    .usage = {"-a m=M -a k=K -a n=N [-a AXIS=VALUE]... [OPTIONS]"},
    .text = {{"",
              "It prices every matmul configuration that ttnn accepts for A[m,k] B[k,n] and that "
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
        {"run_experiment tune -a m=4096 -a k=4096 -a n=4096",
         "run_experiment tune -a m=1024 -a k=768 -a n=3072 -a bias=yes -a activation=gelu --json -",
         "run_experiment tune -a m=32,64,128 -a k=4096 -a n=4096 -a dtype=bfloat8_b -a "
         "dispatch=eth",
         "run_experiment matmul_sweep --backend emulated -a shape=4096 -a fidelity=HiFi2 -a "
         "config=CONFIG"},
    .status = "0 done; 1 the product cannot run, or a file cannot be written; 2 bad command line",
    .begin = begin<tune_options, tune>,
    .parts = {{"AXES",
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
