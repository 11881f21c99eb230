// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/verbs/tune.h"

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
#include "harness/cli/exit_status.h"
#include "harness/cli/options.h"
#include "harness/cli/outputs.h"
#include "harness/cli/picture_options.h"
#include "harness/cli/profile_options.h"
#include "harness/cli/table_options.h"
#include "harness/cli/terminal/interruption.h"
#include "harness/cli/verbs/manual/manual.h"

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
  app.set_help_flag();
  app.add_flag("-h,--help", options.help);
  app.add_option("-a,--axis", options.axes)->allow_extra_args(false);
  add_whole(app, "--top", options.top, 1, kMostRows);
  add_whole(app, "--threads", options.outputs.threads, harness::kThreads);
  add_profile_options(app, options.outputs.profiles);
  add_table_options(app, options.outputs);
  add_picture_options(app, options.outputs.canvas);
  parse_command_line(app, argc, argv);
  require_one_text_in_each_place(options.outputs);
  return options;
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

int write_tunings(const TuneOptions& options, const experiments::Laboratory& laboratory,
                  const std::vector<experiments::Tuning>& tunings) {
  Outputs outputs(options.outputs);
  outputs.require_writable();
  const Finished finished{.result = laboratory.result_of(tunings),
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
  const auto laboratory = open_laboratory({.profiles = options.outputs.profiles});
  try {
    const auto tunings = laboratory->tune(options.axes, options.top, options.outputs.threads);
    catch_signals();  // all files are written, which takes a moment
    const int status = write_tunings(options, *laboratory, tunings);
    return interrupted() ? kInterrupted : status;
  } catch (const experiments::BadQuestion& failure) {
    throw UsageError(failure.what());
  }
}

}  // namespace howard::cli
