// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engines/workload/workload.h"

namespace howard::workload {

/// A part of a run that has a name.
struct RegionTime {
  std::string name;
  std::uint64_t runs = 0;
  std::uint64_t calls = 0;
  SimTime time;  ///< Of the host's clock, from its beginning to its end.
};

/// Gives the commands of a workload to a device: live, while a script makes them, and again later.
/// Both are the same code, so that they take the same virtual time.
class Player {
 public:
  /// Both must outlive it. `charges_python`: whether calls from Python cost what they cost there.
  Player(Device& device, const Workload& workload, bool charges_python = true);
  ~Player();
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  /// Error as the device says, and for numbers that the workload does not have or that are used at
  /// the wrong time: a tensor after its release.
  void run(const Command& command);

  /// Releases what is left: all tensors, and traces with numbers below `traces_below`.
  void clear(std::uint32_t traces_below);
  /// Forgets what was counted: calls, regions.
  void restart();

  /// The program of a call, on the tensors as they are now. Errors as above.
  Program program_of(const CallLine& call);
  bool is_alive(TensorNumber tensor) const;
  /// In the order of their first beginning.
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
  void write(const Command& command);
  void read(const Command& command);
  void call(const Command& command);
  void begin_region(std::uint32_t name);
  void end_region();
  void divide(std::uint32_t list);
  template <class Known>
  const Known& known(const std::map<std::uint32_t, Known>& from, std::uint32_t number,
                     const char* what) const;

  Device& device_;
  const Workload& workload_;
  bool charges_python_;
  std::vector<std::optional<BufferId>> buffers_;
  std::vector<std::optional<Attributes>> attributes_;
  std::map<std::uint32_t, EventId> events_;
  std::map<std::uint32_t, TraceId> traces_;
  std::vector<RegionTime> regions_;
  std::vector<OpenRegion> open_;
  std::vector<std::byte> scratch_;
  std::uint64_t calls_ = 0;
};

}  // namespace howard::workload
