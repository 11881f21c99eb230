// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "experiments/laboratory/devbox.h"
#include "experiments/questions/explain_question.h"
#include "harness/experiment.h"
#include "profiler/formats/log.h"
#include "profiler/silicon/logged_program.h"
#include "reports/findings/explanation.h"

namespace howard::experiments {

/// Holds the ops of a log as calls for the emulated chip.
struct LogWorkload {
  std::string log;  ///< The file.
  /// The different ones; their operands are not allocated.
  std::vector<profiler::LoggedProgram> calls;
  std::vector<std::size_t> order;  ///< Indices into `calls`: the programs as they ran.
  /// For each of `order` the replay of a trace that it is part of, from 1; 0: it was called.
  std::vector<std::uint32_t> replays;
  chip::DispatchCoreType dispatch{};    ///< As the log's cores say.
  bool python = false;                  ///< The host's calls are as slow as Python's.
  std::uint64_t programs = 0;           ///< All programs of the log's device.
  SimTime kernels;                      ///< The logged time of those that are emulated.
  SimTime kernels_left;                 ///< The logged time of the others.
  std::map<std::string, SimTime> left;  ///< Their time by op and why it is not emulated.
  /// The emulated programs by op, beside the log; without those whose time tells their position.
  std::vector<reports::CheckedOp> checked;
  std::vector<std::string> notes;

  /// Returns the part of the kernels' logged time that is emulated.
  double share() const;
  /// Says whether all that is emulated was replayed.
  bool is_replayed() const;
};

/// Returns "120 of 130 programs are emulated, 93 % of the kernels' logged time".
std::string coverage_text(const LogWorkload& workload);

/// More programs take the emulator minutes: later ones are left out, and a note says so.
inline constexpr std::size_t kMostLogPrograms = 20'000;

/// Returns the programs of the first device of the first run of a log whose calls were read. Throws
/// Error when the emulator can run none of them.
LogWorkload log_workload(const profiler::Log& log, const std::string& file,
                         const chip::Profiles& profiles);

/// Returns the workload as an experiment, to be explained: a pass over the log's ops, with one
/// finish after all; replays of traces are replays. Its axes are dispatch, and trace, host,
/// fidelity, weights and movements for what-ifs.
std::unique_ptr<harness::Experiment> log_experiment(const std::shared_ptr<const DevBox>& box,
                                                    LogWorkload workload);

/// Explains such an experiment; the notes say which part of the log it is about, and what each
/// change gives of the whole, with the rest at its logged time. The expected error is how far the
/// emulator is off this log's kernels; there is no verdict where that is more than a quarter.
reports::Explanation explain_log(const DevBox& box, const ExplainQuestion& question,
                                 const harness::Experiment& experiment,
                                 const LogWorkload& workload);

}  // namespace howard::experiments
