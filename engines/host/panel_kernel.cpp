// SPDX-License-Identifier: Apache-2.0
//
// Compiled with -ffp-contract=fast: a * b + c is one instruction where there is one.
#include "engines/host/panel_kernel.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace howard::host {
namespace {

/// Registers of one instruction set: how many numbers one holds, and how many rows of partial
/// results, two registers wide, leave room for two of B and one of A. On AVX-512 A is read from
/// memory by the multiplication itself.
template <InstructionSet kSet>
struct Registers;
template <>
struct Registers<InstructionSet::v4> {
  static constexpr int kLanes = 16, kRows = 14;
  using Vector [[gnu::vector_size(64)]] = float;
  using Mask [[gnu::vector_size(64)]] = std::int32_t;
  using Unaligned [[gnu::vector_size(64), gnu::aligned(4), gnu::may_alias]] = float;
};
template <>
struct Registers<InstructionSet::v3> {
  static constexpr int kLanes = 8, kRows = 6;
  using Vector [[gnu::vector_size(32)]] = float;
  using Mask [[gnu::vector_size(32)]] = std::int32_t;
  using Unaligned [[gnu::vector_size(32), gnu::aligned(4), gnu::may_alias]] = float;
};
template <>
struct Registers<InstructionSet::v2> {
  static constexpr int kLanes = 4, kRows = 6;
  using Vector [[gnu::vector_size(16)]] = float;
  using Mask [[gnu::vector_size(16)]] = std::int32_t;
  using Unaligned [[gnu::vector_size(16), gnu::aligned(4), gnu::may_alias]] = float;
};

template <InstructionSet kSet, class Body>
HOWARD_INLINE inline void compiled_for(const Body& body) {
  if constexpr (kSet == InstructionSet::v4) run_on_v4(body);
  if constexpr (kSet == InstructionSet::v3) run_on_v3(body);
  if constexpr (kSet == InstructionSet::v2) run_on_v2(body);
}

/// Everything that depends on the instruction set.
template <InstructionSet kSet>
struct Loops {
  static constexpr int kLanes = Registers<kSet>::kLanes;
  static constexpr int kRows = Registers<kSet>::kRows;
  static constexpr int kColumns = 2 * kLanes;
  /// Rows of a tile that is stored by columns: whole registers.
  static constexpr int kTileRows = (kRows + kLanes - 1) / kLanes * kLanes;
  using Vector = typename Registers<kSet>::Vector;
  using Mask = typename Registers<kSet>::Mask;
  using Unaligned = typename Registers<kSet>::Unaligned;

  HOWARD_INLINE static Unaligned& at(float* values) {
    return *reinterpret_cast<Unaligned*>(values);
  }
  HOWARD_INLINE static const Unaligned& at(const float* values) {
    return *reinterpret_cast<const Unaligned*>(values);
  }

  template <int kHeight, std::int64_t kRowStep, std::int64_t kDepthStep>
  static void multiply(const float* tile, const float* panel, std::int64_t depth, float* c,
                       std::int64_t step, bool adds, const float* next) {
    compiled_for<kSet>([=]() HOWARD_INLINE {
      Vector sums[std::size_t{kHeight}][2];
#pragma GCC unroll 14
      for (int i = 0; i < kHeight; ++i) {
        sums[i][0] = sums[i][1] = Vector{};
        __builtin_prefetch(c + i * step, 1);
        __builtin_prefetch(c + i * step + kLanes, 1);
      }
#pragma GCC unroll 1
      for (std::int64_t k = 0; k < depth; ++k) {
        const Vector left = at(panel + k * kColumns);
        const Vector right = at(panel + k * kColumns + kLanes);
        __builtin_prefetch(next + k * kColumns, 0, 2);
        if constexpr (kLanes == 16) __builtin_prefetch(next + k * kColumns + kLanes, 0, 2);
#pragma GCC unroll 14
        for (int i = 0; i < kHeight; ++i) {
          const float a = tile[i * kRowStep + k * kDepthStep];
          sums[i][0] += a * left;
          sums[i][1] += a * right;
        }
      }
#pragma GCC unroll 14
      for (int i = 0; i < kHeight; ++i) {
        float* row = c + i * step;
        if (adds) {
          sums[i][0] += at(row);
          sums[i][1] += at(row + kLanes);
        }
        at(row) = sums[i][0];
        at(row + kLanes) = sums[i][1];
      }
    });
  }

  template <class T>
  static void pack_tile(const Strided<T>& from, std::int64_t rows, std::int64_t depth, float* to) {
    compiled_for<kSet>([=]() HOWARD_INLINE {
      if (from.column == 1) {
        for (std::int64_t i = 0; i < rows; ++i) {
          const T* values = from.values + i * from.row;
          for_each(depth, [values, own = to + i * PanelKernel::kDepth](std::int64_t k)
                              HOWARD_INLINE { own[k] = load(values, k); });
        }
        return;
      }
      for (std::int64_t k = 0; k < depth; ++k) {
        const T* values = from.values + k * from.column;
        float* own = to + k * kTileRows;
        if (rows >= kTileRows) {
          for_each(kTileRows, [=](std::int64_t i) HOWARD_INLINE { own[i] = load(values, i); });
        } else {
          for (std::int64_t i = 0; i < rows; ++i) own[i] = load(values, i);  // The last tile.
        }
      }
    });
  }

  /// Lanes first ... first + kLanes / 2 - 1 of a and b in turn.
  HOWARD_INLINE static void interleave(const Vector& a, const Vector& b, int first, Vector& to) {
    Mask mask;
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) mask[i] = first + i / 2 + (i % 2 == 0 ? 0 : kLanes);
    to = __builtin_shuffle(a, b, mask);
  }

  /// kLanes rows of kLanes elements, `step` apart, as the columns of `to`, kColumns apart.
  template <class T>
  HOWARD_INLINE static void transpose(const T* from, std::int64_t step, float* to) {
    Vector rows[std::size_t{kLanes}];
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) {
      alignas(64) float row[std::size_t{kLanes}];
      const T* values = from + i * step;
      for_each(kLanes, [&](std::int64_t k) HOWARD_INLINE { row[k] = load(values, k); });
      rows[i] = at(row);
    }
    // Each pass moves one bit of the row's number into the lane's.
#pragma GCC unroll 4
    for (int length = 1; length < kLanes; length *= 2) {
      Vector next[std::size_t{kLanes}];
#pragma GCC unroll 8
      for (int i = 0; i < kLanes / 2; ++i) {
        interleave(rows[i], rows[i + kLanes / 2], 0, next[2 * i]);
        interleave(rows[i], rows[i + kLanes / 2], kLanes / 2, next[2 * i + 1]);
      }
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) rows[i] = next[i];
    }
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) at(to + i * kColumns) = rows[i];
  }

  template <class T>
  static void pack_panel(const Strided<T>& from, std::int64_t depth, std::int64_t columns,
                         float* to) {
    compiled_for<kSet>([=]() HOWARD_INLINE {
      std::int64_t k = 0;
      if (columns < kColumns) std::fill(to, to + depth * kColumns, 0.0F);
      if (from.row == 1 && columns == kColumns) {
        for (; k + kLanes <= depth; k += kLanes) {
          transpose(from.values + k, from.column, to + k * kColumns);
          transpose(from.values + k + kLanes * from.column, from.column,
                    to + k * kColumns + kLanes);
        }
      }
      for (; k < depth; ++k) {
        float* own = to + k * kColumns;
        const T* values = from.values + k * from.row;
        if (from.column == 1 && columns == kColumns) {
          for_each(kColumns, [=](std::int64_t j) HOWARD_INLINE { own[j] = load(values, j); });
        } else {
          for (std::int64_t j = 0; j < columns; ++j) own[j] = load(values, j * from.column);
        }
      }
    });
  }

  template <int... kBefore>
  static PanelKernel kernel(std::integer_sequence<int, kBefore...>) {
    PanelKernel made;
    made.rows = kRows;
    made.columns = kColumns;
    made.tile_length = PanelKernel::kDepth * kTileRows;
    ((made.by_row[kBefore] = multiply<kBefore + 1, PanelKernel::kDepth, 1>), ...);
    ((made.by_column[kBefore] = multiply<kBefore + 1, 1, kTileRows>), ...);
    made.half_tile = pack_tile<Half>;
    made.tile = pack_tile<float>;
    made.half_panel = pack_panel<Half>;
    made.panel = pack_panel<float>;
    return made;
  }
  static PanelKernel kernel() { return kernel(std::make_integer_sequence<int, kRows>()); }
};

}  // namespace

const PanelKernel& panel_kernel(InstructionSet set) {
  static const std::array kKernels{Loops<InstructionSet::v2>::kernel(),
                                   Loops<InstructionSet::v3>::kernel(),
                                   Loops<InstructionSet::v4>::kernel()};
  return kKernels[static_cast<std::size_t>(set)];
}

}  // namespace howard::host
