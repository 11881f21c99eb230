// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "engines/device/device.h"

namespace howard {

/// A device that stands in front of another one and hands everything on to it and to its first
/// command queue. A class over it overrides what it does itself.
///
/// The device behind must outlive it and the tensors that are allocated on it.
class ForwardingDevice : public Device, protected CommandQueue {
 public:
  std::string description() const override { return device_.description(); }
  bool holds_values() const override { return device_.holds_values(); }
  BufferId allocate(const TensorSpec& spec) override { return device_.allocate(spec); }
  void release(BufferId buffer) override { device_.release(buffer); }
  int command_queues() const override { return 1; }
  CommandQueue& command_queue(int index) override {
    if (index == 0) return *this;
    throw Error({.attempted = "open a command queue of " + description(),
                 .value = std::to_string(index),
                 .accepted = "0"});
  }
  void release_trace(TraceId trace) override {
    before("release a trace");
    device_.release_trace(trace);
  }
  void set_sub_devices(std::span<const CoreRange> sub_devices) override {
    before("divide the device");
    device_.set_sub_devices(sub_devices);
  }
  void begin_phase(std::string_view phase) override { device_.begin_phase(phase); }
  std::vector<MemoryPhase> memory_phases() const override { return device_.memory_phases(); }
  void host_work(HostWork work, int count) override { device_.host_work(work, count); }
  void use_host_thread(int thread) override {
    before("change the host thread");
    device_.use_host_thread(thread);
  }
  void join_host_threads() override {
    before("join host threads");
    device_.join_host_threads();
  }
  SimTime now() const override { return device_.now(); }
  void set_trace_sink(EventSink* sink) override {
    before("set a trace sink");
    device_.set_trace_sink(sink);
  }

 protected:
  explicit ForwardingDevice(Device& device) : device_(device), queue_(device.command_queue(0)) {}

  /// Is called before whatever is more than programs, reads, writes and memory. A device that
  /// supports only those throws Error; `what` says what was asked of it.
  virtual void before(std::string_view /*what*/) {}

  void enqueue(const Program& program) override { queue_.enqueue(program); }
  void write_buffer(BufferId buffer, std::span<const std::byte> values) override {
    queue_.write_buffer(buffer, values);
  }
  void read_buffer(BufferId buffer, std::span<std::byte> values) override {
    queue_.read_buffer(buffer, values);
  }
  void finish() override { queue_.finish(); }
  EventId record_event() override {
    before("record an event");
    return queue_.record_event();
  }
  void wait_for_event(EventId event) override {
    before("wait for an event");
    queue_.wait_for_event(event);
  }
  void begin_trace_capture() override {
    before("begin a trace capture");
    queue_.begin_trace_capture();
  }
  TraceId end_trace_capture() override {
    before("end a trace capture");
    return queue_.end_trace_capture();
  }
  void execute_trace(TraceId trace) override {
    before("execute a trace");
    queue_.execute_trace(trace);
  }

  Device& behind() const { return device_; }
  CommandQueue& queue_behind() const { return queue_; }

 private:
  Device& device_;
  CommandQueue& queue_;
};

}  // namespace howard
