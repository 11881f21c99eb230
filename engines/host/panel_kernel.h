// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "engines/host/instruction_set.h"
#include "engines/host/vector_loops.h"

namespace howard::host {

/// Where the elements of a factor lie: element (i, j) of values at values[i * row + j * column].
template <class T>
struct Strided {
  const T* values = nullptr;
  std::int64_t row = 0;
  std::int64_t column = 0;  ///< Either of the two is 1.

  Strided at(std::int64_t i, std::int64_t j) const {
    return {values + i * row + j * column, row, column};
  }
};

/// The innermost loop of a product of matrices on one instruction set: a tile of rows of A times a
/// panel of columns of B, both widened to float32 and laid out so that it reads them in order, with
/// a partial result that fills the registers. A product and its sum are one rounding where the
/// instruction set has that (v3, v4).
struct PanelKernel {
  /// Of A and of B that a tile and a panel reach along, at most.
  static constexpr std::int64_t kDepth = 256;
  static constexpr std::int64_t kMostRows = 14;

  /// c[i * step + j] = sum over k < depth of tile[i, k] panel[k, j], or that much more. As much of
  /// `next` as there is of `panel` is called into the second cache meanwhile.
  using Multiply = void (*)(const float* tile, const float* panel, std::int64_t depth, float* c,
                            std::int64_t step, bool adds, const float* next);
  template <class T>
  using Pack = void (*)(const Strided<T>& from, std::int64_t rows, std::int64_t columns, float* to);

  std::int64_t rows = 0;         ///< Of a tile, at most.
  std::int64_t columns = 0;      ///< Of a panel.
  std::int64_t tile_length = 0;  ///< Floats that a tile takes.
  /// For tiles of i + 1 rows, of an A that is stored row by row and one stored column by column.
  std::array<Multiply, kMostRows> by_row{}, by_column{};
  /// [rows, columns = depth] of A. Told of more rows than a tile has, as many as there are, it may
  /// read them.
  Pack<Half> half_tile{};
  Pack<float> tile{};
  Pack<Half> half_panel{};  ///< [rows = depth, columns] of B; what it lacks in columns is zero.
  Pack<float> panel{};

  template <class T>
  Pack<T> pack_tile() const {
    if constexpr (sizeof(T) == sizeof(Half))
      return half_tile;
    else
      return tile;
  }
  template <class T>
  Pack<T> pack_panel() const {
    if constexpr (sizeof(T) == sizeof(Half))
      return half_panel;
    else
      return panel;
  }
};

/// For `set`, which this CPU must have to use it.
const PanelKernel& panel_kernel(InstructionSet set);

}  // namespace howard::host
