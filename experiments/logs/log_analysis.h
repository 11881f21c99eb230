// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engines/chip/profiles/profile.h"
#include "experiments/logs/log_content.h"
#include "harness/result.h"
#include "reports/findings/log_advice_report.h"
#include "reports/findings/program_list.h"

namespace howard::experiments {

/// Says of which logs there is advice. Reading what programs computed takes a third longer than
/// reading when they ran, so that it must be asked for in large files.
enum class Advice : std::uint8_t { of_small_files, of_all_files, none };

/// Says what is wanted of logs.
struct LogQuestion {
  chip::ProfileChoice profiles = {};
  bool compare = false;  ///< Their ops are compared with those of the emulator.
  Advice advice = Advice::of_small_files;
  bool calls = false;  ///< What programs computed is read, whatever the advice.
  profiler::LogRange range = {};
  std::string zones = {};  ///< The device log of the same run; empty: there is none.
  std::optional<reports::ProgramFilter> programs = {};  ///< The programs that are listed, if any.
};

/// Holds a file that was read, and what there is to say of it.
struct Analyzed {
  std::string file;  ///< The file's path.
  LogContent content;
  /// One for each run of a log; none where it is not wanted.
  std::vector<reports::LogAdvice> advice = {};
  std::optional<reports::ProgramFilter> programs = {};

  /// Returns the log; null if the file is of another kind.
  const profiler::Log* log() const { return std::get_if<profiler::Log>(&content); }
  /// Returns the log. Throws Error for a file of results.
  const profiler::Log& required_log() const;
  /// Returns the file's name, and the run if there are several: "a.csv, run 2 of 3, forward".
  std::string title_of(std::size_t run) const;
};

/// Reads logs and says what there is to say of them, for the command line and for Python.
class LogAnalysis {
 public:
  /// Throws Error for a chip that a comparison cannot have.
  explicit LogAnalysis(LogQuestion question);

  /// Throws Error as read_log_content() does.
  Analyzed read(const std::string& file);
  /// Reads the logs of several hosts as one.
  Analyzed read_joined(const std::vector<std::string>& files);

  /// Returns all of it as results.
  std::vector<harness::ExperimentResult> results_of(const Analyzed& analyzed) const;

  /// Returns what explains the numbers of what was read so far.
  const harness::RunContext& context() const { return context_; }

 private:
  bool wants_calls(const std::string& file) const;
  Analyzed read_content(const std::string& file);
  LogContent content_of(const std::string& file, const profiler::ReadOptions& read);
  void add_zones(Analyzed& analyzed) const;
  void advise(Analyzed& analyzed);

  LogQuestion question_;
  harness::RunContext context_;
  std::optional<profiler::CallEmulator> emulator_;
  std::vector<std::string> emulated_;  ///< The names of its chips.
};

}  // namespace howard::experiments
