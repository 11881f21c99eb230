// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace howard::arrays {

using Dims = std::vector<std::int64_t>;

/// The number of elements; 1 for no dimensions. Error for a negative dimension, or more elements
/// than memory can hold.
std::int64_t elements_of(const Dims& shape);

/// Numbers of any rank, row by row: float32, or whole numbers of 32 bits in the same words. Copies
/// share the numbers; nothing changes those of an array once it was handed out.
class Array {
 public:
  Array(Dims shape, bool whole);

  const Dims& shape() const { return shape_; }
  bool is_whole() const { return whole_; }
  std::int64_t size() const { return static_cast<std::int64_t>(words_->size()); }
  /// One of the dimensions, negative ones counted from the last. Error for one that there is not.
  std::size_t axis(std::int64_t dimension) const;

  std::span<float> words() { return *words_; }
  std::span<const float> words() const { return *words_; }
  double at(std::size_t i) const {
    const float word = (*words_)[i];
    return whole_ ? static_cast<double>(std::bit_cast<std::int32_t>(word))
                  : static_cast<double>(word);
  }
  void set(std::size_t i, double value);

  /// The same numbers under another shape. Error unless they are as many.
  Array reshaped(Dims shape) const;

 private:
  Dims shape_;
  bool whole_;
  std::shared_ptr<std::vector<float>> words_;
};

/// "2x3".
std::string text(const Dims& shape);

/// numpy's broadcasting. Error when the shapes do not fit.
Dims broadcast(const Dims& a, const Dims& b);

// Elementwise (elementwise.cpp). Functions go by ttnn's names; Error for others.

/// `parameters`: what the function is told besides, as ttnn's defaults have it: a slope, limits.
Array unary(std::string_view function, const Array& a, std::span<const double> parameters);
Array binary(std::string_view function, const Array& a, const Array& b);
Array where(const Array& condition, const Array& a, const Array& b);
bool is_unary(std::string_view function);
bool is_binary(std::string_view function);
std::vector<std::string> function_names();

// Rounding (rounding.cpp).

/// As a tensor of this type holds them: "bfloat16", "bfloat8_b", "bfloat4_b", "float32", "uint8",
/// "uint16", "int32", "uint32". Error for another word.
Array rounded(const Array& a, std::string_view dtype);

// Along dimensions (reductions.cpp).

/// "sum", "mean", "max", "min", "prod", "var", "std" (the last two with n - 1), "var0", "std0".
Array reduce(std::string_view kind, const Array& a, const Dims& dims, bool keep);
Array argmax(const Array& a, std::int64_t dim, bool keep);
Array cumulative(std::string_view kind, const Array& a, std::int64_t dim);
/// The sorted numbers and where they were. Stable.
std::pair<Array, Array> sort(const Array& a, std::int64_t dim, bool descending);
Array softmax(const Array& a, std::int64_t dim);
/// (x - mean) / sqrt(variance + epsilon) along the last dimension; `rms`: x / sqrt(mean square
/// ...).
Array normalized(const Array& a, double epsilon, bool rms);

// To other places (movement.cpp).

Array permuted(const Array& a, const Dims& order);
Array sliced(const Array& a, const Dims& starts, const Dims& ends, const Dims& steps);
Array concatenated(std::span<const Array> parts, std::int64_t dim);
Array padded(const Array& a, const Dims& before, const Dims& after, double value);
Array broadcast_to(const Array& a, const Dims& shape);
Array repeated(const Array& a, const Dims& times);
/// out[.., i, ..] = a[.., index[.., i, ..], ..] along `dim`, as torch.gather.
Array gathered(const Array& a, std::int64_t dim, const Array& index);
/// a with source's numbers at index along `dim`, as torch.scatter; `add`: added to what is there.
Array scattered(const Array& a, std::int64_t dim, const Array& index, const Array& source,
                bool add);
/// Rows of the table, one for each index.
Array rows_of(const Array& table, const Array& indices);

}  // namespace howard::arrays
