// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "engines/chip/emulated_chip.h"
#include "engines/host/host_device.h"

namespace howard::experiments {

/// Is the virtual development box on which every experiment runs: the emulated chip as the profiles
/// describe it, and the host CPU.
class DevBox {
 public:
  /// `seed` is for the values that fill host tensors. `chip_memory` receives what the chips
  /// allocate; null if nobody listens. `stop` says whether the user wants to stop, for work that
  /// takes long within a point; empty if nobody does.
  DevBox(const chip::Profiles& profiles, const host::HostOptions& host, std::uint64_t seed,
         MemorySink* chip_memory = nullptr, std::function<bool()> stop = {});
  /// Does the same with the profiles of `constants`, which it keeps.
  DevBox(const chip::ProfileConstants& constants, const host::HostOptions& host, std::uint64_t seed,
         MemorySink* chip_memory = nullptr, std::function<bool()> stop = {});

  /// Returns the same box with another chip or software.
  std::shared_ptr<const DevBox> with(const chip::Profiles& profiles) const;
  std::shared_ptr<const DevBox> with(const chip::ProfileConstants& constants) const;

  /// Returns the same box, whose chips, and those of the boxes that are made of it, run some calls
  /// with other arguments and say what they ran. `calls` outlives them all; both may be null.
  std::shared_ptr<const DevBox> tuned(std::shared_ptr<const chip::TunedCalls> tuned,
                                      chip::CallSink* calls) const;

  const chip::Profiles& profiles() const { return profiles_; }
  bool has_constants() const { return constants_.has_value(); }
  /// Returns the constants of which the box was made; it must have been made of constants.
  const chip::ProfileConstants& constants() const;
  std::uint64_t seed() const { return seed_; }
  /// Returns who hears of what the chips allocate; null if nobody does.
  MemorySink* chip_memory() const { return chip_memory_; }
  const std::function<bool()>& stop() const { return stop_; }

  /// Returns a fresh chip with its clock at zero.
  std::unique_ptr<chip::EmulatedChip> open_chip(chip::DeviceOptions options = {}) const;

  /// Returns the host CPU. There is one device for all points, opened at the first call, from any
  /// thread. A second one fuses the traces that it captures.
  std::shared_ptr<host::HostDevice> host(bool fuses_traces = false) const;

 private:
  /// Gives another box the tuned calls of this one, and who hears of them.
  std::shared_ptr<const DevBox> listening(std::shared_ptr<DevBox> box) const;

  chip::Profiles profiles_;
  std::optional<chip::ProfileConstants> constants_;
  host::HostOptions host_options_;
  std::uint64_t seed_;
  MemorySink* chip_memory_;
  std::function<bool()> stop_;
  std::shared_ptr<const chip::TunedCalls> tuned_;
  chip::CallSink* calls_ = nullptr;
  struct Host {
    std::once_flag opened;
    std::shared_ptr<host::HostDevice> device;
  };
  mutable Host plain_host_, fusing_host_;
};

}  // namespace howard::experiments
