// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profiler/formats/cycle_counter.h"
#include "profiler/formats/log.h"
#include "profiler/formats/ops_csv_reader.h"

namespace howard::profiler {

/// Makes runs of the rows of an `ops_perf_results` file.
class OpsTimelineBuilder {
 public:
  /// `log` gets the runs and what is dropped; it must outlive the builder.
  explicit OpsTimelineBuilder(Log& log) : log_(log) {}

  /// Takes a row. A row that repeats the first call of its device at an earlier cycle begins
  /// another run: the device was reset between them.
  void add(const OpRow& row);
  /// Ends the run, if it has rows; the next row begins another.
  void end_run();

 private:
  /// A row of a device op, until the device's clock is known: 64 bytes of up to two million.
  struct Op {
    /// In place of a time that the row does not say.
    static constexpr SimTime kUnsaid =
        SimTime::picoseconds(std::numeric_limits<std::int64_t>::min());

    std::int64_t start;   ///< Of the firmware, in cycles that do not wrap.
    std::int64_t cycles;  ///< Of the firmware; -1 when the row does not say.
    SimTime firmware;     ///< Or kUnsaid.
    SimTime kernel;
    SimTime op_to_op;  ///< Or kUnsaid.
    std::uint64_t line;
    NameId name;
    NameId section;
    std::uint32_t trace;
    std::uint32_t replay;
  };
  struct Device {
    std::string architecture;
    std::optional<std::int64_t> first_call;
    std::int64_t last_cycle = 0;  ///< The latest row's start, as the file has it.
    CycleCounter counter;
    /// In order, in pieces: they become longer without moving a million of them, and are given back
    /// while programs are made of them.
    std::vector<std::vector<Op>> ops;
    std::map<std::int64_t, std::size_t> clocks;  ///< How many rows say which MHz.

    Op& add_op();
    void add_clock(const Op& op);
  };

  void add_host_op(const OpRow& row);
  void add_device_op(const OpRow& row);
  bool begins_run(const OpRow& row) const;
  void place_kernels(std::uint16_t id, Device& device, Frequency clock);

  Log& log_;
  std::size_t programs_ = 0;  ///< Of all runs.
  LoggedRun run_;
  NameId section_ = 0;
  std::map<std::uint16_t, Device> devices_;
  std::map<std::pair<NameId, std::string>, HostOp> host_ops_;
};

}  // namespace howard::profiler
