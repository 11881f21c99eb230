// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engines/device/collective.h"
#include "engines/device/device.h"
#include "engines/mesh/communicator.h"

namespace howard::mesh {

/// A device that computes and is connected to the devices of other ranks: it runs collectives with
/// them and hands everything else on to the device behind it. Sums are made in the order of the
/// ranks and in float32, so all devices get the same bits.
///
/// Behind an emulated chip, it computes the values of the programs that the chip times.
class MeshMember final : public Device, private CommandQueue {
 public:
  /// `device` and `ranks` must outlive it. The handle of a group holds its index in `groups`, each
  /// of which has the ranks of its members in their order, this rank among them.
  MeshMember(Device& device, Communicator& ranks, std::vector<std::vector<int>> groups);

  std::string description() const override { return device_.description(); }
  bool holds_values() const override { return device_.holds_values(); }
  BufferId allocate(const TensorSpec& spec) override { return device_.allocate(spec); }
  void release(BufferId buffer) override { device_.release(buffer); }
  int command_queues() const override { return 1; }
  CommandQueue& command_queue(int index) override;
  void release_trace(TraceId trace) override { device_.release_trace(trace); }
  void set_sub_devices(std::span<const CoreRange> sub_devices) override {
    device_.set_sub_devices(sub_devices);
  }
  void begin_phase(std::string_view phase) override { device_.begin_phase(phase); }
  std::vector<MemoryPhase> memory_phases() const override { return device_.memory_phases(); }
  SimTime now() const override { return device_.now(); }
  void set_trace_sink(EventSink* sink) override { device_.set_trace_sink(sink); }

 private:
  /// A collective waits for all earlier programs, and the host waits for it. Throws Error for a
  /// collective during a capture: a replay could not wait for the other ranks.
  void enqueue(const Program& program) override;
  void write_buffer(BufferId buffer, std::span<const std::byte> values) override {
    queue_.write_buffer(buffer, values);
  }
  void read_buffer(BufferId buffer, std::span<std::byte> values) override {
    queue_.read_buffer(buffer, values);
  }
  void finish() override { queue_.finish(); }
  EventId record_event() override { return queue_.record_event(); }
  void wait_for_event(EventId event) override { queue_.wait_for_event(event); }
  void begin_trace_capture() override;
  TraceId end_trace_capture() override;
  void execute_trace(TraceId trace) override { queue_.execute_trace(trace); }

  const std::vector<int>& group_of(const Program& program);
  std::vector<std::byte> read(const Operand& operand);
  std::vector<std::byte> gather(const std::vector<int>& group, const Collective& collective,
                                const Operand& part);
  std::vector<std::byte> sum_share(const std::vector<int>& group, const Collective& collective,
                                   const Operand& whole);

  Device& device_;
  CommandQueue& queue_;
  Communicator& ranks_;
  std::vector<std::vector<int>> groups_;
  bool captures_ = false;
};

}  // namespace howard::mesh
