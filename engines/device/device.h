// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sim_time.h"
#include "base/trace_event.h"
#include "engines/device/memory_ledger.h"
#include "engines/device/program.h"
#include "engines/device/tensor_spec.h"

namespace howard {

/// A mark in the stream of a queue.
enum class EventId : std::uint64_t {};

/// A recorded stream of programs that can be replayed.
enum class TraceId : std::uint64_t {};

/// Work of the caller's own code between its calls.
enum class HostWork : std::uint8_t {
  python_call,  ///< An op called from Python, beyond the same call from C++.
  graph_node,   ///< A node of an autograd graph: made, ordered and visited.
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

  /// Hands `program` over and returns when the host is free again, not when it has run.
  /// Error when the device can never run it (shape, memory, cores).
  virtual void enqueue(const Program& program) = 0;

  /// Enqueues its programs in their order, always to this queue; one that makes them ready the
  /// first time spends less on each time after. Errors as above.
  virtual void enqueue_all(ProgramList& list) {
    for (const Program& program : list.programs) enqueue(program);
  }

  /// Copies `values` (the buffer's elements, row by row without tile padding, in its data type)
  /// into the buffer. Error when the size is not the buffer's.
  virtual void write_buffer(BufferId buffer, std::span<const std::byte> values) = 0;

  /// Waits for all earlier commands and copies the buffer's elements into `values`, which a device
  /// without values leaves as they are. Error when the size is not the buffer's or an earlier
  /// command failed.
  virtual void read_buffer(BufferId buffer, std::span<std::byte> values) = 0;

  /// Waits until every earlier command has run. Error when one of them failed.
  virtual void finish() = 0;

  /// Marks this point of the stream: the event has happened when all earlier commands have run.
  virtual EventId record_event() = 0;

  /// Later commands of this queue start only after `event`, of any queue of the same device, has
  /// happened. The host does not wait. Error for an event the device did not hand out.
  virtual void wait_for_event(EventId event) = 0;

  /// From here to end_trace_capture(), programs are recorded and not run. Error when a capture is
  /// going on already, on any queue.
  ///
  /// While it is, finish, reads, writes and events are errors: a trace holds programs only.
  virtual void begin_trace_capture() = 0;

  /// Ends the capture that began on this queue. Error when none did, or when the programs do not
  /// fit the trace region; the capture has then ended all the same.
  virtual TraceId end_trace_capture() = 0;

  /// Runs the recorded programs again, on the buffers they were recorded with, at the host's cost
  /// of one call. Error for a trace that was released or is not the device's.
  virtual void execute_trace(TraceId trace) = 0;
};

/// What executes programs: the emulated Wormhole on a virtual clock, or the host CPU on the wall
/// clock. Engines and experiments are written over this interface and never ask which it is.
class Device {
 public:
  virtual ~Device() = default;

  /// For reports: "wormhole_b0_n300, WORKER dispatch, 8x7 cores".
  virtual std::string description() const = 0;

  /// Whether buffers have contents: false on an emulated device that only keeps the time.
  virtual bool holds_values() const = 0;

  /// Reserves memory for `spec`. Error when the device has none left, with who holds what.
  virtual BufferId allocate(const TensorSpec& spec) = 0;
  /// Gives a buffer back. The caller must have finished the commands that use it.
  virtual void release(BufferId buffer) = 0;

  virtual int command_queues() const = 0;
  /// Error when `index` is not below command_queues(); 0 always exists.
  virtual CommandQueue& command_queue(int index) = 0;

  /// Gives a trace's region back. Error when it was released or is not the device's.
  virtual void release_trace(TraceId trace) = 0;

  /// Divides the compute cores: from now on a program runs on the sub-device it names, and programs
  /// on different ones may run at the same time. None: the whole grid is sub-device 0 again. Waits
  /// for everything enqueued. Error when they overlap, leave the grid, are more than the device
  /// supports, or the device has no cores to divide.
  virtual void set_sub_devices(std::span<const CoreRange> sub_devices) = 0;

  /// Memory use is counted under this name from now on ("forward"); a name that comes again goes on
  /// where it was. By default nothing is counted.
  virtual void begin_phase(std::string_view /*phase*/) {}
  /// The phases so far, in the order of their first begin.
  virtual std::vector<MemoryPhase> memory_phases() const { return {}; }

  /// Says that the caller has just done `count` pieces of `work`: an emulated host charges its time
  /// for them. By default nothing: a real host has spent it already.
  virtual void host_work(HostWork /*work*/, int /*count*/) {}

  /// Calls come from host thread `thread` from now on; 0 at first. Each has a clock of its own on
  /// an emulated host, a new one starting at the time of the one before. Calls of several threads
  /// are to be made in the order of their clocks, as nearly as one call: a thread that lags behind
  /// what another has waited for is moved there. By default nothing: a real host has one clock.
  virtual void use_host_thread(int /*thread*/) {}
  /// All host threads wait for the last of them; thread 0 goes on.
  virtual void join_host_threads() {}

  /// The device's clock as its host sees it: virtual or steady, 0 when the device was opened.
  virtual SimTime now() const = 0;

  /// Where events go from now on; null stops recording. The sink must outlive the device or the
  /// next call. To be called while no command is in flight.
  virtual void set_trace_sink(TraceSink* sink) = 0;
};

}  // namespace howard
