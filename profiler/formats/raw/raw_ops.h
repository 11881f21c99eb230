// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace howard::profiler {

// tt-metal makes an ops_perf_results CSV of three files, which is all that is left when its script
// fails. These functions make one of them.

/// Holds the raw files of one run; "" for one that there is not.
struct RawFiles {
  std::string ops;      ///< tracy_ops_data.csv: what was called, with its operands, as messages.
  std::string times;    ///< tracy_ops_times.csv: when the host called it, and for how long.
  std::string devices;  ///< cpp_device_perf_report.csv: when it ran, by GLOBAL CALL COUNT.
};

/// Returns the ops_perf_results CSV of them. Each program of `devices` has the operands and the
/// host's times of its call. Without `devices` the ops are those of the host, which takes the times
/// of its calls. `name` is the file's name, for messages. Throws Error if `ops` has no op.
std::string ops_csv_of(const RawFiles& files, std::string_view name);

/// Returns the ops_perf_results CSV of what tt-perf-report writes with --csv. It has the times, the
/// cores, and of products the shapes.
std::string ops_csv_of_report(std::string_view report, std::string_view name);

}  // namespace howard::profiler
