// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engines/workload/workload.h"

namespace howard::workload {

/// The time of a part of a run that has a name.
struct RegionTime {
  std::string name;
  std::uint64_t runs = 0;
  std::uint64_t calls = 0;
  SimTime time;  ///< On the host's clock, from its beginning to its end.
};

/// Says which of the host's own work takes time, and what is otherwise than it was recorded.
struct Playing {
  bool python = true;       ///< Calls from Python take time as they do there.
  bool first_calls = true;  ///< So do the first calls of programs.
  /// Lets a time of the host pass, under a name. If it is empty, only calls from the report's
  /// Python engine take time.
  std::function<void(SimTime, std::string_view)> pass;
  /// Changes the program of a call; false leaves the call out. Empty: it is as it was recorded.
  std::function<bool(Program&)> change = {};
};

/// Gives the commands of a workload to a device, both live, while a script makes them, and again
/// later. Both run the same code, so that they take the same virtual time.
class Player {
 public:
  /// `device` and `workload` must outlive it.
  Player(Device& device, const Workload& workload, Playing playing = {});
  ~Player();
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  /// Throws Error as the device does, for numbers that the workload does not have, and for numbers
  /// that are used at the wrong time, such as a tensor after its release.
  void run(const Command& command);

  /// Releases all tensors that are left, and all traces with numbers below `traces_below`.
  void clear(std::uint32_t traces_below);
  /// Forgets the counted calls and regions.
  void restart();

  /// Returns the program of a call, on the tensors as they are now; none if the call is left out.
  /// Throws Error as above.
  std::optional<Program> program_of(const CallLine& call);
  bool is_alive(TensorNumber tensor) const;
  /// Returns the regions in the order of their first beginning.
  const std::vector<RegionTime>& regions() const { return regions_; }
  std::uint64_t calls() const { return calls_; }

 private:
  struct OpenRegion {
    std::size_t region;
    SimTime start;
    std::uint64_t calls;
  };

  CommandQueue& queue(const Command& command) { return device_.command_queue(command.queue); }
  Operand operand(TensorNumber tensor) const;
  const Attributes& attributes_of(std::uint32_t op);
  void make(TensorNumber tensor);
  void release(TensorNumber tensor);
  /// Returns room for the values of a transfer. A device without values does not look at them, so
  /// the room takes no memory then.
  std::span<std::byte> scratch(const TensorSpec& spec);
  void write(const Command& command);
  void read(const Command& command);
  void call(const Command& command);
  void begin_region(std::uint32_t name);
  void end_region();
  void divide(std::uint32_t list);
  /// Marks a place in timelines by a span of no length on the host's track.
  void mark(std::string_view what, std::string_view name);
  void charge(SimTime each, std::string_view name, const Command& command);
  template <class Known>
  const Known& known(const std::map<std::uint32_t, Known>& from, std::uint32_t number,
                     const char* what) const;

  Device& device_;
  const Workload& workload_;
  Playing playing_;
  std::vector<std::optional<BufferId>> buffers_;
  std::vector<std::optional<Attributes>> attributes_;
  std::map<std::uint32_t, EventId> events_;
  std::map<std::uint32_t, TraceId> traces_;
  std::vector<RegionTime> regions_;
  std::vector<OpenRegion> open_;
  std::unique_ptr<std::byte[]> scratch_;
  std::size_t scratch_size_ = 0;
  std::uint64_t calls_ = 0;
};

}  // namespace howard::workload
