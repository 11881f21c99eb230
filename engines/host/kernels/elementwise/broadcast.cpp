// SPDX-License-Identifier: Apache-2.0
#include "engines/host/kernels/elementwise/broadcast.h"

#include <cstddef>

namespace howard::host {
namespace {

std::array<std::int64_t, 4> sizes_of(const Shape& shape) {
  return {shape.outer(), shape.heads(), shape.rows(), shape.columns()};
}

bool continues(const Broadcast::Dimension& outer, const Broadcast::Dimension& inner) {
  return outer.a == inner.a * inner.size && outer.b == inner.b * inner.size;
}

}  // namespace

Broadcast::Offsets Broadcast::offsets(std::int64_t index) const {
  const std::int64_t last = index % outer[2].size;
  const std::int64_t rest = index / outer[2].size;
  const std::int64_t middle = rest % outer[1].size;
  const std::int64_t first = rest / outer[1].size;
  return {first * outer[0].a + middle * outer[1].a + last * outer[2].a,
          first * outer[0].b + middle * outer[1].b + last * outer[2].b};
}

Broadcast broadcast_of(const Shape& out, const Shape& a, const Shape& b) {
  const auto out_sizes = sizes_of(out);
  const auto a_sizes = sizes_of(a);
  const auto b_sizes = sizes_of(b);
  // Go from the innermost dimension outwards and join each one to the previous one if it continues
  // it.
  std::array<Broadcast::Dimension, 4> dimensions;
  std::size_t used = 0;
  std::int64_t a_step = 1;
  std::int64_t b_step = 1;
  for (std::size_t i = out_sizes.size(); i-- > 0;) {
    const Broadcast::Dimension next{out_sizes[i], a_sizes[i] == 1 ? 0 : a_step,
                                    b_sizes[i] == 1 ? 0 : b_step};
    a_step *= a_sizes[i];
    b_step *= b_sizes[i];
    if (next.size == 1) continue;
    if (used > 0 && continues(next, dimensions[used - 1])) {
      dimensions[used - 1].size *= next.size;
    } else {
      dimensions[used++] = next;
    }
  }
  Broadcast result;
  result.row = dimensions[0];
  for (std::size_t i = 1; i < used; ++i) result.outer[3 - i] = dimensions[i];
  return result;
}

}  // namespace howard::host
