// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "profiler/formats/ops_csv/ops_columns.h"

namespace howard::profiler {

// tt-metal makes an ops_perf_results CSV of three files, which is all that is left when its script
// fails. These functions make one of them.

/// Holds the raw files of one run; "" for one that there is not.
struct RawFiles {
  std::string ops;      ///< tracy_ops_data.csv: what was called, with its operands, as messages.
  std::string times;    ///< tracy_ops_times.csv: when the host called it, and for how long.
  std::string devices;  ///< cpp_device_perf_report.csv: when it ran, by GLOBAL CALL COUNT.
};

/// Returns the CSV of the programs of `devices`, or of the host's calls if it is empty, and what is
/// told of their calls besides. `name` is the file's name, for messages. Throws Error if there is
/// no op.
std::string read_raw_files(const RawFiles& files, std::string_view name, ToldCalls& told);

/// Returns the ops_perf_results CSV of what tt-perf-report writes with --csv. It has the times, the
/// cores, and of products the shapes.
std::string ops_csv_of_report(std::string_view report, std::string_view name);

}  // namespace howard::profiler
