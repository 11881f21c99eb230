// SPDX-License-Identifier: Apache-2.0
#include "engines/reference/reference_device.h"

#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "engines/device/bfloat16.h"
#include "engines/program/whole_numbers.h"

namespace howard::reference {
namespace {

/// Returns a number as it is after being stored as bfloat16.
double stored(double value) {
  return double{from_bfloat16(to_bfloat16(static_cast<float>(value)))};
}

}  // namespace

BufferId ReferenceDevice::allocate(const TensorSpec& spec) {
  ++allocations_;
  const BufferId buffer{next_++};
  const auto elements = static_cast<std::size_t>(spec.shape.elements());
  buffers_[buffer] = Values(elements, std::numeric_limits<double>::quiet_NaN());
  dtypes_[buffer] = spec.dtype;
  return buffer;
}

void ReferenceDevice::enqueue(const Program& program) {
  programs_.push_back(program);
  if (capture_) {
    capture_->push_back(program);
  } else {
    execute(program);
  }
}

void ReferenceDevice::execute(const Program& program) {
  std::vector<const Values*> inputs;
  for (const Operand& input : program.inputs) inputs.push_back(&buffers_.at(input.buffer));
  std::vector<Values> outputs = compute(program, inputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (rounding_ == Rounding::of_storage && program.outputs[i].spec.dtype == DataType::bfloat16) {
      for (double& value : outputs[i]) value = stored(value);
    }
    buffers_.at(program.outputs[i].buffer) = std::move(outputs[i]);
  }
}

void ReferenceDevice::write_buffer(BufferId buffer, std::span<const std::byte> bytes) {
  ++host_writes_;
  Values& values = buffers_.at(buffer);
  const std::size_t width = bytes.size() / values.size();
  const DataType dtype = dtypes_.at(buffer);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::byte* from = bytes.data() + i * width;
    if (is_whole(dtype)) {
      values[i] = static_cast<double>(read_whole(dtype, from));
      continue;
    }
    std::uint32_t bits = 0;
    std::memcpy(&bits, from, width);
    if (width == 2) bits <<= 16;
    values[i] = double{std::bit_cast<float>(bits)};
  }
}

void ReferenceDevice::read_buffer(BufferId buffer, std::span<std::byte> bytes) {
  const Values& values = buffers_.at(buffer);
  const std::size_t width = bytes.size() / values.size();
  const DataType dtype = dtypes_.at(buffer);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::byte* to = bytes.data() + i * width;
    if (is_whole(dtype)) {
      write_whole(dtype, typecast(dtype, values[i]), to);
      continue;
    }
    auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(values[i]));
    if (width == 2) bits >>= 16;
    std::memcpy(to, &bits, width);
  }
}

TraceId ReferenceDevice::end_trace_capture() {
  const TraceId trace{next_++};
  traces_[trace] = std::move(*capture_);
  capture_.reset();
  return trace;
}

void ReferenceDevice::execute_trace(TraceId trace) {
  for (const Program& program : traces_.at(trace)) execute(program);
}

}  // namespace howard::reference
