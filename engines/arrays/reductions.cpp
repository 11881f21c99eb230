// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "engines/arrays/array.h"
#include "engines/arrays/strides.h"

namespace howard::arrays {
namespace {

/// Holds what is known of the numbers of one line so far.
struct Running {
  double sum = 0, product = 1;
  double largest = -std::numeric_limits<double>::infinity();
  double smallest = std::numeric_limits<double>::infinity();
};

[[noreturn]] void refuse_kind(std::string_view what, std::string_view kind) {
  throw Error({.attempted = fmt::format("compute {}", what),
               .value = fmt::format("'{}'", kind),
               .accepted = "sum, mean, max, min, prod, var, std, cumsum, cumprod"});
}

/// Adds the squares for variances, which need the mean first.
void add_squares(const Array& a, const Dims& strides, const std::vector<Running>& lines,
                 double count, std::vector<double>& squares) {
  for_each_place(a.shape(), strides, 0, [&](std::size_t from, std::size_t to) {
    const double difference = a.at(from) - lines[to].sum / count;
    squares[to] += difference * difference;
  });
}

double result_of(std::string_view kind, const Running& line, double count) {
  if (kind == "sum") return line.sum;
  if (kind == "mean") return line.sum / count;
  if (kind == "max") return line.largest;
  if (kind == "min") return line.smallest;
  if (kind == "prod") return line.product;
  refuse_kind("a reduction", kind);
}

}  // namespace

Array reduce(std::string_view kind, const Array& a, const Dims& dims, bool keep) {
  Dims kept = a.shape();
  for (const std::int64_t dimension : dims) kept[a.axis(dimension)] = 1;
  const Dims strides = broadcast_strides(kept, a.shape());
  Array out(kept, a.is_whole() && kind != "mean");
  std::vector<Running> lines(static_cast<std::size_t>(out.size()));
  for_each_place(a.shape(), strides, 0, [&](std::size_t from, std::size_t to) {
    const double value = a.at(from);
    Running& line = lines[to];
    line.sum += value;
    line.product *= value;
    line.largest = value > line.largest || std::isnan(value) ? value : line.largest;
    line.smallest = value < line.smallest || std::isnan(value) ? value : line.smallest;
  });
  const double count = out.size() == 0 ? 1 : static_cast<double>(a.size() / out.size());
  const bool spread = kind.starts_with("var") || kind.starts_with("std");
  std::vector<double> squares(spread ? lines.size() : 0);
  if (spread) add_squares(a, strides, lines, count, squares);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!spread) {
      out.set(i, result_of(kind, lines[i], count));
      continue;
    }
    const double variance = squares[i] / (count - (kind.ends_with('0') ? 0 : 1));
    out.set(i, kind.starts_with("std") ? std::sqrt(variance) : variance);
  }
  if (keep) return out;
  Dims shape;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const bool gone = std::ranges::any_of(dims, [&](std::int64_t d) { return a.axis(d) == i; });
    if (!gone) shape.push_back(kept[i]);
  }
  return out.reshaped(std::move(shape));
}

Array argmax(const Array& a, std::int64_t dim, bool keep) {
  const std::size_t axis = a.axis(dim);
  const Lines lines(a.shape(), axis);
  Dims shape = a.shape();
  shape[axis] = 1;
  Array out(shape, true);
  if (lines.length == 0) {
    throw Error({.attempted = "find the largest number",
                 .value = "a dimension of 0",
                 .accepted = "1 or more"});
  }
  for (std::int64_t o = 0; o < lines.outer; ++o) {
    for (std::int64_t i = 0; i < lines.inner; ++i) {
      std::int64_t best = 0;
      for (std::int64_t l = 1; l < lines.length; ++l) {
        if (a.at(lines.place(o, l, i)) > a.at(lines.place(o, best, i))) best = l;
      }
      out.set(static_cast<std::size_t>(o * lines.inner + i), static_cast<double>(best));
    }
  }
  if (keep) return out;
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  return out.reshaped(std::move(shape));
}

Array cumulative(std::string_view kind, const Array& a, std::int64_t dim) {
  if (kind != "cumsum" && kind != "cumprod") refuse_kind("a running reduction", kind);
  const Lines lines(a.shape(), a.axis(dim));
  Array out(a.shape(), a.is_whole());
  for (std::int64_t o = 0; o < lines.outer; ++o) {
    for (std::int64_t i = 0; i < lines.inner; ++i) {
      double running = kind == "cumsum" ? 0 : 1;
      for (std::int64_t l = 0; l < lines.length; ++l) {
        const std::size_t at = lines.place(o, l, i);
        running = kind == "cumsum" ? running + a.at(at) : running * a.at(at);
        out.set(at, running);
      }
    }
  }
  return out;
}

std::pair<Array, Array> sort(const Array& a, std::int64_t dim, bool descending) {
  const Lines lines(a.shape(), a.axis(dim));
  Array values(a.shape(), a.is_whole()), places(a.shape(), true);
  std::vector<std::int64_t> order(static_cast<std::size_t>(lines.length));
  for (std::int64_t o = 0; o < lines.outer; ++o) {
    for (std::int64_t i = 0; i < lines.inner; ++i) {
      std::iota(order.begin(), order.end(), 0);
      std::ranges::stable_sort(order, [&](std::int64_t x, std::int64_t y) {
        const double left = a.at(lines.place(o, x, i)), right = a.at(lines.place(o, y, i));
        return descending ? left > right : left < right;
      });
      for (std::int64_t l = 0; l < lines.length; ++l) {
        const std::int64_t from = order[static_cast<std::size_t>(l)];
        values.set(lines.place(o, l, i), a.at(lines.place(o, from, i)));
        places.set(lines.place(o, l, i), static_cast<double>(from));
      }
    }
  }
  return {std::move(values), std::move(places)};
}

Array softmax(const Array& a, std::int64_t dim) {
  const Lines lines(a.shape(), a.axis(dim));
  Array out(a.shape(), false);
  std::vector<double> powers(static_cast<std::size_t>(lines.length));
  for (std::int64_t o = 0; o < lines.outer; ++o) {
    for (std::int64_t i = 0; i < lines.inner; ++i) {
      double largest = -std::numeric_limits<double>::infinity(), sum = 0;
      for (std::int64_t l = 0; l < lines.length; ++l) {
        largest = std::max(largest, a.at(lines.place(o, l, i)));
      }
      for (std::int64_t l = 0; l < lines.length; ++l) {
        const double power = std::exp(a.at(lines.place(o, l, i)) - largest);
        powers[static_cast<std::size_t>(l)] = power;
        sum += power;
      }
      for (std::int64_t l = 0; l < lines.length; ++l) {
        out.set(lines.place(o, l, i), powers[static_cast<std::size_t>(l)] / sum);
      }
    }
  }
  return out;
}

Array normalized(const Array& a, double epsilon, bool rms) {
  const std::size_t axis = a.axis(-1);
  const Lines lines(a.shape(), axis);
  const auto width = static_cast<double>(lines.length);
  Array out(a.shape(), false);
  for (std::int64_t o = 0; o < lines.outer; ++o) {
    double sum = 0, squares = 0;
    for (std::int64_t l = 0; l < lines.length; ++l) sum += a.at(lines.place(o, l, 0));
    const double mean = rms ? 0 : sum / width;
    for (std::int64_t l = 0; l < lines.length; ++l) {
      const double difference = a.at(lines.place(o, l, 0)) - mean;
      squares += difference * difference;
    }
    const double scale = 1 / std::sqrt(squares / width + epsilon);
    for (std::int64_t l = 0; l < lines.length; ++l) {
      const std::size_t at = lines.place(o, l, 0);
      out.set(at, (a.at(at) - mean) * scale);
    }
  }
  return out;
}

}  // namespace howard::arrays
