// SPDX-License-Identifier: Apache-2.0
#include "engines/program/kinds/attention.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace howard {
namespace {

/// Which operands of attention may be unlike the others.
struct Unlike {
  bool cache = false;   ///< k and v have a data type of their own.
  bool values = false;  ///< The heads of v have a width of their own.
};

/// Throws Error when q, k and v do not fit together.
void require_operands(std::string_view op, Specs in, bool causal, Unlike unlike = {}) {
  const Shape& q = in[0].shape;
  const Shape& k = in[1].shape;
  const Shape v = unlike.values ? in[2].shape.with_columns(k.columns()) : in[2].shape;
  const bool fits = (unlike.cache || in[0].dtype == in[1].dtype) && in[1].dtype == in[2].dtype &&
                    k == v && q.outer() == k.outer() && q.heads() % k.heads() == 0 &&
                    q.columns() == k.columns();
  if (!fits) {
    refuse_operands(op, in.first(3),
                    "q [b, h, s, d], k and v [b, g, t, d] of one data type, h a multiple of g");
  }
  if (causal && q.rows() != k.rows()) {
    refuse_operands(op, in.first(2), "as many places of q as of k where it is causal");
  }
}

void require_chunk(std::int64_t rows) {
  if (rows >= kTileSide && rows <= kBlockSides.most && rows % kTileSide == 0) return;
  throw Error({.attempted = "compute attention",
               .value = fmt::format("chunks of {} rows", rows),
               .accepted = "multiples of 32, up to 1048576"});
}

/// Returns the work of products of every place of q with every place of k, some as wide as q and
/// some as wide as v; a causal program does half of it.
Flops flops_of(std::int64_t of_q, std::int64_t of_v, Specs in, bool causal) {
  const Shape& q = in[0].shape;
  const std::int64_t columns = of_q * q.columns() + of_v * in[2].shape.columns();
  const std::int64_t all = 2 * q.batch() * q.rows() * columns * in[1].shape.rows();
  return Flops(causal ? all / 2 : all);
}

/// Returns the share of that which a window leaves, as if all places had a whole one.
Flops in_window(Flops all, std::int64_t window, std::int64_t seen) {
  return window == 0 || window >= seen ? all : Flops(all.value() / seen * window);
}

/// Returns the spec of the result of TTML's attention: rows of q, as wide as v.
TensorSpec attended(Specs in) {
  TensorSpec result = in[0];
  result.shape = result.shape.with_columns(in[2].shape.columns());
  return result;
}

/// Throws Error when the operand `place` is a mask that does not fit. There is none if that is past
/// the last one.
void require_mask(std::string_view op, Specs in, std::size_t place, bool causal) {
  if (in.size() <= place) return;
  const Shape &q = in[0].shape, &mask = in[place].shape;
  const bool fits = (mask.outer() == 1 || mask.outer() == q.outer()) &&
                    (mask.heads() == 1 || mask.heads() == q.heads()) && mask.rows() == q.rows() &&
                    mask.columns() == in[1].shape.rows();
  if (!causal && fits) return;
  refuse_operands(op, {in[0], in[1], in[place]},
                  "a mask [b or 1, h or 1, s, t] where it is not causal");
}

/// Throws Error when the operands of TTML's attention do not fit together, of which the mask is the
/// operand `mask`.
void require_ttml(std::string_view op, Specs in, std::size_t mask, bool causal) {
  require_operands(op, in, causal, {.values = true});
  require_mask(op, in, mask, causal);
  if (in.size() <= mask || in[mask].dtype == in[0].dtype) return;
  refuse_operands(op, {in[0], in[mask]}, "a mask of the data type of q");
}

void require_gradients(std::string_view op, Specs in, bool causal) {
  constexpr std::size_t kMask = 7;
  require_ttml(op, in, kMask, causal);
  const TensorSpec row = attention_statistics(in[0]);
  const TensorSpec result = attended(in);
  for (std::size_t i = 3; i < std::min(in.size(), kMask); ++i) {
    const TensorSpec& expected = i < 5 ? result : row;
    if (in[i].shape == expected.shape && in[i].dtype == expected.dtype) continue;
    refuse_operands(op, {in[0], in[i]},
                    "a result and a gradient for each row of q, and two numbers of each row");
  }
}

}  // namespace

SpecList AttentionAttributes::results(Specs in) const {
  require_operands(kName, in, causal);
  if (window > 0 && in[0].shape.rows() != in[1].shape.rows()) {
    refuse_operands(kName, in.first(2), "as many places of q as of k where there is a window");
  }
  require_chunk(query_chunk);
  require_chunk(key_chunk);
  require_mask(kName, in, 3, causal);
  return {in[0]};
}

Flops AttentionAttributes::flops(Specs in, Specs) const {
  const std::int64_t keys = in[1].shape.rows();
  return in_window(flops_of(1, 1, in, causal), window, causal ? ceil_div(keys, 2) : keys);
}

SpecList DecodeAttentionAttributes::results(Specs in) const {
  require_operands(kName, in, false, {.cache = true});
  return {in[0]};
}

Flops DecodeAttentionAttributes::flops(Specs in, Specs) const {
  return in_window(flops_of(1, 1, in, false), window, in[1].shape.rows());
}

TensorSpec attention_statistics(const TensorSpec& q) {
  return {.shape = q.shape.with_columns(1), .dtype = q.dtype};
}

SpecList TtmlAttentionAttributes::results(Specs in) const {
  require_ttml(kName, in, 3, causal);
  return {attended(in), attention_statistics(in[0]), attention_statistics(in[0])};
}

Flops TtmlAttentionAttributes::flops(Specs in, Specs) const { return flops_of(1, 1, in, causal); }

SpecList AttentionBackwardQAttributes::results(Specs in) const {
  require_gradients(kName, in, causal);
  return {in[0]};
}

Flops AttentionBackwardQAttributes::flops(Specs in, Specs) const {
  return flops_of(2, 1, in, causal);  // the scores and dq, and the probabilities' gradients
}

SpecList AttentionBackwardKvAttributes::results(Specs in) const {
  require_gradients(kName, in, causal);
  return {in[1], in[2]};
}

Flops AttentionBackwardKvAttributes::flops(Specs in, Specs) const {
  return flops_of(2, 2, in, causal);  // the scores and dk, the probabilities' gradients and dv
}

SpecList RotaryEmbeddingAttributes::results(Specs in) const {
  const Shape& x = in[0].shape;
  const Shape& table = in[1].shape;
  if (x.columns() % 2 != 0 || table != in[2].shape || in[1].dtype != in[2].dtype ||
      table.batch() != 1 || table.rows() < x.rows() || table.columns() != x.columns() ||
      in[1].dtype != in[0].dtype) {
    refuse_operands(kName, in,
                    "x [n, h, s, d] with d even, and two tables [s or more, d] of its data type");
  }
  return {in[0]};
}

}  // namespace howard
