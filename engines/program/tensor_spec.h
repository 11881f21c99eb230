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
  uint32,  ///< For indices only; never used in arithmetic.
};

/// Returns ttnn's name: "bfloat16", "float32", "bfloat8_b", "bfloat4_b" or "uint32".
std::string_view name_of(DataType dtype);

/// Parses a word of name_of(). Throws Error for any other word.
DataType parse_data_type(std::string_view word);

/// Returns the bytes of one 32x32 tile: bf16 2048, fp32 and uint32 4096, bfp8 1088, bfp4 576.
/// (Block formats share an exponent byte between 16 numbers; this is ttnn's tile_size.)
Bytes tile_bytes(DataType dtype);

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
  /// padding. Block formats travel as bfloat16 and are converted on the way.
  Bytes host_bytes() const {
    const bool words = dtype == DataType::float32 || dtype == DataType::uint32;
    return Bytes(shape.elements() * (words ? 4 : 2));
  }

  /// Returns the size as stored on a Tenstorrent device: whole tiles, including the padding.
  Bytes padded_bytes() const {
    return layout == Layout::row_major ? host_bytes() : shape.tiles() * tile_bytes(dtype);
  }

  std::string text() const;  ///< "1024x512 bfloat16".

  /// Returns whether it holds numbers that can be computed with.
  bool is_real() const { return dtype != DataType::uint32; }

  friend auto operator<=>(const TensorSpec&, const TensorSpec&) = default;
};

/// Returns "1024x512 bfloat16" or "256x384 bfloat16 row-major".
std::string layout_text(const TensorSpec& spec);

}  // namespace howard
