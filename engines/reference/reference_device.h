// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engines/device/device.h"
#include "engines/ops/tensor.h"
#include "engines/reference/reference_ops.h"

namespace howard::reference {

enum class Rounding : std::uint8_t {
  none,
  /// A program's results in a bfloat16 tensor are rounded to bfloat16, as on every device that
  /// stores them. What then remains between two devices is the rounding of their sums.
  of_storage,
};

/// The device that other devices are compared with. It computes each op by its definition, element
/// by element in float64 whatever the data type, as soon as it is enqueued, and it records every
/// program. New buffers hold NaN, so that a value that is read before it was written shows.
class ReferenceDevice final : public Device, private CommandQueue {
 public:
  explicit ReferenceDevice(Rounding rounding = Rounding::none) : rounding_(rounding) {}

  const Values& values(const ops::Tensor& tensor) const { return buffers_.at(tensor.buffer()); }
  Values& values(const ops::Tensor& tensor) { return buffers_.at(tensor.buffer()); }
  /// Returns all programs that ran or were captured since the last clear().
  const std::vector<Program>& programs() const { return programs_; }
  void clear() { programs_.clear(); }
  std::size_t live_buffers() const { return buffers_.size(); }
  int allocations() const { return allocations_; }
  int host_writes() const { return host_writes_; }

  std::string description() const override { return "reference"; }
  bool holds_values() const override { return true; }
  BufferId allocate(const TensorSpec& spec) override;
  void release(BufferId buffer) override { buffers_.erase(buffer); }
  int command_queues() const override { return 1; }
  CommandQueue& command_queue(int) override { return *this; }
  void release_trace(TraceId trace) override { traces_.erase(trace); }
  void set_sub_devices(std::span<const CoreRange>) override {}
  SimTime now() const override { return {}; }
  void set_trace_sink(EventSink*) override {}

 private:
  void enqueue(const Program& program) override;
  void write_buffer(BufferId buffer, std::span<const std::byte> values) override;
  void read_buffer(BufferId buffer, std::span<std::byte> values) override;
  void finish() override {}
  EventId record_event() override { return {}; }
  void wait_for_event(EventId) override {}
  void begin_trace_capture() override { capture_.emplace(); }
  TraceId end_trace_capture() override;
  void execute_trace(TraceId trace) override;

  void execute(const Program& program);

  Rounding rounding_;
  std::map<BufferId, Values> buffers_;
  std::map<BufferId, DataType> dtypes_;
  std::vector<Program> programs_;
  std::optional<std::vector<Program>> capture_;
  std::map<TraceId, std::vector<Program>> traces_;
  std::uint64_t next_ = 1;
  int allocations_ = 0;
  int host_writes_ = 0;
};

}  // namespace howard::reference
