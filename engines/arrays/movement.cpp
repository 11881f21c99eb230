// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "engines/arrays/array.h"
#include "engines/arrays/strides.h"

namespace howard::arrays {
namespace {

[[noreturn]] void refuse_movement(std::string attempted, std::string value, std::string accepted) {
  throw Error({.attempted = std::move(attempted),
               .value = std::move(value),
               .accepted = std::move(accepted)});
}

Array taken(const Array& a, const Dims& shape, const Dims& strides, std::int64_t start) {
  Array out(shape, a.is_whole());
  const std::span<float> to = out.words();
  const std::span<const float> from = a.words();
  for_each_place(shape, strides, start,
                 [&](std::size_t at, std::size_t source) { to[at] = from[source]; });
  return out;
}

/// Visits the place in the other array for each element of `index`, along `dim`.
template <class Visit>
void for_each_index(const Array& a, std::size_t dim, const Array& index, const Visit& visit) {
  const Dims strides = strides_of(a.shape());
  Dims moving = strides;
  moving[dim] = 0;
  for (std::size_t i = 0; i < a.shape().size(); ++i) {
    if (i != dim && index.shape()[i] > a.shape()[i]) {
      refuse_movement("gather or scatter along a dimension",
                      "an index of " + text(index.shape()) + " for " + text(a.shape()),
                      "an index that is nowhere larger");
    }
  }
  for_each_place(index.shape(), moving, 0, [&](std::size_t at, std::size_t base) {
    const auto place = static_cast<std::int64_t>(index.at(at));
    if (place < 0 || place >= a.shape()[dim]) {
      refuse_movement("gather or scatter along a dimension", fmt::format("index {}", place),
                      fmt::format("0 to {}", a.shape()[dim] - 1));
    }
    visit(at, base + static_cast<std::size_t>(place * strides[dim]));
  });
}

void require_rank(const Array& a, std::size_t rank, const char* what) {
  if (a.shape().size() == rank) return;
  refuse_movement(what, fmt::format("{} numbers for a tensor of {}", rank, text(a.shape())),
                  fmt::format("{}", a.shape().size()));
}

}  // namespace

Array permuted(const Array& a, const Dims& order) {
  require_rank(a, order.size(), "permute dimensions");
  const Dims strides = strides_of(a.shape());
  Dims shape, moved;
  for (const std::int64_t dimension : order) {
    shape.push_back(a.shape()[a.axis(dimension)]);
    moved.push_back(strides[a.axis(dimension)]);
  }
  if (elements_of(shape) != a.size()) {
    refuse_movement("permute dimensions", "a dimension comes twice", "each dimension once");
  }
  return taken(a, shape, moved, 0);
}

Array sliced(const Array& a, const Dims& starts, const Dims& ends, const Dims& steps) {
  require_rank(a, starts.size(), "slice a tensor");
  require_rank(a, ends.size(), "slice a tensor");
  require_rank(a, steps.size(), "slice a tensor");
  Dims shape, strides = strides_of(a.shape());
  std::int64_t start = 0;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const bool fits = starts[i] >= 0 && ends[i] <= a.shape()[i] && steps[i] > 0;
    if (!fits) {
      refuse_movement("slice a tensor of " + text(a.shape()),
                      fmt::format("from {} to {} by {}", starts[i], ends[i], steps[i]),
                      "what lies within it, by positive steps");
    }
    start += starts[i] * strides[i];
    strides[i] *= steps[i];
    shape.push_back(std::max<std::int64_t>(0, (ends[i] - starts[i] + steps[i] - 1) / steps[i]));
  }
  return taken(a, shape, strides, start);
}

Array concatenated(std::span<const Array> parts, std::int64_t dim) {
  if (parts.empty()) refuse_movement("concatenate tensors", "none is given", "one or more");
  const std::size_t axis = parts[0].axis(dim);
  Dims shape = parts[0].shape();
  shape[axis] = 0;
  for (const Array& part : parts) {
    Dims other = part.shape();
    if (other.size() == shape.size()) {
      shape[axis] += other[axis];
      other[axis] = shape[axis];
    }
    if (other != shape) {
      refuse_movement("concatenate tensors along dimension " + std::to_string(dim),
                      text(parts[0].shape()) + " and " + text(part.shape()),
                      "shapes that differ in that dimension only");
    }
  }
  Array out(shape, parts[0].is_whole());
  const Lines to(shape, axis);
  std::int64_t done = 0;
  for (const Array& part : parts) {
    const Lines from(part.shape(), axis);
    const std::int64_t run = from.length * from.inner;
    for (std::int64_t o = 0; o < from.outer; ++o) {
      std::copy_n(part.words().begin() + o * run, run,
                  out.words().begin() + (o * to.length + done) * to.inner);
    }
    done += from.length;
  }
  return out;
}

Array padded(const Array& a, const Dims& before, const Dims& after, double value) {
  require_rank(a, before.size(), "pad a tensor");
  require_rank(a, after.size(), "pad a tensor");
  Dims shape = a.shape();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (before[i] < 0 || after[i] < 0)
      refuse_movement("pad a tensor", "by less than 0", "0 or more");
    shape[i] += before[i] + after[i];
  }
  Array out(shape, a.is_whole());
  if (value != 0) {
    for (std::size_t i = 0; i < out.words().size(); ++i) out.set(i, value);
  }
  const Dims strides = strides_of(shape);
  std::int64_t start = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) start += before[i] * strides[i];
  const std::span<float> to = out.words();
  const std::span<const float> from = a.words();
  for_each_place(a.shape(), strides, start,
                 [&](std::size_t source, std::size_t at) { to[at] = from[source]; });
  return out;
}

Array broadcast_to(const Array& a, const Dims& shape) {
  if (broadcast(a.shape(), shape) != shape) {
    refuse_movement("broadcast a tensor", text(a.shape()) + " to " + text(shape),
                    "dimensions that are equal or 1");
  }
  return taken(a, shape, broadcast_strides(a.shape(), shape), 0);
}

Array repeated(const Array& a, const Dims& times) {
  Array out = a;
  if (times.size() > a.shape().size()) {
    Dims shape(times.size() - a.shape().size(), 1);
    shape.insert(shape.end(), a.shape().begin(), a.shape().end());
    out = a.reshaped(std::move(shape));
  }
  require_rank(out, times.size(), "repeat a tensor");
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (times[i] < 1) refuse_movement("repeat a tensor", "less than once", "1 or more");
    const std::vector<Array> parts(static_cast<std::size_t>(times[i]), out);
    if (times[i] > 1) out = concatenated(parts, static_cast<std::int64_t>(i));
  }
  return out;
}

Array gathered(const Array& a, std::int64_t dim, const Array& index) {
  require_rank(index, a.shape().size(), "gather along a dimension");
  Array out(index.shape(), a.is_whole());
  for_each_index(a, a.axis(dim), index,
                 [&](std::size_t at, std::size_t place) { out.words()[at] = a.words()[place]; });
  return out;
}

Array scattered(const Array& a, std::int64_t dim, const Array& index, const Array& source,
                bool add) {
  require_rank(index, a.shape().size(), "scatter along a dimension");
  if (source.shape() != index.shape()) {
    refuse_movement("scatter along a dimension",
                    text(source.shape()) + " numbers at " + text(index.shape()) + " places",
                    "one shape");
  }
  Array out = broadcast_to(a, a.shape());
  for_each_index(a, a.axis(dim), index, [&](std::size_t at, std::size_t place) {
    out.set(place, source.at(at) + (add ? out.at(place) : 0));
  });
  return out;
}

Array rows_of(const Array& table, const Array& indices) {
  const std::size_t rank = table.shape().size();
  if (rank < 2 || elements_of(table.shape()) == 0) {
    refuse_movement("look up rows of a table", "the table is " + text(table.shape()),
                    "rows and columns");
  }
  const std::int64_t width = table.shape()[rank - 1], rows = table.size() / width;
  Dims shape = indices.shape();
  shape.push_back(width);
  Array out(shape, table.is_whole());
  for (std::int64_t i = 0; i < indices.size(); ++i) {
    const auto row = static_cast<std::int64_t>(indices.at(static_cast<std::size_t>(i)));
    if (row < 0 || row >= rows) {
      refuse_movement("look up rows of a table", fmt::format("index {}", row),
                      fmt::format("0 to {}", rows - 1));
    }
    std::copy_n(table.words().begin() + row * width, width, out.words().begin() + i * width);
  }
  return out;
}

}  // namespace howard::arrays
