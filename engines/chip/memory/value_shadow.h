// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>

#include "engines/device/device.h"

namespace howard::chip {

/// Holds the values of an emulated device: it repeats every call on a device that computes. All
/// command queues are merged into that device's single queue, in the order of the host's calls;
/// that order respects every event that a queue could wait for. Without such a device it does
/// nothing.
class ValueShadow {
 public:
  explicit ValueShadow(Device* device) : device_(device) {}

  bool exists() const { return device_ != nullptr; }

  // These throw Error when the other device does.

  void allocate(BufferId buffer, const TensorSpec& spec);
  void release(BufferId buffer);
  void enqueue(const Program& program);
  void write(BufferId buffer, std::span<const std::byte> values);
  void read(BufferId buffer, std::span<std::byte> values);
  void finish();
  void begin_trace_capture();
  /// `trace` is the emulated device's name for the trace; pass none to discard the capture.
  void end_trace_capture(std::optional<TraceId> trace);
  void execute_trace(TraceId trace);
  void release_trace(TraceId trace);

 private:
  CommandQueue& queue() { return device_->command_queue(0); }

  Device* device_;
  std::map<BufferId, BufferId> buffers_;
  std::map<TraceId, TraceId> traces_;
};

}  // namespace howard::chip
