// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "profiler/formats/ops_csv/op_record.h"

namespace howard::profiler {

/// Writes the programs as `ops_perf_results` CSV, version 2.1 (98 columns), as tt-perf-report
/// reads it. What was not recorded is an empty cell. Firmware and kernel have the
/// same times, because nothing is emulated around a kernel. Inputs beyond the third and further
/// outputs have no column.
std::string ops_csv(std::span<const OpRecord> records, const DeviceFacts& device);

/// tt-metal's own profiler keeps no more programs (PROFILER_OP_SUPPORT_COUNT). Each takes some 70
/// KB.
inline constexpr std::size_t kMostDeviceLogPrograms = 1'000;

/// Writes the programs as `profile_log_device` CSV of 15 columns: the firmware and kernel zones of
/// every RISC of every core, at the cores' NoC coordinates. A program without recorded cores gets
/// one core. At most kMostDeviceLogPrograms are written; the caller says what is left out.
std::string device_log_csv(std::span<const OpRecord> records, const DeviceFacts& device);

}  // namespace howard::profiler
