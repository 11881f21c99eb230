// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>

#include "engines/host/host_device.h"
#include "engines/wormhole/wormhole_device.h"

namespace howard::experiments {

/// The virtual development box every experiment runs on: the emulated chip as the profiles describe
/// it, and the host CPU.
class DevBox {
 public:
  /// `seed`: of the values that fill host tensors. `chip_memory`: is told of what the chips
  /// allocate; null: nobody.
  DevBox(const wormhole::Profiles& profiles, const host::HostOptions& host, std::uint64_t seed,
         MemorySink* chip_memory = nullptr);

  const wormhole::Profiles& profiles() const { return profiles_; }
  std::uint64_t seed() const { return seed_; }

  /// A fresh chip with its clock at zero.
  std::unique_ptr<wormhole::WormholeDevice> open_wormhole(
      wormhole::DeviceOptions options = {}) const;

  /// The host CPU; one device for all points, opened at the first call, from any thread.
  std::shared_ptr<host::HostDevice> host() const;

 private:
  wormhole::Profiles profiles_;
  host::HostOptions host_options_;
  std::uint64_t seed_;
  MemorySink* chip_memory_;
  mutable std::once_flag host_opened_;
  mutable std::shared_ptr<host::HostDevice> host_;
};

}  // namespace howard::experiments
