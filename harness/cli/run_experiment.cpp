// SPDX-License-Identifier: Apache-2.0
//
// This is the composition root. It reads the first word of the command line, runs its command or
// the experiments that it names, and turns failures into exit codes. Its manual is
// verbs/manual/help.md.

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string_view>

#include "base/error.h"
#include "harness/cli/command_line.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/options.h"
#include "harness/cli/run.h"
#include "harness/cli/sharing/ranks.h"
#include "harness/cli/terminal/interruption.h"
#include "harness/cli/terminal/streams.h"
#include "harness/cli/verbs/manual/help.h"
#include "harness/cli/verbs/manual/manual.h"
#include "harness/cli/verbs/verbs.h"

namespace howard::cli {
namespace {

/// Throws UsageError if `what`, which works in one process only, is asked for in several.
void require_alone(const Ranks& ranks, std::string_view what) {
  if (ranks.size() == 1) return;
  throw UsageError(fmt::format("{} works in one process, not in {}: start it without mpirun", what,
                               ranks.size()));
}

int run(int argc, const char* const* argv, Ranks& ranks) {
  if (const Verb* const verb = argc > 1 ? find_verb(argv[1]) : nullptr) {
    if (!verb->is_text && !verb->is_shared) require_alone(ranks, verb->name);
    return ranks.is_first() || verb->is_shared ? verb->run(argc - 1, argv + 1) : kOk;
  }
  const Options options = parse_options(argc, argv);
  if (!options.trace.empty()) require_alone(ranks, "--trace");
  if (!options.device_logs.empty()) require_alone(ranks, "--device-logs");
  if (!options.memory.empty()) require_alone(ranks, "--memory");
  if (options.bottlenecks) require_alone(ranks, "--bottlenecks");
  if (options.page) require_alone(ranks, "--page");
  if (options.help || options.version) {
    if (ranks.is_first()) fmt::print("{}", options.help ? help_of(options.names) : version_text());
    return kOk;
  }
  return run_experiments(options, ranks);
}

/// Reports what has gone wrong, once for all ranks that it concerns.
void complain(Ranks& ranks, const char* text) {
  const bool speaks = ranks.has_agreed() ? true : ranks.agree(false, "") == ranks.rank();
  if (speaks) fmt::print(stderr, "{}: {}\n", program_name(), text);
}

int run_as_rank(int argc, const char* const* argv) {
  Ranks ranks;
  try {
    return run(argc, argv, ranks);
  } catch (const UsageError& failure) {
    complain(ranks, failure.what());
    return kUsage;
  } catch (const std::exception& failure) {
    complain(ranks, reason_of(failure).c_str());
    return kFailed;
  }
}

}  // namespace
}  // namespace howard::cli

int main(int argc, char** argv) {
  howard::cli::prepare_streams();
  int status = howard::cli::kFailed;
  try {
    status = howard::cli::run_as_rank(argc, argv);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "run_experiment: {}\n", howard::reason_of(failure));
  }
  // Tables are the result, so a full disk behind a redirection must not pass for success.
  const bool all_taken = howard::cli::end_output();
  return all_taken || status != howard::cli::kOk ? status : howard::cli::kFailed;
}
