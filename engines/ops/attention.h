// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/ops/tensor.h"

namespace howard::ops {

// These make the programs of attention. Each throws Error when the tensors do not fit together.

/// The operands of attention: q [b, h, s, d], k and v [b, g, t, d] with h a multiple of g.
struct AttentionOperands {
  Tensor q, k, v;
};

/// Computes out = softmax(scale q k^T) v in one kernel; `out` has q's spec.
Program attention(const AttentionOperands& operands, const AttentionAttributes& attributes,
                  const Tensor& out);
/// Adds a mask [b or 1, h or 1, s, t] to the scores.
Program attention(const AttentionOperands& operands, const Tensor& mask,
                  const AttentionAttributes& attributes, const Tensor& out);

/// Two numbers for each row of q that the backward pass needs, [b, h, s, 1] each.
struct AttentionStatistics {
  Tensor largest;       ///< The largest score that the row sees.
  Tensor inverse_sums;  ///< 1 / (sum of exp(score - largest)).
};

/// Also writes `statistics`: TTML's sdpa_fw. The heads of v, and then those of the result, may have
/// another width.
Program attention(const AttentionOperands& operands, const TtmlAttentionAttributes& attributes,
                  const Tensor& out, const AttentionStatistics& statistics);

/// The operands of attention, its result, the gradient of that, and the statistics.
struct AttentionGradients {
  AttentionOperands operands;
  Tensor out, dout;
  AttentionStatistics statistics;
};

/// These are the two programs of TTML's sdpa_bw, with the attributes of the forward pass.
Program attention_backward_q(const AttentionGradients& from,
                             const TtmlAttentionAttributes& attributes, const Tensor& dq);
Program attention_backward_kv(const AttentionGradients& from,
                              const TtmlAttentionAttributes& attributes, const Tensor& dk,
                              const Tensor& dv);

/// A decoding step: one row of q [b, h, 1, d] sees the places 0 to `position`, one uint32 on the
/// device, of a cache k and v [b, g, t, d].
Program decode_attention(const AttentionOperands& operands, const Tensor& position,
                         const DecodeAttentionAttributes& attributes, const Tensor& out);

/// Rotates the points of each row of x by the angles of its place in the sequence. `cosines` and
/// `sines` [s or more, d] hold each angle's value at both of a point's columns. The backward pass
/// is the same program with the sines of the negative angles.
inline Program rotary_embedding(const Tensor& x, const Tensor& cosines, const Tensor& sines,
                                RotaryStyle style, const Tensor& out) {
  return make_program(RotaryEmbeddingAttributes{.style = style},
                      {x.operand(), cosines.operand(), sines.operand()}, {out.operand()});
}

}  // namespace howard::ops
