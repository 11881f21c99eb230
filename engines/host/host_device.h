// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "engines/device/device.h"
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
class HostDevice final : public Device {
 public:
  /// Throws Error when the options make no sense on this machine.
  explicit HostDevice(const HostOptions& options = {});
  /// Waits for the running program and drops those behind it.
  ~HostDevice() override;

  std::string description() const override;  ///< "host CPU, 2 threads".
  BufferId allocate(const TensorSpec& spec) override;
  void release(BufferId buffer) override;
  int command_queues() const override;
  CommandQueue& command_queue(int index) override;
  void release_trace(TraceId trace) override;
  void set_sub_devices(std::span<const CoreRange> sub_devices) override;
  bool holds_values() const override { return true; }
  void begin_phase(std::string_view phase) override;
  std::vector<MemoryPhase> memory_phases() const override;
  SimTime now() const override;
  void set_trace_sink(EventSink* sink) override;

  /// Returns the ways of large products, on which the bits of their results depend.
  std::string product_ways() const;
  /// Returns how many threads compute: HostOptions::threads with 0 resolved.
  int threads() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace howard::host
