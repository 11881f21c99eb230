// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/events/timeline_event.h"
#include "base/sim_time.h"
#include "engines/device/memory_ledger.h"
#include "engines/program/program.h"
#include "engines/program/tensor_spec.h"

namespace howard {

/// A mark in the stream of a queue.
enum class EventId : std::uint64_t {};

/// A recorded stream of programs that can be replayed.
enum class TraceId : std::uint64_t {};

/// Names work that the caller's own code does between its calls.
enum class HostWork : std::uint8_t {
  python_call,  ///< The extra cost of calling an op from Python instead of C++.
  graph_node,   ///< The making, ordering and visiting of one node of an autograd graph.
};

/// A rectangle of cores, both corners included, in logical coordinates.
struct CoreRange {
  int first_column = 0, first_row = 0;
  int last_column = 0, last_row = 0;

  constexpr CoreGrid size() const {
    return {last_column - first_column + 1, last_row - first_row + 1};
  }
  friend constexpr bool operator==(const CoreRange&, const CoreRange&) = default;
};

/// An in-order stream of commands to one device.
class CommandQueue {
 public:
  virtual ~CommandQueue() = default;

  /// Hands `program` over. Returns as soon as the host is free again, which may be before the
  /// program has run. Throws Error when the device can never run it (shape, memory, cores).
  virtual void enqueue(const Program& program) = 0;

  /// Enqueues the programs of `list` in order. A list must always go to the same queue: a queue may
  /// prepare the programs the first time and spend less on each later time. Throws Error as above.
  virtual void enqueue_all(ProgramList& list) {
    for (const Program& program : list.programs) enqueue(program);
  }

  /// Copies `values` (the buffer's elements, row by row without tile padding, in its data type)
  /// into the buffer. Throws Error when the size is not the buffer's.
  virtual void write_buffer(BufferId buffer, std::span<const std::byte> values) = 0;

  /// Waits for all earlier commands and copies the buffer's elements into `values`. A device
  /// without values leaves `values` unchanged. Throws Error when the size is not the buffer's or an
  /// earlier command failed.
  virtual void read_buffer(BufferId buffer, std::span<std::byte> values) = 0;

  /// Waits until every earlier command has run. Throws Error when one of them failed.
  virtual void finish() = 0;

  /// Marks this point of the stream: the event has happened when all earlier commands have run.
  virtual EventId record_event() = 0;

  /// Makes later commands of this queue wait for `event`, which may come from any queue of the same
  /// device. The host does not wait. Throws Error for an event that the device did not hand out.
  virtual void wait_for_event(EventId event) = 0;

  /// Starts to record programs instead of running them, until end_trace_capture(). Throws Error
  /// when a capture is already going on, on any queue. During a capture, finish, reads, writes and
  /// events throw Error: a trace holds programs only.
  virtual void begin_trace_capture() = 0;

  /// Ends the capture that began on this queue. Throws Error when there is none, or when the
  /// programs do not fit the trace region; the capture ends in either case.
  virtual TraceId end_trace_capture() = 0;

  /// Runs the recorded programs again, on the buffers they were recorded with. The host pays for
  /// one call only. Throws Error for a trace that was released or belongs to another device.
  virtual void execute_trace(TraceId trace) = 0;
};

/// Something that executes programs: the emulated chip on a virtual clock, or the host CPU on
/// the wall clock. Engines and experiments are written over this interface and never ask which one
/// it is.
class Device {
 public:
  virtual ~Device() = default;

  /// Describes the device for reports: "wormhole_b0_n300, WORKER dispatch, 8x7 cores".
  virtual std::string description() const = 0;

  /// Returns whether buffers have contents. An emulated device that only keeps the time has none.
  virtual bool holds_values() const = 0;

  /// Reserves memory for `spec`. Throws Error when the device has too little left; the text names
  /// the largest holders.
  virtual BufferId allocate(const TensorSpec& spec) = 0;
  /// Gives a buffer back. The caller must first finish the commands that use it.
  virtual void release(BufferId buffer) = 0;

  virtual int command_queues() const = 0;
  /// Throws Error when `index` is not below command_queues(). Queue 0 always exists.
  virtual CommandQueue& command_queue(int index) = 0;

  /// Gives a trace's region back. Throws Error when the trace was already released or belongs to
  /// another device.
  virtual void release_trace(TraceId trace) = 0;

  /// Divides the compute cores. From now on each program runs on the sub-device it names, and
  /// programs on different sub-devices may run at the same time. An empty list makes the whole grid
  /// sub-device 0 again. Waits for everything that was enqueued. Throws Error when the sub-devices
  /// overlap, leave the grid or are more than the device supports, or when the device has no cores
  /// to divide.
  virtual void set_sub_devices(std::span<const CoreRange> sub_devices) = 0;

  /// Counts memory use under the name `phase` ("forward") from now on. A name that was used before
  /// continues its counts. The default implementation counts nothing.
  virtual void begin_phase(std::string_view /*phase*/) {}
  /// Returns the phases so far, in the order of their first begin.
  virtual std::vector<MemoryPhase> memory_phases() const { return {}; }

  /// Tells the device that the caller has just done `count` pieces of `work`. An emulated host adds
  /// the time they take to its clock. The default does nothing, because a real host has already
  /// spent that time.
  virtual void host_work(HostWork /*work*/, int /*count*/) {}

  /// Says that calls come from host thread `thread` from now on; it is 0 at first. On an emulated
  /// host each thread has a clock of its own; a new thread's clock starts at the time of the
  /// previous one. Make the calls of several threads in the order of their clocks, as nearly as one
  /// call allows: a thread that lags behind what another thread has waited for is moved forward to
  /// that time. The default does nothing, because a real host has one clock.
  virtual void use_host_thread(int /*thread*/) {}
  /// Makes all host threads wait for the last of them; thread 0 then continues.
  virtual void join_host_threads() {}

  /// Returns the time as the device's host sees it, virtual or steady. It is 0 when the device is
  /// opened.
  virtual SimTime now() const = 0;

  /// Sends events to `sink` from now on; null stops recording. The sink must outlive the device or
  /// be replaced by another call. Call this only while no command is in flight.
  virtual void set_trace_sink(EventSink* sink) = 0;
};

}  // namespace howard
