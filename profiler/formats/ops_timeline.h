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
  /// `log` gets the runs and what is dropped. It must outlive the builder.
  explicit OpsTimelineBuilder(Log& log) : log_(log) {}

  /// Takes a row. If a row repeats the first call of its device at an earlier cycle, the device was
  /// reset between them and another run begins.
  void add(const OpRow& row);
  /// Ends the run if it has rows; the next row begins another.
  void end_run();

 private:
  /// Holds a row of a device op until the device's clock is known, in 64 bytes, for up to two
  /// million rows.
  struct Op {
    /// Stands for a time that the row does not say.
    static constexpr SimTime kUnsaid =
        SimTime::picoseconds(std::numeric_limits<std::int64_t>::min());

    std::int64_t start;   ///< The start of the firmware, in cycles that do not wrap.
    std::int64_t cycles;  ///< The cycles of the firmware; -1 if the row does not say.
    SimTime firmware;     ///< The time of the firmware, or kUnsaid.
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
    std::int64_t last_cycle = 0;  ///< The latest row's start, as it is in the file.
    CycleCounter counter;
    /// The ops in order, in pieces, which grow without moving a million ops and are freed while
    /// programs are made of them.
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
  std::size_t programs_ = 0;  ///< The number of programs of all runs.
  LoggedRun run_;
  NameId section_ = 0;
  std::map<std::uint16_t, Device> devices_;
  std::map<std::pair<NameId, std::string>, HostOp> host_ops_;
};

}  // namespace howard::profiler
