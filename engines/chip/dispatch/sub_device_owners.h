// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace howard::chip {

/// Says which command queue may launch on which sub-device, by tt-metal's rule. The cores of a
/// sub-device count completions for one queue at a time. So before another queue may launch there,
/// it must know that the owner's programs are done: through a finish of the owner, or by waiting
/// for an event that the owner recorded behind the last of them.
class SubDeviceOwners {
 public:
  explicit SubDeviceOwners(int sub_devices) : sub_devices_(static_cast<std::size_t>(sub_devices)) {}

  /// Returns the queue that keeps `queue` from launching on `sub_device`; returns nothing when it
  /// may launch.
  std::optional<int> obstacle(int queue, int sub_device) const;

  void launched(int queue, int sub_device);
  void recorded(int queue, std::uint64_t event);
  void waited(int queue, std::uint64_t event);
  void finished(int queue);

 private:
  struct Ownership {
    std::optional<int> owner;
    /// The first event recorded behind the owner's last program.
    std::optional<std::uint64_t> first_event;
    std::set<int> informed;  ///< The queues that have waited for this event or a later one.
  };

  std::vector<Ownership> sub_devices_;
  std::map<std::uint64_t, int> recorder_;  ///< For each event, the queue that recorded it.
};

}  // namespace howard::chip
