// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/units.h"
#include "profiler/formats/log.h"

namespace howard::profiler {

/// What the device profiler calls a program.
struct DeviceProgramId {
  std::int64_t host_id = 0;
  std::int64_t trace = -1;    ///< -1: not of a trace, or the file does not say.
  std::int64_t counter = -1;  ///< Of the trace's replays.

  friend auto operator<=>(const DeviceProgramId&, const DeviceProgramId&) = default;
};

/// One RISC of one core.
struct DeviceLane {
  std::uint16_t device = 0;
  NameId risc = 0;
  std::int32_t x = 0, y = 0;

  friend auto operator<=>(const DeviceLane&, const DeviceLane&) = default;
};

/// Makes programs of the kernel zones of a device log.
class DeviceLogPrograms {
 public:
  /// `log` gets the runs and what is dropped; it must outlive this.
  explicit DeviceLogPrograms(Log& log) : log_(log) {}

  /// `sub_device`: whose cores it runs on; 0 where the file does not say.
  void start(const DeviceLane& lane, const DeviceProgramId& id, std::uint16_t sub_device,
             std::int64_t cycle, std::uint64_t line);
  void end(const DeviceLane& lane, std::int64_t cycle, std::uint64_t line);

  /// Ends the file, or what stands before a repeated first line.
  void end_file(const std::string& architecture, Frequency clock);

 private:
  struct Program {
    DeviceProgramId id;
    std::uint32_t run;
    std::uint16_t device;
    std::uint16_t sub_device;
    std::int64_t start;
    std::int64_t end;  ///< Before `start` when no zone of it has ended.
  };
  /// Which run of which program of which device it is; the last is how often the lane ran it
  /// before.
  struct Key {
    std::uint32_t run;
    std::uint16_t device;
    DeviceProgramId id;
    std::uint32_t repetition;

    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct LaneState {
    std::optional<std::size_t> program;  ///< Whose zone is open.
    std::int64_t start = 0;
    std::uint64_t line = 0;
    std::int64_t last = 0;  ///< The latest cycle.
    std::uint32_t run = 0;
    std::map<DeviceProgramId, std::uint32_t> started;  ///< How often, in this run.
  };

  std::optional<std::int64_t> checked(const DeviceLane& lane, std::int64_t cycle,
                                      std::uint64_t line);

  Log& log_;
  std::size_t kept_ = 0;  ///< Programs of earlier files.
  std::map<DeviceLane, LaneState> lanes_;
  std::map<Key, std::size_t> index_;
  std::vector<Program> programs_;
  std::map<std::uint16_t, bool> near_end_;  ///< Devices whose counter was about to wrap.
};

}  // namespace howard::profiler
