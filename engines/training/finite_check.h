// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "engines/device/device.h"

namespace howard::training {

/// A device that runs each program on another device, waits, and checks what the program wrote. It
/// is slow and is used to find where the first NaN or infinity came from. It supports only what a
/// training step needs: programs, reads, writes and memory; anything else throws Error.
class FiniteCheck final : public Device, private CommandQueue {
 public:
  /// `device` must outlive this object and the tensors that are allocated on it.
  explicit FiniteCheck(Device& device) : device_(device), queue_(device.command_queue(0)) {}

  /// Says what first wrote a number that is not finite: "layernorm, program 17 of the step, in
  /// forward".
  const std::optional<std::string>& found() const { return found_; }
  /// Starts a step: programs are counted from 1 again.
  void begin_step() { program_ = 0; }

  std::string description() const override { return device_.description(); }
  bool holds_values() const override { return device_.holds_values(); }
  BufferId allocate(const TensorSpec& spec) override { return device_.allocate(spec); }
  void release(BufferId buffer) override { device_.release(buffer); }
  int command_queues() const override { return 1; }
  CommandQueue& command_queue(int) override { return *this; }
  void begin_phase(std::string_view phase) override { phase_ = phase; }
  std::vector<MemoryPhase> memory_phases() const override { return device_.memory_phases(); }
  SimTime now() const override { return device_.now(); }

  void release_trace(TraceId trace) override;
  void set_sub_devices(std::span<const CoreRange> sub_devices) override;
  void use_host_thread(int thread) override;
  void join_host_threads() override;
  void set_trace_sink(EventSink* sink) override;

 private:
  void enqueue(const Program& program) override;
  void write_buffer(BufferId buffer, std::span<const std::byte> values) override {
    queue_.write_buffer(buffer, values);
  }
  void read_buffer(BufferId buffer, std::span<std::byte> values) override {
    queue_.read_buffer(buffer, values);
  }
  void finish() override { queue_.finish(); }
  EventId record_event() override;
  void wait_for_event(EventId event) override;
  void begin_trace_capture() override;
  TraceId end_trace_capture() override;
  void execute_trace(TraceId trace) override;

  bool is_finite(const Operand& operand);

  Device& device_;
  CommandQueue& queue_;
  std::string phase_;
  int program_ = 0;
  std::optional<std::string> found_;
};

}  // namespace howard::training
