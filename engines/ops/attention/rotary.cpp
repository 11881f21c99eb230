// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/attention/rotary.h"

#include "engines/ops/check.h"

namespace howard::ops {

Program rotary_embedding(const Tensor& x, const Tensor& cosines, const Tensor& sines,
                         RotaryStyle style, const Tensor& out) {
  const Shape& shape = x.spec().shape;
  const Shape& table = cosines.spec().shape;
  if (!is_real(x.spec()) || shape.columns() % 2 != 0 || cosines.spec() != sines.spec() ||
      table.batch() != 1 || table.rows() < shape.rows() || table.columns() != shape.columns() ||
      cosines.spec().dtype != x.spec().dtype) {
    refuse("rotary_embedding", {x.spec(), cosines.spec(), sines.spec()},
           "[n, h, s, d] with d even, and two tables [s or more, d] of its data type");
  }
  require_output("rotary_embedding", out, x.spec());
  return {.name = "rotary_embedding",
          .attributes = RotaryEmbeddingAttributes{.style = style},
          .inputs = {x.operand(), cosines.operand(), sines.operand()},
          .outputs = {out.operand()}};
}

}  // namespace howard::ops
