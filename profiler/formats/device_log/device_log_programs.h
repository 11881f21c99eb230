// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/units.h"
#include "profiler/formats/log.h"

namespace howard::profiler {

/// Identifies a program as the device profiler does.
struct DeviceProgramId {
  std::int64_t host_id = 0;
  std::int64_t trace = -1;    ///< -1: it belongs to no trace, or the file does not say.
  std::int64_t counter = -1;  ///< The number of the trace's replay.

  friend auto operator<=>(const DeviceProgramId&, const DeviceProgramId&) = default;
};

/// Identifies one RISC of one core.
struct DeviceLane {
  std::uint16_t device = 0;
  NameId risc = 0;
  std::int32_t x = 0, y = 0;

  friend auto operator<=>(const DeviceLane&, const DeviceLane&) = default;
};

/// Makes programs, and the zones of each, of the zones of a device log.
class DeviceLogPrograms {
 public:
  /// `log` gets the runs and what is dropped, `names` has those of RISCs and zones. Both must
  /// outlive this.
  DeviceLogPrograms(Log& log, const NameTable& names) : log_(log), names_(names) {}

  /// Begins a kernel. `sub_device` is the one on whose cores it runs; 0 where the file does not
  /// say.
  void start(const DeviceLane& lane, const DeviceProgramId& id, std::uint16_t sub_device,
             std::int64_t cycle, std::uint64_t line);
  /// Ends the kernel that is open; `zone` is its name.
  void end(const DeviceLane& lane, NameId zone, std::int64_t cycle, std::uint64_t line);

  /// Begins and ends a zone within the kernel that is open. Outside of kernels they are not
  /// counted.
  void start_zone(const DeviceLane& lane, NameId zone, std::int64_t cycle, std::uint64_t line);
  void end_zone(const DeviceLane& lane, NameId zone, std::int64_t cycle, std::uint64_t line);
  /// Takes a zone whose cycles the device added up itself.
  void total(const DeviceLane& lane, std::int64_t host_id, NameId zone, std::int64_t cycles);

  /// Ends the file, or the part before a repeated first line. A note says if rows of a core are not
  /// in the order of their times.
  void end_file(const std::string& architecture, Frequency clock);

 private:
  struct Zone {
    NameId risc, zone;
    std::uint64_t entries = 0;
    std::int64_t cycles = 0;
    std::int64_t longest = 0;
  };
  using Zones = std::vector<Zone>;
  struct Program {
    DeviceProgramId id;
    std::size_t zones;  ///< Into `zones_`.
    std::uint32_t run;
    std::uint16_t device;
    std::uint16_t sub_device;
    std::int64_t start;
    std::int64_t end;  ///< Before `start` if none of its zones has ended.
  };
  /// Says which run of which program of which device it is. The last member is how often the lane
  /// ran it before.
  struct Key {
    std::uint32_t run;
    std::uint16_t device;
    DeviceProgramId id;
    std::uint32_t repetition;

    friend auto operator<=>(const Key&, const Key&) = default;
  };
  /// Says whose zones they are: the run, the device, and the run host ID.
  using ZonesKey = std::tuple<std::uint32_t, std::uint16_t, std::int64_t>;
  struct OpenZone {
    NameId zone;
    std::int64_t start;
  };
  struct LaneState {
    std::optional<std::size_t> program;  ///< The program whose zone is open.
    std::vector<OpenZone> open;          ///< The zones that are open within it, the inner one last.
    std::int64_t start = 0;
    std::uint64_t line = 0;
    std::int64_t last = 0;  ///< The latest cycle.
    std::uint32_t run = 0;
    std::vector<std::int64_t> busy;  ///< The cycles of its kernels, by run.
    /// The number of times that each program was started in this run.
    std::map<DeviceProgramId, std::uint32_t> started;
  };

  std::optional<std::int64_t> checked(const DeviceLane& lane, std::int64_t cycle,
                                      std::uint64_t line);

  std::size_t zones_at(const ZonesKey& key);
  void add(Zones& zones, NameId risc, NameId zone, std::int64_t cycles) const;
  std::vector<ProgramZones> zones_of_run(std::uint32_t run, Frequency clock) const;
  std::vector<CoreTime> cores_of_run(std::uint32_t run, Frequency clock) const;
  LoggedRun make_run(std::uint32_t index, Frequency clock, const std::string& architecture) const;

  Log& log_;
  const NameTable& names_;
  std::size_t kept_ = 0;  ///< The number of programs of earlier files.
  std::map<DeviceLane, LaneState> lanes_;
  std::map<Key, std::size_t> index_;
  std::vector<Program> programs_;
  std::map<ZonesKey, std::size_t> zones_index_;
  std::vector<Zones> zones_;
  std::uint64_t disorder_ = 0;  ///< Kernels that begin before one that stands above them.
  std::map<std::uint16_t, bool> near_end_;  ///< The devices whose counter was about to wrap.
};

}  // namespace howard::profiler
