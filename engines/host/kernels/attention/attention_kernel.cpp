// SPDX-License-Identifier: Apache-2.0
//
// Computes attention as one kernel: the scores of a row of q stay in a workspace of the thread.
#include <algorithm>
#include <limits>
#include <optional>

#include "engines/host/kernels/attention/mask_rows.h"
#include "engines/host/kernels/elementwise/float_math.h"
#include "engines/host/kernels/indices.h"
#include "engines/host/kernels/kernels.h"
#include "engines/host/kernels/vector_loops.h"

namespace howard::host {
namespace {

template <class T>
struct AttentionRows {
  const T* q;
  const T* k;
  const T* v;
  T* out;
  T *largest, *inverse_sums;         ///< Null if nobody needs them.
  std::int64_t heads, group;         ///< Heads of q, and how many of them share one of k and v.
  std::int64_t rows, keys, columns;  ///< Places of q, places of k, and the width of a head.
  std::int64_t wide;                 ///< The width of a head of v.
  MaskRows<T> added;                 ///< What scores are added to.
  MaskRows<T> shown;                 ///< TTML's.
  float hidden;                      ///< What that takes from the score of a place it hides.
  float scale;
  bool causal;
  std::int64_t window;  ///< 0: none.

  /// Computes row `index` of all rows of q; `work` has room for the scores and a row of the result.
  /// The row sees the first `seen` places or, if causal, those up to its own; and of these those of
  /// its window.
  HOWARD_INLINE void run_row(std::int64_t index, std::int64_t seen, float* work) const {
    const std::int64_t row = index % rows;
    const std::int64_t head = index / rows;
    const std::int64_t batch = head / heads;
    const std::int64_t pair = (batch * heads + head % heads) / group;
    const T* query = q + index * columns;
    if (causal) seen = row + 1;
    std::int64_t first = 0;
    if (window > 0 && (causal || rows == 1)) {
      first = std::max<std::int64_t>(0, seen - window);
    } else if (window > 0) {
      first = std::max<std::int64_t>(0, row - window / 2);
      seen = std::min(seen, row + window / 2 + 1);
    }
    seen -= first;
    const T* key = k + (pair * keys + first) * columns;
    const T* value = v + (pair * keys + first) * wide;
    float* scores = work;
    float* sums = work + keys;
    const T* places = shown ? shown.row(batch, head % heads, row) + first : nullptr;
    for (std::int64_t j = 0; j < seen; ++j) {
      scores[j] = 0;
      if (places != nullptr && load(places, j) == 0) continue;  // The mask multiplies it by 0.
      const T* other = key + j * columns;
      scores[j] = scale * sum_of(columns, [=](std::int64_t i) HOWARD_INLINE {
                    return load(query, i) * load(other, i);
                  });
    }
    if (added) {
      const T* terms = added.row(batch, head % heads, row) + first;
      for_each(seen, [=](std::int64_t j) HOWARD_INLINE { scores[j] += load(terms, j); });
    }
    if (places != nullptr) {
      for_each(seen, [=, most = hidden](std::int64_t j) HOWARD_INLINE {
        scores[j] = masked_score(scores[j], load(places, j), most);
      });
    }
    float most = max_of(seen, [=](std::int64_t j) HOWARD_INLINE { return scores[j]; });
    if (largest != nullptr) {
      // The sum belongs to the largest score as it is kept.
      store(largest, index, most);
      most = load(largest, index);
    }
    for_each(seen, [=](std::int64_t j) HOWARD_INLINE { scores[j] = exp_of(scores[j] - most); });
    const float factor =
        1.0F / sum_of(seen, [=](std::int64_t j) HOWARD_INLINE { return scores[j]; });
    if (inverse_sums != nullptr) store(inverse_sums, index, factor);
    for_each(wide, [=](std::int64_t i) HOWARD_INLINE { sums[i] = 0.0F; });
    for (std::int64_t j = 0; j < seen; ++j) {
      const T* other = value + j * wide;
      const float weight = scores[j] * factor;
      if (weight == 0) continue;
      for_each(wide, [=](std::int64_t i) HOWARD_INLINE { sums[i] += weight * load(other, i); });
    }
    T* to = out + index * wide;
    for_each(wide, [=](std::int64_t i) HOWARD_INLINE { store(to, i, sums[i]); });
  }
};

/// What the three kernels of the forward pass differ in.
struct Forward {
  bool causal = false, decodes = false, keeps = false;
  float scale = 1;
  std::int64_t window = 0;
};

Kernel make_attention(const Forward& forward, const Call& call, const KernelContext& context) {
  const auto [causal, decodes, keeps, scale, window] = forward;
  const Shape& q = call.in(0).shape;
  const Shape& k = call.in(1).shape;
  std::optional<Indices> position;
  if (decodes) position.emplace(call, 3, k.rows(), "decode_attention");
  call.require(!decodes || q.rows() == 1, "one row that sees places up to a position");
  return with_type(call.out().dtype, [&](auto type) -> Kernel {
    using T = typename decltype(type)::type;
    const AttentionRows<T> rows{.q = call.in_values<T>(0),
                                .k = call.in_values<T>(1),
                                .v = call.in_values<T>(2),
                                .out = call.out_values<T>(),
                                .largest = keeps ? call.out_values<T>(1) : nullptr,
                                .inverse_sums = keeps ? call.out_values<T>(2) : nullptr,
                                .heads = q.heads(),
                                .group = q.heads() / k.heads(),
                                .rows = q.rows(),
                                .keys = k.rows(),
                                .columns = q.columns(),
                                .wide = call.in(2).shape.columns(),
                                .added = decodes || keeps ? MaskRows<T>() : mask_rows<T>(call, 3),
                                .shown = keeps ? mask_rows<T>(call, 3) : MaskRows<T>(),
                                .hidden = hidden_by<T>(),
                                .scale = scale,
                                .causal = causal,
                                .window = window};
    return [=, &pool = context.pool, &workspace = context.workspace, count = rows_of(q)] {
      workspace.require(Bytes((rows.keys + rows.wide) * 4));
      if (position) position->require_in_range();
      const std::int64_t seen = position ? position->at(0) + 1 : rows.keys;
      share(pool, count, row_grain(rows.keys * rows.columns),
            [&](std::int64_t begin, std::int64_t end, int worker) {
              float* work = workspace.floats(worker);
              vectorised([&]() HOWARD_INLINE {
                for (std::int64_t row = begin; row < end; ++row) rows.run_row(row, seen, work);
              });
            });
    };
  });
}

}  // namespace

Kernel make_kernel(const AttentionAttributes& attributes, const Call& call,
                   const KernelContext& context) {
  return make_attention(
      {.causal = attributes.causal, .scale = attributes.scale, .window = attributes.window}, call,
      context);
}

Kernel make_kernel(const DecodeAttentionAttributes& attributes, const Call& call,
                   const KernelContext& context) {
  return make_attention({.decodes = true, .scale = attributes.scale, .window = attributes.window},
                        call, context);
}

Kernel make_kernel(const TtmlAttentionAttributes& attributes, const Call& call,
                   const KernelContext& context) {
  return make_attention({.causal = attributes.causal, .keeps = true, .scale = attributes.scale},
                        call, context);
}

}  // namespace howard::host
