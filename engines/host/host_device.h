// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "engines/device/forwarding_device.h"
#include "engines/host/host_options.h"

namespace howard::host {

/// The host CPU as a Device. It computes for real, and its clock is the steady clock. It has one
/// command queue and supports bfloat16 (computed in float32, and rounded once where a result is
/// stored) and float32. What a program says about core grids, math fidelity and fusion has no
/// meaning here. Its memory is what the system has available at opening.
///
/// One host thread uses it at a time. Programs usually run on the queue's thread. The host's thread
/// runs them itself while it waits (CommandThread says why), and runs a small program at once when
/// nothing is before it. Writes and reads wait for earlier programs and copy on the host's thread.
/// When a program fails while running, the next finish or read reports it; the programs behind it
/// are dropped until then, and the device can be used afterwards.
///
/// The sink receives the calls of the host thread and the programs of the queue from two threads,
/// but never two events at once: a mutex of the device is held around each.
class HostDevice final : public ForwardingDevice {
 public:
  /// Throws Error when the options make no sense on this machine.
  explicit HostDevice(const HostOptions& options = {});
  /// Waits for the running program and drops those behind it.
  ~HostDevice() override;

  CommandQueue& command_queue(int index) override;

  /// Returns how many threads compute: HostOptions::threads with 0 resolved.
  int threads() const;

 private:
  class Cpu;
  explicit HostDevice(std::unique_ptr<Cpu> cpu);

  std::unique_ptr<Cpu> cpu_;
};

}  // namespace howard::host
