// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace howard::wormhole {

/// Which command queue may launch on which sub-device, by tt-metal's rule: the cores of a
/// sub-device count completions for one queue at a time, so another queue must first know that the
/// owner's programs there are done: through a finish of the owner, or by waiting for an event that
/// the owner recorded behind the last of them.
class SubDeviceOwners {
 public:
  explicit SubDeviceOwners(int sub_devices) : sub_devices_(static_cast<std::size_t>(sub_devices)) {}

  /// The queue that keeps `queue` from launching on `sub_device`; absent when it may.
  std::optional<int> obstacle(int queue, int sub_device) const;

  void launched(int queue, int sub_device);
  void recorded(int queue, std::uint64_t event);
  void waited(int queue, std::uint64_t event);
  void finished(int queue);

 private:
  struct Ownership {
    std::optional<int> owner;
    std::optional<std::uint64_t> first_event;  ///< Recorded behind the owner's last program.
    std::set<int> informed;                    ///< Queues that have waited for it or a later one.
  };

  std::vector<Ownership> sub_devices_;
  std::map<std::uint64_t, int> recorder_;  ///< The queue that recorded an event.
};

}  // namespace howard::wormhole
