// SPDX-License-Identifier: Apache-2.0
#include "python/array_products.h"

#include <span>

#include "base/error.h"
#include "engines/host/host_device.h"
#include "engines/ops/matmul/matmul.h"
#include "engines/ops/tensor.h"

namespace howard::python {
namespace {

using arrays::Array;
using arrays::Dims;

/// Below so many multiplications a loop is faster than handing over to the engine's threads.
constexpr std::int64_t kSmall = 64 * 64 * 64;

struct ProductSize {
  std::int64_t batch, m, k, n;
};

void multiply_by_loop(const ProductSize& size, std::span<const float> a, std::span<const float> b,
                      std::span<float> out) {
  const auto at = [](std::int64_t place) { return static_cast<std::size_t>(place); };
  for (std::int64_t row = 0; row < size.batch * size.m; ++row) {
    const std::int64_t batch = row / size.m;
    for (std::int64_t k = 0; k < size.k; ++k) {
      const float left = a[at(row * size.k + k)];
      const std::int64_t right = (batch * size.k + k) * size.n;
      for (std::int64_t n = 0; n < size.n; ++n)
        out[at(row * size.n + n)] += left * b[at(right + n)];
    }
  }
}

void multiply_by_engine(const ProductSize& size, std::span<const float> a, std::span<const float> b,
                        std::span<float> out) {
  static host::HostDevice device;
  const auto tensor = [](std::int64_t batch, std::int64_t rows, std::int64_t columns) {
    return ops::Tensor(device, {.shape = {batch, rows, columns}, .dtype = DataType::float32});
  };
  const ops::Tensor left = tensor(size.batch, size.m, size.k),
                    right = tensor(size.batch, size.k, size.n),
                    result = tensor(size.batch, size.m, size.n);
  CommandQueue& queue = device.command_queue(0);
  queue.write_buffer(left.buffer(), std::as_bytes(a));
  queue.write_buffer(right.buffer(), std::as_bytes(b));
  queue.enqueue(ops::matmul(left, right, result));
  queue.read_buffer(result.buffer(), std::as_writable_bytes(out));
}

Array broadcast_batch(const Array& array, const Dims& batch) {
  Dims shape = batch;
  shape.insert(shape.end(), array.shape().end() - 2, array.shape().end());
  return array.shape() == shape ? array : broadcast_to(array, shape);
}

Dims batch_of(const Array& array) { return {array.shape().begin(), array.shape().end() - 2}; }

}  // namespace

Array product(const Array& a, const Array& b) {
  const std::size_t ra = a.shape().size(), rb = b.shape().size();
  if (ra < 2 || rb < 2 || a.shape()[ra - 1] != b.shape()[rb - 2]) {
    throw Error({.attempted = "multiply matrices",
                 .value = arrays::text(a.shape()) + " by " + arrays::text(b.shape()),
                 .accepted = "[.., m, k] by [.., k, n]"});
  }
  ProductSize size{1, a.shape()[ra - 2], a.shape()[ra - 1], b.shape()[rb - 1]};
  Dims shape = arrays::broadcast(batch_of(a), batch_of(b));
  // One matrix on the right takes all rows of the left at once.
  const bool one_right = arrays::elements_of(batch_of(b)) == 1;
  const bool joined = one_right && arrays::elements_of(batch_of(a)) == arrays::elements_of(shape);
  const Array left = joined ? a : broadcast_batch(a, shape);
  const Array right = joined ? b : broadcast_batch(b, shape);
  (joined ? size.m : size.batch) *= arrays::elements_of(shape);
  shape.insert(shape.end(), {a.shape()[ra - 2], size.n});
  Array out(shape, false);
  if (out.size() == 0 || size.k == 0) return out;
  const bool small = size.batch * size.m * size.k * size.n <= kSmall;
  (small ? multiply_by_loop : multiply_by_engine)(size, left.words(), right.words(), out.words());
  return out;
}

}  // namespace howard::python
