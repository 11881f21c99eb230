// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "engines/program/kinds/convolution.h"

namespace howard {

// These are the definitions of the ops on images, for float32, which the host computes, and for
// float64, with which it is compared. `x` and the like return the number at a place of an operand's
// values, which lie row by row.

/// Calls visit(place of the window, place of the images) for each that a stop sees.
template <class Visit>
void for_each_seen(const Window& window, std::int64_t stop, const Visit& visit) {
  const std::int64_t columns = window.columns_out(), rows = window.rows_out();
  const std::int64_t top = stop / columns % rows * window.stride[0] - window.padding[0];
  const std::int64_t left = stop % columns * window.stride[1] - window.padding[2];
  const std::int64_t image = stop / columns / rows;
  for (std::int64_t i = 0; i < window.size[0]; ++i) {
    const std::int64_t row = top + i * window.dilation[0];
    if (row < 0 || row >= window.height) continue;
    for (std::int64_t j = 0; j < window.size[1]; ++j) {
      const std::int64_t column = left + j * window.dilation[1];
      if (column < 0 || column >= window.width) continue;
      visit(i * window.size[1] + j, (image * window.height + row) * window.width + column);
    }
  }
}

/// Returns how many places of a stop's window lie in the images and their padding.
inline std::int64_t places_within(const Window& window, std::int64_t stop) {
  const std::int64_t columns = window.columns_out(), rows = window.rows_out();
  const auto within = [](std::int64_t first, std::int64_t step, std::int64_t count,
                         std::int64_t end) {
    return std::clamp<std::int64_t>(ceil_div(end - first, step), 0, count);
  };
  const std::int64_t top = stop / columns % rows * window.stride[0];
  const std::int64_t left = stop % columns * window.stride[1];
  return within(top, window.dilation[0], window.size[0],
                window.height + window.padding[0] + window.padding[1]) *
         within(left, window.dilation[1], window.size[1],
                window.width + window.padding[2] + window.padding[3]);
}

template <class Number, class X>
Number pool_value(const Pool2dAttributes& op, std::int64_t channels, std::int64_t stop,
                  std::int64_t channel, const X& x) {
  const bool max = op.kind == PoolKind::max;
  Number value = max ? -std::numeric_limits<Number>::max() : Number{0};
  std::int64_t seen = 0;
  for_each_seen(op.window, stop, [&](std::int64_t, std::int64_t place) {
    const Number one = x(place * channels + channel);
    value = max ? std::max(value, one) : value + one;
    ++seen;
  });
  if (max) return value;
  std::int64_t count = op.counts_padding ? places_within(op.window, stop) : seen;
  if (op.divisor > 0) count = op.divisor;
  return value / static_cast<Number>(std::max<std::int64_t>(1, count));
}

/// Returns an element of an enlarged [n, h, w, c], whose row counts the rows of all images.
template <class Number, class X>
Number upsample_value(const UpsampleAttributes& op, const Shape& from, std::int64_t row,
                      std::int64_t column, std::int64_t channel, const X& x) {
  const auto [n, h, w, c] = from.dimensions();
  const std::int64_t image = row / (h * op.factor[0]), down = row % (h * op.factor[0]);
  const auto at = [&](std::int64_t r, std::int64_t k) {
    return x(((image * h + r) * w + k) * c + channel);
  };
  if (!op.bilinear) return at(down / op.factor[0], column / op.factor[1]);
  struct Between {
    std::int64_t first, second;
    Number share;  ///< Of the second.
  };
  const auto between = [](std::int64_t place, std::int64_t scale, std::int64_t side) {
    const Number exact = std::max(
        Number{0},
        (static_cast<Number>(place) + Number{0.5}) / static_cast<Number>(scale) - Number{0.5});
    const auto first = static_cast<std::int64_t>(exact);
    return Between{first, std::min(first + 1, side - 1), exact - static_cast<Number>(first)};
  };
  const Between r = between(down, op.factor[0], h), k = between(column, op.factor[1], w);
  const Number upper = at(r.first, k.first) * (1 - k.share) + at(r.first, k.second) * k.share;
  const Number lower = at(r.second, k.first) * (1 - k.share) + at(r.second, k.second) * k.share;
  return upper * (1 - r.share) + lower * r.share;
}

/// Returns where an element of a fold, of all places in one dimension, comes from.
inline std::int64_t folded_from(const FoldAttributes& op, const Shape& from, std::int64_t place,
                                std::int64_t element) {
  const auto [n, h, w, c] = from.dimensions();
  const std::int64_t across = w / op.stride[1], down = h / op.stride[0];
  const std::int64_t image = place / (across * down);
  const std::int64_t row = place / across % down * op.stride[0] + element / c / op.stride[1];
  const std::int64_t column = place % across * op.stride[1] + element / c % op.stride[1];
  return ((image * h + row) * w + column) * c + element % c;
}

/// Returns the mean of a group of an image [n, 1, places, c] and 1 / its deviation.
template <class Number, class X>
std::array<Number, 2> group_moments(const GroupNormAttributes& op, const Shape& shape,
                                    std::int64_t image, std::int64_t group, const X& x) {
  const std::int64_t width = shape.columns() / op.groups;
  const auto count = static_cast<Number>(shape.rows() * width);
  const auto mean_of = [&](const auto& value) {
    Number sum = 0;
    for (std::int64_t row = 0; row < shape.rows(); ++row) {
      Number part = 0;
      for (std::int64_t i = 0; i < width; ++i) {
        part += value(x((image * shape.rows() + row) * shape.columns() + group * width + i));
      }
      sum += part;
    }
    return sum / count;
  };
  const Number mean = mean_of([](Number one) { return one; });
  const Number variance = mean_of([&](Number one) { return (one - mean) * (one - mean); });
  return {mean, 1 / std::sqrt(variance + static_cast<Number>(op.epsilon))};
}

}  // namespace howard
