// SPDX-License-Identifier: Apache-2.0
//
// Computes the gradients of attention from the two numbers of each row that its forward pass kept.
// No place of the scores is ever stored.
#include "engines/host/kernels/attention/mask_rows.h"
#include "engines/host/kernels/elementwise/float_math.h"
#include "engines/host/kernels/kernels.h"
#include "engines/host/kernels/vector_loops.h"

namespace howard::host {
namespace {

template <class T>
struct AttentionSlopes {
  const T *q, *k, *v, *out, *dout, *largest, *inverse_sums;
  std::int64_t group;                ///< How many heads of q share one of k and v.
  std::int64_t rows, keys, columns;  ///< Places of q, places of k, and the width of a head.
  std::int64_t wide;                 ///< The width of a head of v.
  float scale;
  bool causal;
  MaskRows<T> mask;
  std::int64_t heads;  ///< Of q, in a batch.
  float hidden;        ///< What the mask takes from the score of a place that it hides.

  HOWARD_INLINE float dot(std::int64_t count, const T* a, const T* b) const {
    return sum_of(count, [=](std::int64_t i) HOWARD_INLINE { return load(a, i) * load(b, i); });
  }
  /// Returns what the slopes of all probabilities of row `index` of q have in common.
  HOWARD_INLINE float shared_slope(std::int64_t index) const {
    return dot(wide, out + index * wide, dout + index * wide);
  }
  /// Returns the mask of row `index` of all rows of q; null if there is none.
  HOWARD_INLINE const T* mask_row(std::int64_t index) const {
    if (!mask) return nullptr;
    const std::int64_t head = index / rows;
    return mask.row(head / heads, head % heads, index % rows);
  }
  /// Returns the probability of row `index` of all rows of q and of row `key` of all keys, whose
  /// mask is `seen`.
  HOWARD_INLINE float probability(std::int64_t index, std::int64_t key, float seen) const {
    // The mask multiplies the score of a hidden place by 0, so that is not computed.
    const float score =
        seen == 0 ? 0.0F : scale * dot(columns, q + index * columns, k + key * columns);
    return exp_of(masked_score(score, seen, hidden) - load(largest, index)) *
           load(inverse_sums, index);
  }
  /// Returns the slope of their scaled product.
  HOWARD_INLINE float score_slope(std::int64_t index, std::int64_t key, float seen,
                                  float probability, float shared) const {
    return seen * scale * probability * (dot(wide, dout + index * wide, v + key * wide) - shared);
  }
  HOWARD_INLINE void add(std::int64_t count, float* sums, float weight, const T* row) const {
    for_each(count, [=](std::int64_t i) HOWARD_INLINE { sums[i] += weight * load(row, i); });
  }
  HOWARD_INLINE void clear(std::int64_t count, float* sums) const {
    for_each(count, [=](std::int64_t i) HOWARD_INLINE { sums[i] = 0.0F; });
  }
  HOWARD_INLINE void put(std::int64_t count, const float* sums, T* to) const {
    for_each(count, [=](std::int64_t i) HOWARD_INLINE { store(to, i, sums[i]); });
  }

  /// Computes row `index` of all rows of dq.
  HOWARD_INLINE void run_query(std::int64_t index, T* dq, float* sums) const {
    const std::int64_t first_key = index / rows / group * keys;
    const std::int64_t count = causal ? index % rows + 1 : keys;
    const float shared = shared_slope(index);
    const T* const places = mask_row(index);
    clear(columns, sums);
    for (std::int64_t key = first_key; key < first_key + count; ++key) {
      const float seen = places == nullptr ? 1.0F : load(places, key - first_key);
      if (seen == 0) continue;
      const float slope = score_slope(index, key, seen, probability(index, key, seen), shared);
      add(columns, sums, slope, k + key * columns);
    }
    put(columns, sums, dq + index * columns);
  }

  /// Computes row `key` of all rows of dk and dv.
  HOWARD_INLINE void run_key(std::int64_t key, T* dk, T* dv, float* sums) const {
    float* const dk_sums = sums;
    float* const dv_sums = sums + columns;
    clear(columns, dk_sums);
    clear(wide, dv_sums);
    const std::int64_t first_head = key / keys * group;
    for (std::int64_t head = first_head; head < first_head + group; ++head) {
      for (std::int64_t row = causal ? key % keys : 0; row < rows; ++row) {
        const std::int64_t index = head * rows + row;
        const T* const places = mask_row(index);
        const float seen = places == nullptr ? 1.0F : load(places, key % keys);
        const float weight = probability(index, key, seen);
        if (weight != 0) add(wide, dv_sums, weight, dout + index * wide);
        if (seen == 0) continue;
        add(columns, dk_sums, score_slope(index, key, seen, weight, shared_slope(index)),
            q + index * columns);
      }
    }
    put(columns, dk_sums, dk + key * columns);
    put(wide, dv_sums, dv + key * wide);
  }
};

Kernel make_backward(bool causal, float scale, bool of_q, const Call& call,
                     const KernelContext& context) {
  const Shape& q = call.in(0).shape;
  const Shape& k = call.in(1).shape;
  return with_type(call.out().dtype, [&](auto type) -> Kernel {
    using T = typename decltype(type)::type;
    const AttentionSlopes<T> slopes{.q = call.in_values<T>(0),
                                    .k = call.in_values<T>(1),
                                    .v = call.in_values<T>(2),
                                    .out = call.in_values<T>(3),
                                    .dout = call.in_values<T>(4),
                                    .largest = call.in_values<T>(5),
                                    .inverse_sums = call.in_values<T>(6),
                                    .group = q.heads() / k.heads(),
                                    .rows = q.rows(),
                                    .keys = k.rows(),
                                    .columns = q.columns(),
                                    .wide = call.in(2).shape.columns(),
                                    .scale = scale,
                                    .causal = causal,
                                    .mask = mask_rows<T>(call, 7),
                                    .heads = q.heads(),
                                    .hidden = hidden_by<T>()};
    T* const first = call.out_values<T>(0);
    T* const second = of_q ? nullptr : call.out_values<T>(1);
    const std::int64_t count = rows_of(of_q ? q : k);
    const std::int64_t grain = row_grain(q.columns() * (of_q ? k.rows() : q.rows()));
    return [=, &pool = context.pool, &workspace = context.workspace] {
      workspace.require(Bytes((slopes.columns + slopes.wide) * 4));
      share(pool, count, grain, [&](std::int64_t begin, std::int64_t end, int worker) {
        float* sums = workspace.floats(worker);
        vectorised([&]() HOWARD_INLINE {
          for (std::int64_t row = begin; row < end; ++row) {
            if (of_q) {
              slopes.run_query(row, first, sums);
            } else {
              slopes.run_key(row, first, second, sums);
            }
          }
        });
      });
    };
  });
}

}  // namespace

Kernel make_kernel(const AttentionBackwardQAttributes& attributes, const Call& call,
                   const KernelContext& context) {
  return make_backward(attributes.causal, attributes.scale, true, call, context);
}

Kernel make_kernel(const AttentionBackwardKvAttributes& attributes, const Call& call,
                   const KernelContext& context) {
  return make_backward(attributes.causal, attributes.scale, false, call, context);
}

}  // namespace howard::host
