// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "engines/chip/emulated_chip.h"
#include "engines/host/host_device.h"
#include "harness/cli/command/shared_options.h"
#include "harness/cli/train/train_options.h"

namespace howard::cli {

/// Holds the devices that a run needs. The host computes, and the chip, if it is wanted, keeps the
/// time.
struct TrainDevices {
  /// `memory` receives the allocations of the device on which the model is trained; null if nobody
  /// listens.
  TrainDevices(const TrainOptions& options, MemorySink* memory)
      : host({.threads = options.threads,
              .binds_threads = options.binding,
              .memory = options.backend == harness::Backend::host ? memory : nullptr}) {
    if (options.backend == harness::Backend::emulated) {
      profiles = read_settings(options.profiles, chip::load_profiles);
      chip = std::make_unique<chip::EmulatedChip>(
          *profiles, chip::DeviceOptions{.values = &host, .memory = memory});
    }
    device().begin_phase("model");  // it counts from the first buffer on
  }

  Device& device() { return chip ? static_cast<Device&>(*chip) : host; }

  host::HostDevice host;
  std::optional<chip::Profiles> profiles;
  std::unique_ptr<chip::EmulatedChip> chip;
};

}  // namespace howard::cli
