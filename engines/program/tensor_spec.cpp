// SPDX-License-Identifier: Apache-2.0
#include "engines/program/tensor_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace howard {
namespace {

struct DataTypeFacts {
  DataType dtype;
  std::string_view name;
  Bytes tile;
};

constexpr std::array kFacts{
    DataTypeFacts{DataType::bfloat16, "bfloat16", Bytes(2048)},
    DataTypeFacts{DataType::float32, "float32", Bytes(4096)},
    DataTypeFacts{DataType::bfloat8_b, "bfloat8_b", Bytes(1088)},
    DataTypeFacts{DataType::bfloat4_b, "bfloat4_b", Bytes(576)},
    DataTypeFacts{DataType::uint32, "uint32", Bytes(4096)},
    DataTypeFacts{DataType::int32, "int32", Bytes(4096)},
    DataTypeFacts{DataType::uint16, "uint16", Bytes(2048)},
    DataTypeFacts{DataType::uint8, "uint8", Bytes(1024)},
};

const DataTypeFacts& facts(DataType dtype) { return kFacts[static_cast<std::size_t>(dtype)]; }

/// With larger dimensions a product could overflow 64 bits; no device holds such a tensor anyway.
constexpr std::int64_t kLargestDimension = std::int64_t{1} << 24;
constexpr double kMostElements = 1e15;

}  // namespace

std::string_view name_of(DataType dtype) { return facts(dtype).name; }

std::optional<DataType> find_data_type(std::string_view word) {
  const auto found = std::ranges::find(kFacts, word, &DataTypeFacts::name);
  return found == kFacts.end() ? std::nullopt : std::optional(found->dtype);
}

DataType parse_data_type(std::string_view word) {
  if (const auto found = find_data_type(word)) return *found;
  std::array<std::string_view, kFacts.size()> names;
  std::ranges::transform(kFacts, names.begin(), &DataTypeFacts::name);
  throw Error({.attempted = "read a data type",
               .value = "'" + std::string(word) + "'",
               .accepted = fmt::format("{}", fmt::join(names, ", "))});
}

Bytes tile_bytes(DataType dtype) { return facts(dtype).tile; }

Shape::Shape(std::initializer_list<std::int64_t> dimensions) {
  const bool fits = dimensions.size() >= 1 && dimensions.size() <= dimensions_.size();
  double elements = 1;
  for (const std::int64_t dimension : dimensions) elements *= static_cast<double>(dimension);
  const bool in_range = std::ranges::all_of(
      dimensions, [](std::int64_t size) { return size >= 1 && size <= kLargestDimension; });
  if (!fits || !in_range || elements > kMostElements) {
    throw Error({.attempted = "make a tensor shape",
                 .value = fmt::format("{}", fmt::join(dimensions, "x")),
                 .accepted = "1 to 4 dimensions from 1 to 16777216, 1e15 elements at most"});
  }
  std::ranges::copy(dimensions, dimensions_.end() - static_cast<std::ptrdiff_t>(dimensions.size()));
}

Shape Shape::with_columns(std::int64_t columns) const {
  return {dimensions_[0], dimensions_[1], dimensions_[2], columns};
}

Shape Shape::with_rows(std::int64_t rows) const {
  return {dimensions_[0], dimensions_[1], rows, dimensions_[3]};
}

std::optional<Shape> Shape::broadcast(const Shape& a, const Shape& b) {
  Shape result = a;
  for (std::size_t i = 0; i < result.dimensions_.size(); ++i) {
    const std::int64_t x = a.dimensions_[i];
    const std::int64_t y = b.dimensions_[i];
    if (x != y && x != 1 && y != 1) return std::nullopt;
    result.dimensions_[i] = std::max(x, y);
  }
  return result;
}

std::string TensorSpec::text() const { return fmt::format("{} {}", shape.text(), name_of(dtype)); }

std::string Shape::text() const {
  const auto first = std::ranges::find_if(dimensions_.begin(), dimensions_.end() - 2,
                                          [](std::int64_t size) { return size != 1; });
  return fmt::format("{}", fmt::join(first, dimensions_.end(), "x"));
}

std::optional<Shape> parse_shape(std::string_view text) {
  constexpr std::int64_t kMostParsed = std::int64_t{1} << 40;
  std::array<std::int64_t, 4> d{1, 1, 1, 1};
  const std::vector<std::string> sides = split(text, 'x');
  std::int64_t elements = 1;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const std::int64_t side = parse_integer(sides[i]).value_or(0);
    if (side < 1 || side > kMostParsed / elements || sides.size() > d.size()) {
      return std::nullopt;
    }
    elements *= side;
    d.at(d.size() - sides.size() + i) = side;
  }
  return Shape{d[0], d[1], d[2], d[3]};
}

std::string layout_text(const TensorSpec& spec) {
  return spec.text() + (spec.layout == Layout::row_major ? " row-major" : "");
}

}  // namespace howard
