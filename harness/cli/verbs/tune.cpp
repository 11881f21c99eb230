// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/verbs/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "experiments/workloads/chip_context.h"
#include "experiments/workloads/questions/tuning.h"
#include "experiments/workloads/questions/tuning_report.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/options.h"
#include "harness/cli/outputs.h"
#include "harness/cli/picture_options.h"
#include "harness/cli/profile_options.h"
#include "harness/cli/table_options.h"
#include "harness/cli/terminal/interruption.h"
#include "harness/cli/verbs/manual/manual.h"
#include "harness/environment.h"

namespace howard::cli {

extern const std::string_view kTuneHelp;  // the build compiles tune_help.md in

namespace {

struct TuneOptions {
  std::vector<std::string> axes;
  std::size_t top = 10;
  Options outputs;  ///< Profiles, threads, color and where results go.
  bool help = false;
};

TuneOptions tune_options(int argc, const char* const* argv) {
  CLI::App app;
  TuneOptions options;
  constexpr std::uint64_t kMostRows = 1000;
  constexpr std::uint64_t kMostThreads = 4096;
  app.set_help_flag();
  app.add_flag("-h,--help", options.help);
  app.add_option("-a,--axis", options.axes)->allow_extra_args(false);
  add_whole(app, "--top", options.top, 1, kMostRows);
  add_whole(app, "--threads", options.outputs.threads, 1, kMostThreads);
  add_profile_options(app, options.outputs.profiles);
  add_table_options(app, options.outputs);
  add_picture_options(app, options.outputs.canvas);
  parse_command_line(app, argc, argv);
  require_one_text_in_each_place(options.outputs);
  return options;
}

int thread_count(const Options& options) {
  if (options.threads > 0) return options.threads;
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

/// Prints what can be pasted, where the tables went.
void print_python(const std::vector<experiments::Tuning>& tunings, const Options& options) {
  const bool data_on_output = options.json == "-" || options.csv == "-" || options.markdown == "-";
  std::FILE* const stream = data_on_output ? stderr : stdout;
  for (const experiments::Tuning& tuning : tunings) {
    fmt::print(stream, "{}\n", experiments::best_python(tuning));
  }
  std::fflush(stream);
}

int write_tunings(const TuneOptions& options, const std::vector<experiments::Tuning>& tunings) {
  harness::RunContext context = harness::describe_environment();
  experiments::describe_chip(options.outputs.profiles, context);
  Outputs outputs(options.outputs);
  outputs.require_writable();
  const Finished finished{.result = experiments::tuning_result(tunings, context),
                          .presentation = experiments::tuning_presentation(),
                          .documents = {{"tune.py", experiments::tuning_module(tunings)}},
                          .tables = experiments::tuning_tables(tunings)};
  outputs.finish(finished);
  print_python(tunings, options.outputs);
  bool well = outputs.write({finished});
  for (std::size_t i = 0; i < tunings.size(); ++i) {
    const std::string name = i == 0 ? "tune" : fmt::format("tune_{}", i + 1);
    well = outputs.add_picture([&](const reports::Canvas& canvas) {
      return experiments::write_tuning_plot(tunings[i], name, canvas);
    }) && well;
  }
  outputs.print_written();
  return well ? kOk : kFailed;
}

}  // namespace

int tune(int argc, const char* const* argv) {
  const TuneOptions options = tune_options(argc, argv);
  if (options.help) {
    fmt::print("{}", manual(kTuneHelp));
    return kOk;
  }
  end_on_signals();
  std::vector<harness::Parameters> products;
  try {
    products = experiments::tuned_products(options.axes);
  } catch (const Error& failure) {
    throw UsageError(failure.what());
  }
  const chip::Profiles profiles = read_settings(options.outputs.profiles, chip::load_profiles);
  const experiments::DevBox box(profiles, host::HostOptions{}, 1);
  std::vector<experiments::Tuning> tunings;
  for (const harness::Parameters& product : products) {
    tunings.push_back(experiments::tune(box, product, options.top, thread_count(options.outputs)));
  }
  catch_signals();  // all files are written, which takes a moment
  const int status = write_tunings(options, tunings);
  return interrupted() ? kInterrupted : status;
}

}  // namespace howard::cli
