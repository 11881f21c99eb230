// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engines/host/kernels/kernel.h"
#include "engines/host/kernels/vector_loops.h"

namespace howard::host {

/// Says what a step of a pass computes for each element.
enum class ElementFunction : std::uint8_t {
  add,
  subtract,
  multiply,
  relu,
  gtz,
  square,
  gelu,
  gelu_backward,
  copy,  ///< Converts to another data type.
};

/// A value that a step reads.
struct ElementOperand {
  enum class Kind : std::uint8_t {
    none,
    tensor,  ///< `values` has as many elements as the pass.
    row,     ///< `values` is one row, used for all rows.
    scalar,
    step,     ///< The result of an earlier step.
    product,  ///< The product's values that run_range() is given.
  };
  Kind kind = Kind::none;
  DataType dtype = DataType::float32;  ///< The data type of the values, or of the product.
  bool rounds = false;  ///< True if a float32 product is first rounded to bfloat16; only for x.
  const std::byte* values = nullptr;
  float scalar = 0;
  std::size_t step = 0;
};

struct ElementStep {
  ElementFunction function{};
  ElementOperand x, y;
  /// The type that the result is rounded to, whether it is stored or not.
  DataType result = DataType::float32;
  std::byte* stored = nullptr;  ///< Null if only later steps read the result.
  bool wide = false;  ///< True if the result is stored as float32, whatever type it is rounded to.

  bool stores_half() const { return stored != nullptr && !wide && result == DataType::bfloat16; }
};

/// The sum of all results of step `step`, which must be the last one, divided by `divisor` and
/// stored as one number.
struct ElementSum {
  std::size_t step = 0;
  float divisor = 1;
  DataType result = DataType::float32;
  std::byte* stored = nullptr;
};

/// Elementwise steps over a matrix. All steps run on a piece that stays in the first-level cache
/// before the next piece is taken. Each result is rounded to its data type as if it had been
/// stored, so that the bits are the same as when the steps run one after the other.
class ElementPass {
 public:
  static constexpr std::size_t kMostSteps = 12;

  /// The pass covers `elements` in rows of `columns`. There are at most kMostSteps steps. A tensor
  /// that a step stores to may be read by the same step and by earlier ones.
  ElementPass(const std::vector<ElementStep>& steps, std::int64_t elements, std::int64_t columns,
              const std::optional<ElementSum>& sum = {});

  /// Runs the pass over everything, spread over the pool.
  void run(WorkerPool& pool);
  /// Runs the pass over elements begin ... end - 1, in row order. `product` holds these elements of
  /// the product that steps read. Not allowed with a sum.
  void run_range(std::int64_t begin, std::int64_t end, const std::byte* product) const {
    walk({begin, end}, {product, begin}, nullptr);
  }

 private:
  /// Computes out[i] = function(x[i], y[i]) for `count` elements; a scalar y is y[0] for all. If
  /// the step says so, the results are rounded to bfloat16 and stored in `stored`.
  using Loop = void (*)(const void* x, const void* y, float* out, Half* stored, std::int64_t count);
  struct Compiled {
    ElementStep step;
    Loop loop = nullptr;
  };
  struct Range {
    std::int64_t begin = 0, end = 0;
  };
  struct Product {
    const std::byte* values = nullptr;
    std::int64_t first = 0;  ///< The index of the first element in `values`.
  };
  /// Holds 32 partial sums that continue from one piece to the next.
  struct LaneSums {
    std::array<float, kLanes> lanes{};
    std::int64_t count = 0;
  };

  static void add_to(LaneSums& sums, const float* values, std::int64_t count);
  void walk(Range range, const Product& product, LaneSums* sums) const;
  void run_piece(Range piece, std::int64_t column, const Product& product, LaneSums* sums) const;

  std::vector<Compiled> steps_;
  std::int64_t elements_;
  std::int64_t columns_;
  bool has_rows_ = false;
  std::optional<ElementSum> sum_;
  std::vector<float> partial_;  ///< The sums of kRowPiece elements each.
};

}  // namespace howard::host
