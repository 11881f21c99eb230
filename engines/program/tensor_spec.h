// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"
#include "engines/program/sharding.h"

namespace howard {

inline constexpr std::int64_t kTileSide = 32;

enum class DataType : std::uint8_t {
  bfloat16,
  float32,
  bfloat8_b,
  bfloat4_b,
  uint32,  ///< This one and those below are whole numbers.
  int32,
  uint16,
  uint8,
};

/// All data types, in their order.
inline constexpr std::array kDataTypes{DataType::bfloat16,  DataType::float32, DataType::bfloat8_b,
                                       DataType::bfloat4_b, DataType::uint32,  DataType::int32,
                                       DataType::uint16,    DataType::uint8};

/// Says whether its numbers have no fraction, and wrap where they leave its range.
constexpr bool is_whole(DataType dtype) { return dtype >= DataType::uint32; }

/// Returns ttnn's name: "bfloat16", "bfloat8_b", "int32" and so on.
std::string_view name_of(DataType dtype);

/// Returns the data type of a word of name_of(); nothing for any other word.
std::optional<DataType> find_data_type(std::string_view word);

/// Parses a word of name_of(). Throws Error for any other word.
DataType parse_data_type(std::string_view word);

/// Returns the bytes of one 32x32 tile: bf16 2048, fp32 4096, bfp8 1088, bfp4 576, whole numbers as
/// many as their bits. (Block formats share an exponent byte between 16 numbers; this is ttnn's
/// tile_size.)
Bytes tile_bytes(DataType dtype);

/// Returns the bytes of a number in a row without tiles. Block formats have none: they travel as
/// bfloat16 and are converted on the way.
constexpr std::int64_t element_bytes(DataType dtype) {
  switch (dtype) {
    case DataType::float32:
    case DataType::uint32:
    case DataType::int32:
      return 4;
    case DataType::uint8:
      return 1;
    default:
      return 2;
  }
}

/// One to four dimensions; the last two are rows and columns. Missing leading dimensions are 1.
class Shape {
 public:
  /// Throws Error when a dimension is not positive or there are more than four.
  Shape(std::initializer_list<std::int64_t> dimensions);

  /// Returns the same shape with another number of columns. Throws Error as the constructor does.
  Shape with_columns(std::int64_t columns) const;

  /// Returns the same shape with another number of rows. Throws Error as the constructor does.
  Shape with_rows(std::int64_t rows) const;
  /// Returns the shape with dimension 1 and the rows swapped: [n, c, h, w] becomes [n, h, c, w].
  Shape heads_swapped() const { return {dimensions_[0], rows(), dimensions_[1], columns()}; }

  /// Returns the shape with rows and columns swapped.
  Shape transposed() const { return {dimensions_[0], dimensions_[1], columns(), rows()}; }
  /// Returns the broadcast shape: each dimension is the larger of the two, which must be equal
  /// unless one of them is 1. Returns nothing when the shapes do not fit.
  static std::optional<Shape> broadcast(const Shape& a, const Shape& b);

  /// The first of the four dimensions is the outer one; the second one is called heads.
  std::int64_t outer() const { return dimensions_[0]; }
  std::int64_t heads() const { return dimensions_[1]; }
  /// Returns all four dimensions, including leading ones of size 1.
  const std::array<std::int64_t, 4>& dimensions() const { return dimensions_; }
  std::int64_t rows() const { return dimensions_[2]; }
  std::int64_t columns() const { return dimensions_[3]; }
  std::int64_t batch() const {
    return dimensions_[0] * dimensions_[1];
  }  ///< The product of all other dimensions.
  std::int64_t elements() const { return batch() * rows() * columns(); }

  std::int64_t tile_rows() const { return ceil_div(rows(), kTileSide); }
  std::int64_t tile_columns() const { return ceil_div(columns(), kTileSide); }
  std::int64_t tiles() const { return batch() * tile_rows() * tile_columns(); }
  bool is_tile_aligned() const { return rows() % kTileSide == 0 && columns() % kTileSide == 0; }

  std::string text() const;  ///< "1024x512"; leading dimensions of 1 are left out.

  friend auto operator<=>(const Shape&, const Shape&) = default;

 private:
  std::array<std::int64_t, 4> dimensions_{1, 1, 1, 1};
};

/// Parses "1024x512", one to four dimensions. Returns nothing for any other text, and for more than
/// 2^40 elements.
std::optional<Shape> parse_shape(std::string_view text);

enum class Layout : std::uint8_t {
  tile,       ///< Tiles of 32x32, the last ones padded; compute kernels work on these.
  row_major,  ///< Row by row; used for index tensors and embedding tables.
};

/// The banks over which a tensor is interleaved, page by page.
enum class Storage : std::uint8_t { dram, l1 };

/// Describes a tensor without its values.
struct TensorSpec {
  Shape shape;
  DataType dtype = DataType::bfloat16;
  Layout layout = Layout::tile;
  Storage storage = Storage::dram;
  std::optional<Sharding> sharding{};  ///< If absent, the tensor is interleaved page by page.

  /// Returns the size in which the host hands the tensor over: the elements row by row without
  /// padding.
  Bytes host_bytes() const { return Bytes(shape.elements() * element_bytes(dtype)); }

  /// Returns the size as stored on a Tenstorrent device: whole tiles, including the padding.
  Bytes padded_bytes() const {
    return layout == Layout::row_major ? host_bytes() : shape.tiles() * tile_bytes(dtype);
  }

  std::string text() const;  ///< "1024x512 bfloat16".

  bool is_whole() const { return howard::is_whole(dtype); }
  bool is_real() const { return !is_whole(); }

  friend auto operator<=>(const TensorSpec&, const TensorSpec&) = default;
};

/// Returns "1024x512 bfloat16" or "256x384 bfloat16 row-major".
std::string layout_text(const TensorSpec& spec);

}  // namespace howard
