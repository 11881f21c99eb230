// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/memory/value_shadow.h"

namespace howard::chip {

void ValueShadow::allocate(BufferId buffer, const TensorSpec& spec) {
  if (!exists()) return;
  TensorSpec held = spec;
  held.storage = Storage::dram;
  buffers_.emplace(buffer, device_->allocate(held));
}

void ValueShadow::release(BufferId buffer) {
  if (!exists()) return;
  device_->release(buffers_.at(buffer));
  buffers_.erase(buffer);
}

void ValueShadow::enqueue(const Program& program) {
  if (!exists()) return;
  Program shadow = program;
  const auto rename = [&](std::vector<Operand>& operands) {
    for (Operand& operand : operands) {
      operand.buffer = buffers_.at(operand.buffer);
      operand.spec.storage = Storage::dram;
    }
  };
  rename(shadow.inputs);
  rename(shadow.outputs);
  shadow.sub_device = 0;
  queue().enqueue(shadow);
}

void ValueShadow::write(BufferId buffer, std::span<const std::byte> values) {
  if (exists()) queue().write_buffer(buffers_.at(buffer), values);
}

void ValueShadow::read(BufferId buffer, std::span<std::byte> values) {
  if (exists()) queue().read_buffer(buffers_.at(buffer), values);
}

void ValueShadow::finish() {
  if (exists()) queue().finish();
}

void ValueShadow::begin_trace_capture() {
  if (exists()) queue().begin_trace_capture();
}

void ValueShadow::end_trace_capture(std::optional<TraceId> trace) {
  if (!exists()) return;
  const TraceId shadow = queue().end_trace_capture();
  if (trace) {
    traces_.emplace(*trace, shadow);
  } else {
    device_->release_trace(shadow);
  }
}

void ValueShadow::execute_trace(TraceId trace) {
  if (exists()) queue().execute_trace(traces_.at(trace));
}

void ValueShadow::release_trace(TraceId trace) {
  if (!exists()) return;
  device_->release_trace(traces_.at(trace));
  traces_.erase(trace);
}

}  // namespace howard::chip
