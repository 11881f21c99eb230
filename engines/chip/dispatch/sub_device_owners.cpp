// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/dispatch/sub_device_owners.h"

namespace howard::chip {

std::optional<int> SubDeviceOwners::obstacle(int queue, int sub_device) const {
  const Ownership& cores = sub_devices_[static_cast<std::size_t>(sub_device)];
  const bool free = !cores.owner || cores.owner == queue || cores.informed.contains(queue);
  return free ? std::nullopt : cores.owner;
}

void SubDeviceOwners::launched(int queue, int sub_device) {
  sub_devices_[static_cast<std::size_t>(sub_device)] = {.owner = queue};
}

void SubDeviceOwners::recorded(int queue, std::uint64_t event) {
  recorder_[event] = queue;
  for (Ownership& cores : sub_devices_) {
    if (cores.owner == queue && !cores.first_event) cores.first_event = event;
  }
}

void SubDeviceOwners::waited(int queue, std::uint64_t event) {
  for (Ownership& cores : sub_devices_) {
    const bool covered = cores.first_event && event >= *cores.first_event;
    if (covered && recorder_.at(event) == cores.owner) cores.informed.insert(queue);
  }
}

void SubDeviceOwners::finished(int queue) {
  for (Ownership& cores : sub_devices_) {
    if (cores.owner == queue) cores = {};
  }
}

}  // namespace howard::chip
