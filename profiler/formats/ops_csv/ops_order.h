// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/sim_time.h"
#include "profiler/formats/device_log/cycle_counter.h"
#include "profiler/timeline.h"

namespace howard::profiler {

/// Holds a row of a device op until the device's clock is known. A file may have two million of
/// them, of 96 bytes each.
struct LoggedOp {
  /// This stands in place of a time that the row does not say.
  static constexpr SimTime kUnsaid = SimTime::picoseconds(std::numeric_limits<std::int64_t>::min());
  static constexpr std::int64_t kNoHost = std::numeric_limits<std::int64_t>::min();

  std::int64_t start;   ///< The firmware's start, in cycles that do not wrap.
  std::int64_t cycles;  ///< The firmware's; -1 when the row does not say.
  SimTime firmware;     ///< Or kUnsaid.
  SimTime kernel;
  SimTime op_to_op;         ///< Or kUnsaid.
  std::int64_t host_start;  ///< Nanoseconds of the host's clock, or kNoHost.
  std::uint64_t line;
  NameId name;
  NameId section;
  std::uint32_t trace;
  std::uint32_t replay;
  std::uint32_t call;
  std::uint32_t host_id;    ///< GLOBAL CALL COUNT; 0: none.
  std::uint32_t host_time;  ///< Nanoseconds, 4 s at most.
  std::uint16_t cores;
  std::uint16_t sub_device;
  std::uint8_t wraps;  ///< The wraps of the counter so far, by the order of the file.
  bool compiled;
  bool ran_before;  ///< In the part of the log that is left out.
};

/// Holds ops in pieces: they become longer without moving a million of them, and are given back
/// while programs are made of them.
using LoggedOps = std::vector<std::vector<LoggedOp>>;

/// Follows the starts of a device's rows in the order of the file.
class OpsOrder {
 public:
  /// Sets the op's start, `cycle` as the file has it; false when that is no counter's value.
  bool add(std::int64_t cycle, LoggedOp& op);
  /// Says whether each row began when the one before it did, or later.
  bool is_kept() const { return in_order_; }

 private:
  CycleCounter counter_;
  std::int64_t last_ = 0;
  bool in_order_ = true;
};

/// Puts ops that the file does not have in order by their starts, in one piece. Equal ones keep an
/// order that does not depend on the file's. A counter that wrapped is continued, once.
void sort_by_start(LoggedOps& ops);

}  // namespace howard::profiler
