// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/sim_time.h"
#include "base/trace_event.h"
#include "engines/device/program.h"
#include "engines/device/tensor_spec.h"

namespace howard {

/// An in-order stream of commands to one device.
class CommandQueue {
 public:
  virtual ~CommandQueue() = default;

  /// Hands `program` over and returns when the host is free again, not when it has run.
  /// Error when the device can never run it (shape, memory, cores).
  virtual void enqueue(const Program& program) = 0;

  /// Copies `values` (the buffer's elements, row by row without tile padding, in its data type)
  /// into the buffer. Error when the size is not the buffer's.
  virtual void write_buffer(BufferId buffer, std::span<const std::byte> values) = 0;

  /// Waits for all earlier commands and copies the buffer's elements into `values`. Error when the
  /// size is not the buffer's, when an earlier command failed, or when the device holds no values.
  virtual void read_buffer(BufferId buffer, std::span<std::byte> values) = 0;

  /// Waits until every earlier command has run. Error when one of them failed.
  virtual void finish() = 0;
};

/// What executes programs: the emulated Wormhole on a virtual clock, or the host CPU on the wall
/// clock. Engines and experiments are written over this interface and never ask which it is.
class Device {
 public:
  virtual ~Device() = default;

  /// For reports: "wormhole_b0_n300, WORKER dispatch, 8x7 cores".
  virtual std::string description() const = 0;

  /// Reserves memory for `spec`. Error when the device has none left, with who holds what.
  virtual BufferId allocate(const TensorSpec& spec) = 0;
  /// Gives a buffer back. The caller must have finished the commands that use it.
  virtual void release(BufferId buffer) = 0;

  /// Error when `index` is not one of the device's queues; 0 always exists.
  virtual CommandQueue& command_queue(int index) = 0;

  /// The device's clock as its host sees it: virtual or steady, 0 when the device was opened.
  virtual SimTime now() const = 0;

  /// Where events go from now on; null stops recording. The sink must outlive the device or the
  /// next call. To be called while no command is in flight.
  virtual void set_trace_sink(TraceSink* sink) = 0;
};

}  // namespace howard
