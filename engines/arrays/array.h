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

/// Returns the number of elements, which is 1 for no dimensions. Throws Error for a negative
/// dimension, or for more elements than memory can hold.
std::int64_t elements_of(const Dims& shape);

/// Holds numbers of any rank, row by row: float32, or whole numbers of 32 bits in the same words.
/// Copies share the numbers; nothing changes those of an array once it was handed out.
class Array {
 public:
  Array(Dims shape, bool whole);

  const Dims& shape() const { return shape_; }
  bool is_whole() const { return whole_; }
  std::int64_t size() const { return static_cast<std::int64_t>(words_->size()); }
  /// Returns the index of a dimension; negative ones are counted from the last. Throws Error for a
  /// dimension that the array does not have.
  std::size_t axis(std::int64_t dimension) const;

  std::span<float> words() { return *words_; }
  std::span<const float> words() const { return *words_; }
  double at(std::size_t i) const {
    const float word = (*words_)[i];
    return whole_ ? static_cast<double>(std::bit_cast<std::int32_t>(word))
                  : static_cast<double>(word);
  }
  void set(std::size_t i, double value);

  /// Returns the same numbers under another shape. Throws Error unless they are as many.
  Array reshaped(Dims shape) const;

 private:
  Dims shape_;
  bool whole_;
  std::shared_ptr<std::vector<float>> words_;
};

/// Returns "2x3".
std::string text(const Dims& shape);

/// Returns the shape that numpy's broadcasting gives. Throws Error when the shapes do not fit.
Dims broadcast(const Dims& a, const Dims& b);

// These functions are elementwise (elementwise.cpp). They go by ttnn's names, and throw Error for
// any other.

/// `parameters` are the function's further arguments with ttnn's defaults: a slope, limits.
Array unary(std::string_view function, const Array& a, std::span<const double> parameters);
Array binary(std::string_view function, const Array& a, const Array& b);
Array where(const Array& condition, const Array& a, const Array& b);
bool is_unary(std::string_view function);
bool is_binary(std::string_view function);
std::vector<std::string> function_names();

// The following function rounds (rounding.cpp).

/// Returns the numbers as a tensor of this type holds them: "bfloat16", "bfloat8_b", "bfloat4_b",
/// "float32", "uint8", "uint16", "int32" or "uint32". Throws Error for another word.
Array rounded(const Array& a, std::string_view dtype);

// These functions work along dimensions (reductions.cpp).

/// `kind` is "sum", "mean", "max", "min", "prod", "var" or "std" (these two with n - 1), "var0" or
/// "std0".
Array reduce(std::string_view kind, const Array& a, const Dims& dims, bool keep);
Array argmax(const Array& a, std::int64_t dim, bool keep);
Array cumulative(std::string_view kind, const Array& a, std::int64_t dim);
/// Returns the sorted numbers and where they were. The order is stable.
std::pair<Array, Array> sort(const Array& a, std::int64_t dim, bool descending);
Array softmax(const Array& a, std::int64_t dim);
/// Computes (x - mean) / sqrt(variance + epsilon) along the last dimension, or, if `rms`, x /
/// sqrt(mean square ...).
Array normalized(const Array& a, double epsilon, bool rms);

// These functions bring numbers to other places (movement.cpp).

Array permuted(const Array& a, const Dims& order);
Array sliced(const Array& a, const Dims& starts, const Dims& ends, const Dims& steps);
Array concatenated(std::span<const Array> parts, std::int64_t dim);
Array padded(const Array& a, const Dims& before, const Dims& after, double value);
Array broadcast_to(const Array& a, const Dims& shape);
Array repeated(const Array& a, const Dims& times);
/// Computes out[.., i, ..] = a[.., index[.., i, ..], ..] along `dim`, as torch.gather does.
Array gathered(const Array& a, std::int64_t dim, const Array& index);
/// Puts the source's numbers into `a` at `index` along `dim`, as torch.scatter does. If `add`, they
/// are added to what is there.
Array scattered(const Array& a, std::int64_t dim, const Array& index, const Array& source,
                bool add);
/// Returns rows of the table, one for each index.
Array rows_of(const Array& table, const Array& indices);

}  // namespace howard::arrays
