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

/// What the steps of a pass compute of each element.
enum class ElementFunction : std::uint8_t {
  add,
  subtract,
  multiply,
  relu,
  gtz,
  square,
  gelu,
  gelu_backward,
  copy,  ///< Into another data type.
};

/// A value that a step reads.
struct ElementOperand {
  enum class Kind : std::uint8_t {
    none,
    tensor,  ///< `values`: of as many elements as the pass has.
    row,     ///< `values`: one row, the same for all rows.
    scalar,
    step,     ///< The result of an earlier step.
    product,  ///< What run_range() is given.
  };
  Kind kind = Kind::none;
  DataType dtype = DataType::float32;  ///< Of values, or of the product.
  bool rounds = false;                 ///< A float32 product, to bfloat16 first; only as x.
  const std::byte* values = nullptr;
  float scalar = 0;
  std::size_t step = 0;
};

struct ElementStep {
  ElementFunction function{};
  ElementOperand x, y;
  DataType result = DataType::float32;  ///< Rounded to, stored or not.
  std::byte* stored = nullptr;          ///< Null: only later steps read it.
  bool wide = false;                    ///< Stored as float32, whatever it is rounded to.

  bool stores_half() const { return stored != nullptr && !wide && result == DataType::bfloat16; }
};

/// The sum of all results of the last step that `step` names, divided, as one number.
struct ElementSum {
  std::size_t step = 0;
  float divisor = 1;
  DataType result = DataType::float32;
  std::byte* stored = nullptr;
};

/// Elementwise steps over a matrix, all of them for a piece that stays in the first cache before
/// the next piece. Each result is rounded to its data type as if it had been stored, so that the
/// bits are those of the steps run one after the other.
class ElementPass {
 public:
  static constexpr std::size_t kMostSteps = 12;

  /// Over rows of `columns` elements, `elements` in all. At most kMostSteps steps; a tensor that is
  /// stored to may be read by the same and by earlier steps.
  ElementPass(const std::vector<ElementStep>& steps, std::int64_t elements, std::int64_t columns,
              const std::optional<ElementSum>& sum = {});

  /// Everything, spread over the pool.
  void run(WorkerPool& pool);
  /// Elements begin ... end - 1, in row order. Only without a sum. `product`: those elements of the
  /// product that steps read.
  void run_range(std::int64_t begin, std::int64_t end, const std::byte* product) const {
    walk({begin, end}, {product, begin}, nullptr);
  }

 private:
  /// out[i] = function(x[i], y[i]) for `count` elements, y[0] for all if it is a scalar; rounded to
  /// bfloat16, and stored there, where the step says so.
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
    std::int64_t first = 0;  ///< The element that `values` begin with.
  };
  /// 32 partial sums, continued from one piece to the next.
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
  std::vector<float> partial_;  ///< The sum of each kRowPiece elements.
};

}  // namespace howard::host
