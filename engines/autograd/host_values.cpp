// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/host_values.h"

#include <fmt/format.h>

#include <cstdint>

#include "base/error.h"
#include "engines/device/bfloat16.h"

namespace howard::autograd {
namespace {

void require(const ops::Tensor& tensor, std::size_t values, bool fits) {
  if (fits && static_cast<std::int64_t>(values) == tensor.spec().shape.elements()) return;
  throw Error({.attempted = "transfer values of a tensor " + layout_text(tensor.spec()),
               .value = fmt::format("{} values", values),
               .accepted = "as many as it has elements, of its kind: floats or indices"});
}

bool is_float(const ops::Tensor& tensor) {
  const DataType dtype = tensor.spec().dtype;
  return dtype == DataType::bfloat16 || dtype == DataType::float32;
}

}  // namespace

void write_values(CommandQueue& queue, const ops::Tensor& tensor, std::span<const float> values) {
  require(tensor, values.size(), is_float(tensor));
  if (tensor.spec().dtype == DataType::float32) {
    return queue.write_buffer(tensor.buffer(), std::as_bytes(values));
  }
  std::vector<std::uint16_t> halves;
  halves.reserve(values.size());
  for (const float value : values) halves.push_back(to_bfloat16(value));
  queue.write_buffer(tensor.buffer(), std::as_bytes(std::span(halves)));
}

void write_constant(CommandQueue& queue, const ops::Tensor& tensor, float value) {
  const auto elements = static_cast<std::size_t>(tensor.spec().shape.elements());
  write_values(queue, tensor, std::vector<float>(elements, value));
}

std::vector<float> read_values(CommandQueue& queue, const ops::Tensor& tensor) {
  std::vector<float> values(static_cast<std::size_t>(tensor.spec().shape.elements()));
  require(tensor, values.size(), is_float(tensor));
  if (tensor.spec().dtype == DataType::float32) {
    queue.read_buffer(tensor.buffer(), std::as_writable_bytes(std::span(values)));
    return values;
  }
  std::vector<std::uint16_t> halves(values.size());
  queue.read_buffer(tensor.buffer(), std::as_writable_bytes(std::span(halves)));
  for (std::size_t i = 0; i < halves.size(); ++i) {
    values[i] = from_bfloat16(halves[i]);
  }
  return values;
}

void write_indices(CommandQueue& queue, const ops::Tensor& tensor,
                   std::span<const std::uint32_t> values) {
  require(tensor, values.size(), tensor.spec().dtype == DataType::uint32);
  queue.write_buffer(tensor.buffer(), std::as_bytes(values));
}

}  // namespace howard::autograd
