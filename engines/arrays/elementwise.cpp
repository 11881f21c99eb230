// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "engines/arrays/array.h"
#include "engines/arrays/strides.h"
#include "engines/arrays/unary_functions.h"

namespace howard::arrays {
namespace {

struct BinaryFunction {
  std::string_view name;
  double (*value)(double x, double y);
};

std::int64_t integer(double x) {
  return std::isfinite(x) && std::fabs(x) < 0x1p62 ? static_cast<std::int64_t>(x) : 0;
}
double as_bits(std::int64_t x) { return static_cast<double>(static_cast<std::int32_t>(x)); }
int shift_by(double y) {
  return static_cast<int>(std::clamp(integer(y), std::int64_t{0}, std::int64_t{32}));
}
double is_true(bool is) { return is ? 1 : 0; }
double logadd(double x, double y) {
  const double larger = std::fmax(x, y);
  return std::isinf(larger) ? larger : larger + std::log1p(std::exp(-std::fabs(x - y)));
}
double remainder_of(double x, double y) {
  const double rest = std::fmod(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}
double exact_gelu(double x) { return x * std::erfc(-x / std::sqrt(2.0)) / 2; }
double next_float(double x, double y) {
  return static_cast<double>(std::nextafter(static_cast<float>(x), static_cast<float>(y)));
}

constexpr auto kBinary = std::to_array<BinaryFunction>({
    {"add", [](double x, double y) { return x + y; }},
    {"subtract", [](double x, double y) { return x - y; }},
    {"multiply", [](double x, double y) { return x * y; }},
    {"divide", [](double x, double y) { return x / y; }},
    {"rsub", [](double x, double y) { return y - x; }},
    {"rdiv", [](double x, double y) { return y / x; }},
    {"eq", [](double x, double y) { return is_true(x == y); }},
    {"ne", [](double x, double y) { return is_true(x != y); }},
    {"gt", [](double x, double y) { return is_true(x > y); }},
    {"lt", [](double x, double y) { return is_true(x < y); }},
    {"ge", [](double x, double y) { return is_true(x >= y); }},
    {"le", [](double x, double y) { return is_true(x <= y); }},
    {"logical_and", [](double x, double y) { return is_true(x != 0 && y != 0); }},
    {"logical_or", [](double x, double y) { return is_true(x != 0 || y != 0); }},
    {"logical_xor", [](double x, double y) { return is_true((x != 0) != (y != 0)); }},
    {"bitwise_and", [](double x, double y) { return as_bits(integer(x) & integer(y)); }},
    {"bitwise_or", [](double x, double y) { return as_bits(integer(x) | integer(y)); }},
    {"bitwise_xor", [](double x, double y) { return as_bits(integer(x) ^ integer(y)); }},
    {"bitwise_left_shift", [](double x, double y) { return as_bits(integer(x) << shift_by(y)); }},
    {"bitwise_right_shift", [](double x, double y) { return as_bits(integer(x) >> shift_by(y)); }},
    {"logical_left_shift", [](double x, double y) { return as_bits(integer(x) << shift_by(y)); }},
    {"logical_right_shift",
     [](double x, double y) { return as_bits((integer(x) & 0xFFFFFFFF) >> shift_by(y)); }},
    {"maximum", [](double x, double y) { return x > y || std::isnan(x) ? x : y; }},
    {"minimum", [](double x, double y) { return x < y || std::isnan(x) ? x : y; }},
    {"ldexp", [](double x, double y) { return x * std::exp2(y); }},
    {"logaddexp", logadd},
    {"logaddexp2",
     [](double x, double y) {
       const double ln2 = std::log(2.0);
       return logadd(x * ln2, y * ln2) / ln2;
     }},
    {"squared_difference", [](double x, double y) { return (x - y) * (x - y); }},
    {"bias_gelu", [](double x, double y) { return exact_gelu(x + y); }},
    {"pow", [](double x, double y) { return std::pow(x, y); }},
    {"rpow", [](double x, double y) { return std::pow(y, x); }},
    {"gcd",
     [](double x, double y) { return static_cast<double>(std::gcd(integer(x), integer(y))); }},
    {"lcm",
     [](double x, double y) { return static_cast<double>(std::lcm(integer(x), integer(y))); }},
    {"remainder", remainder_of},
    {"fmod", [](double x, double y) { return std::fmod(x, y); }},
    {"xlogy", [](double x, double y) { return x == 0 ? 0 : x * std::log(y); }},
    {"hypot", [](double x, double y) { return std::hypot(x, y); }},
    {"atan2", [](double x, double y) { return std::atan2(x, y); }},
    {"nextafter", next_float},
    {"div_no_nan", [](double x, double y) { return y == 0 ? 0 : x / y; }},
    {"floor_div", [](double x, double y) { return std::floor(x / y); }},
    {"trunc_div", [](double x, double y) { return std::trunc(x / y); }},
    {"prelu", [](double x, double y) { return x < 0 ? y * x : x; }},
});

/// A thread takes this many elements at a time.
constexpr std::size_t kGrain = 16384;

template <class Body>
void in_parallel(std::size_t size, const Body& body) {
  if (size <= kGrain) return body(0, size);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, size, kGrain),
                    [&](const auto& part) { body(part.begin(), part.end()); });
}

template <class Functions>
const auto* find_function(const Functions& functions, std::string_view name) {
  const auto found =
      std::ranges::find_if(functions, [&](const auto& one) { return one.name == name; });
  return found == std::ranges::end(functions) ? nullptr : &*found;
}

template <class Functions>
const auto& known_function(const Functions& functions, std::string_view name) {
  const auto* const found = find_function(functions, name);
  if (found != nullptr) return *found;
  throw Error({.attempted = "compute elementwise",
               .value = fmt::format("there is no function '{}'", name)});
}

/// Computes the four most frequent functions, of float32 in one shape, in loops that a compiler
/// vectorizes.
bool combine_fast(std::string_view function, std::span<const float> a, std::span<const float> b,
                  std::span<float> out) {
  const auto each = [&](auto combine) {
    in_parallel(out.size(), [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) out[i] = combine(a[i], b[i]);
    });
    return true;
  };
  if (function == "add") return each([](float x, float y) { return x + y; });
  if (function == "subtract") return each([](float x, float y) { return x - y; });
  if (function == "multiply") return each([](float x, float y) { return x * y; });
  if (function == "divide") return each([](float x, float y) { return x / y; });
  return false;
}

/// Does the same for functions of one number.
bool map_fast(std::string_view function, std::span<const float> a, std::span<float> out) {
  const auto each = [&](auto map) {
    in_parallel(out.size(), [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) out[i] = map(a[i]);
    });
    return true;
  };
  if (function == "relu") return each([](float x) { return x < 0 ? 0.0F : x; });
  if (function == "neg") return each([](float x) { return -x; });
  if (function == "abs") return each([](float x) { return std::fabs(x); });
  if (function == "square") return each([](float x) { return x * x; });
  if (function == "sqrt") return each([](float x) { return std::sqrt(x); });
  if (function == "exp") return each([](float x) { return std::exp(x); });
  if (function == "gtz") return each([](float x) { return x > 0 ? 1.0F : 0.0F; });
  return false;
}

}  // namespace

Array unary(std::string_view function, const Array& a, std::span<const double> parameters) {
  const UnaryFunction& known = known_function(unary_functions(), function);
  if (std::ssize(parameters) < known.parameters) {
    throw Error({.attempted = fmt::format("compute {}", function),
                 .value = fmt::format("{} parameters", parameters.size()),
                 .accepted = std::to_string(known.parameters)});
  }
  Array out(a.shape(), a.is_whole());
  const std::span<float> to = out.words();
  const std::span<const float> from = a.words();
  if (!a.is_whole() && map_fast(function, from, to)) return out;
  const double* const given = parameters.data();
  in_parallel(to.size(), [&](std::size_t first, std::size_t last) {
    if (a.is_whole()) {
      for (std::size_t i = first; i < last; ++i) out.set(i, known.value(a.at(i), given));
    } else {
      for (std::size_t i = first; i < last; ++i) {
        to[i] = static_cast<float>(known.value(static_cast<double>(from[i]), given));
      }
    }
  });
  return out;
}

Array binary(std::string_view function, const Array& a, const Array& b) {
  const BinaryFunction& known = known_function(kBinary, function);
  const Dims shape = broadcast(a.shape(), b.shape());
  const bool whole = a.is_whole() && b.is_whole();
  Array out(shape, whole);
  const bool plain = !a.is_whole() && !b.is_whole() && a.shape() == b.shape();
  if (plain && combine_fast(function, a.words(), b.words(), out.words())) return out;
  if (a.shape() == b.shape()) {
    in_parallel(out.words().size(), [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) out.set(i, known.value(a.at(i), b.at(i)));
    });
    return out;
  }
  const Array wide_a = a.shape() == shape ? a : broadcast_to(a, shape);
  const Array wide_b = b.shape() == shape ? b : broadcast_to(b, shape);
  return binary(function, wide_a, wide_b);
}

Array where(const Array& condition, const Array& a, const Array& b) {
  const Dims shape = broadcast(broadcast(condition.shape(), a.shape()), b.shape());
  const Array c = broadcast_to(condition, shape), x = broadcast_to(a, shape),
              y = broadcast_to(b, shape);
  Array out(shape, a.is_whole() && b.is_whole());
  in_parallel(out.words().size(), [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) out.set(i, c.at(i) != 0 ? x.at(i) : y.at(i));
  });
  return out;
}

bool is_unary(std::string_view function) {
  return find_function(unary_functions(), function) != nullptr;
}

bool is_binary(std::string_view function) { return find_function(kBinary, function) != nullptr; }

std::vector<std::string> function_names() {
  std::vector<std::string> names;
  for (const UnaryFunction& one : unary_functions()) names.emplace_back(one.name);
  for (const BinaryFunction& one : kBinary) names.emplace_back(one.name);
  std::ranges::sort(names);
  return names;
}

}  // namespace howard::arrays
