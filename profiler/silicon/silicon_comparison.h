// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/sim_time.h"
#include "engines/chip/emulated_chip.h"
#include "engines/chip/profiles/card.h"
#include "engines/chip/profiles/profile.h"
#include "profiler/formats/csv/dropped_rows.h"
#include "profiler/formats/ops_csv/ops_csv_reader.h"

namespace howard::profiler {

/// Holds one run of a call on real hardware.
struct MeasuredRun {
  SimTime kernel;
  SimTime start_skew;  ///< The time from the first core's start to the last one's; zero if unknown.
};

/// Holds rows that ask for the same: one op on operands of the same shapes with the same
/// attributes.
struct ComparedCall {
  std::string code;    ///< ttnn's device operation: "Matmul".
  std::string call;    ///< The emulator's op and what it was told: "matmul 8x7 fp32".
  std::string inputs;  ///< "19x64 bfloat16, 64x33 bfloat16".
  std::string output;
  std::string fidelity;  ///< "HiFi2"; empty if the log has none.
  CoreGrid grid;         ///< The cores over which it could be spread.
  SimTime emulated;      ///< The time of the kernel, alone on the chip.
  SimTime unshared;      ///< What it would take if its cores did not share the DRAM.
  int emulated_cores = 0;
  /// It saw the places that its time tells, since the log does not: its error means nothing.
  bool by_its_time = false;
  std::string_view bound_by;  ///< The stage that limits the emulated kernel.
  std::string_view known;     ///< What its time rests on, as that of an EmulatedCall.
  double expected_error = 0;
  std::int64_t measured_cores = 0;  ///< The number in its first row; 0 if the log does not say.
  std::vector<MeasuredRun> runs;    ///< At least one, in the order of the file.
  /// How a card knows it; absent if another op stands for it, or if its time tells its position.
  std::optional<chip::LaunchWords> words;
  std::string kind;                 ///< What it may be like, as chip::kind_of() says.
  std::vector<std::string> unread;  ///< Attributes that nothing reads.
};

/// Counts rows of one op that were not emulated, for one reason.
struct NotEmulated {
  std::string code;
  std::string reason;
  std::uint64_t runs = 0;
  SimTime measured;
  std::uint64_t first_line = 0;
};

/// Holds a log of real hardware beside the emulator.
struct SiliconComparison {
  std::vector<ComparedCall> calls;        ///< In the order of their first rows.
  std::vector<NotEmulated> not_emulated;  ///< In the order of their first rows.
  std::uint64_t host_ops = 0;             ///< Rows of the host's ops, and of captures into traces.
  DroppedRows dropped;                    ///< Rows that could not be read, or have no time.
  /// The family and the worker cores of a row's chip if it is another than the emulator's.
  std::string other_architecture;
  std::int64_t other_cores = 0;
  std::vector<std::string> notes;
};

/// Returns (emulated - measured) / measured of a run, whose time must not be zero.
double error_of(const ComparedCall& call, const MeasuredRun& run);
/// Does the same as if the emulated cores had started as far apart as the run's. The profiler
/// counts from the first core's start, and the skew is that of all the grid's cores. It hides in
/// waiting for the DRAM that cores share (as the calibration takes it).
double error_with_skew(const ComparedCall& call, const MeasuredRun& run);

/// Reads an `ops_perf_results` log and plans each of its device ops on the emulated chip of
/// `profiles`. Memory has a bound: rows beyond `kMostLoggedPrograms`, and calls that differ from
/// more than `kMostDifferentCalls` others, are counted as dropped. Errors are those of
/// `OpsColumns`.
SiliconComparison compare_with_silicon(ByteSource& source, std::string_view name,
                                       const chip::Profiles& profiles,
                                       const ToldCalls* told = nullptr);

/// A program with static shapes has some hundred.
inline constexpr std::size_t kMostDifferentCalls = 100'000;

}  // namespace howard::profiler
