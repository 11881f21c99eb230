// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "engines/ops/tensor.h"

namespace howard::ops {

// These make programs that bring data to other places. Each throws Error when the tensors do not
// fit together.

/// Swaps two dimensions of a.
inline Program transpose(const Tensor& a, const Tensor& out, Swap swap = Swap::rows_columns) {
  return make_program(TransposeAttributes{.swap = swap}, {a.operand()}, {out.operand()});
}
/// Copies a's elements in row order to out's shape, in tile layout. It moves data (Tensor::view
/// moves none).
inline Program reshape(const Tensor& a, const Tensor& out) {
  return make_program(ReshapeAttributes{}, {a.operand()}, {out.operand()});
}
/// Converts a to out's layout: tilize or untilize.
inline Program to_layout(const Tensor& a, const Tensor& out) {
  return make_program(LayoutAttributes{.to = out.spec().layout}, {a.operand()}, {out.operand()});
}
/// Copies a to another memory: DRAM or L1, interleaved or sharded.
Program to_memory(const Tensor& a, const Tensor& out);

/// Takes the elements of `a` from `begins` on, `steps` apart, as many as `out` has room for.
inline Program slice(const Tensor& a, const Sides& begins, const Sides& steps, const Tensor& out) {
  return make_program(SliceAttributes{.begins = begins, .steps = steps}, {a.operand()},
                      {out.operand()});
}
inline Program slice(const Tensor& a, const Sides& begins, const Tensor& out) {
  return slice(a, begins, {1, 1, 1, 1}, out);
}
/// Replaces the rows of `cache` from `row` on by those of `a`, in place.
inline Program write_rows(const Tensor& a, std::int64_t row, const Tensor& cache) {
  return make_program(WriteRowsAttributes{.row = row}, {a.operand(), cache.operand()},
                      {cache.operand()});
}
/// Writes from the row that `position`, one uint32 on the device, holds when the program runs.
Program write_rows(const Tensor& a, const Tensor& position, const Tensor& cache);
/// Puts `a` into `out`, with `before` elements of `value` before it and more after it up to the
/// size of `out`.
inline Program pad(const Tensor& a, const Sides& before, float value, const Tensor& out) {
  return make_program(PadAttributes{.before = before, .value = value}, {a.operand()},
                      {out.operand()});
}
/// Puts the dimensions of `a` in another order.
inline Program permute(const Tensor& a, const std::array<int, 4>& order, const Tensor& out) {
  return make_program(PermuteAttributes{.order = order}, {a.operand()}, {out.operand()});
}
/// Puts `parts` side by side along `dimension`, 0 to 3.
Program concat(std::span<const Tensor> parts, int dimension, const Tensor& out);
inline Program concat(std::span<const Tensor> parts, const Tensor& out) {
  return concat(parts, 3, out);
}

// These convert between [n, 1, s, heads d], which linear layers use, and [n, heads, s, d], which
// attention uses.

/// Returns the spec of each of q, k and v.
inline TensorSpec split_heads_output(const TensorSpec& qkv, int heads) {
  return results_of(SplitHeadsAttributes{.heads = heads}, std::array{qkv})[0];
}
/// Splits the columns of qkv into q, k and v, by heads.
Program split_heads(const Tensor& qkv, int heads, const Tensor& q, const Tensor& k,
                    const Tensor& v);
/// Returns the spec of k and v with groups.
inline TensorSpec split_groups_output(const TensorSpec& q, const TensorSpec& kv, int heads,
                                      int groups) {
  return results_of(SplitGroupsAttributes{.heads = heads, .groups = groups}, std::array{q, kv})[1];
}
/// Splits the columns of q and kv into query, k and v, by heads and groups.
Program split_groups(const Tensor& q, const Tensor& kv, int heads, int groups, const Tensor& query,
                     const Tensor& k, const Tensor& v);
/// Repeats each head of a, as often as out has more of them, one after the other.
Program repeat_heads(const Tensor& a, const Tensor& out);
/// Puts the heads of a side by side.
inline Program concat_heads(const Tensor& a, const Tensor& out) {
  return make_program(ConcatHeadsAttributes{}, {a.operand()}, {out.operand()});
}

/// Returns the spec of the looked-up rows, in tile layout.
inline TensorSpec embedding_output(const TensorSpec& indices, const TensorSpec& table) {
  return results_of(EmbeddingAttributes{}, std::array{indices, table})[0];
}
/// Looks up the table's rows at `indices`. On a device that holds values, running it throws Error
/// for an index outside the table.
inline Program embedding(const Tensor& indices, const Tensor& table, const Tensor& out) {
  return make_program(EmbeddingAttributes{}, {indices.operand(), table.operand()}, {out.operand()});
}
/// Computes dtable [v, d], in tile layout: for each index, the sum of dy's rows at its positions.
inline Program embedding_backward(const Tensor& indices, const Tensor& dy, const Tensor& dtable) {
  return make_program(EmbeddingBackwardAttributes{}, {indices.operand(), dy.operand()},
                      {dtable.operand()});
}

}  // namespace howard::ops
