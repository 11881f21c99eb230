// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/attention_programs.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

/// The operands of attention: q [b, h, s, d], k and v [b, g, t, d] with h a multiple of g.
struct AttentionOperands {
  Tensor q, k, v;
};

/// Makes the program of out = softmax(scale q k^T) v in one kernel; `out` has q's spec. Throws
/// Error when the specs do not fit, when a causal one has s unequal to t, and when a chunk is no
/// multiple of 32.
Program attention(const AttentionOperands& operands, const AttentionAttributes& attributes,
                  const Tensor& out);
/// Adds a mask [b or 1, 1, s, t] to the scores. Throws Error also when it is causal.
Program attention(const AttentionOperands& operands, const Tensor& mask,
                  const AttentionAttributes& attributes, const Tensor& out);

/// Two numbers for each row of q that the backward pass needs, [b, h, s, 1] each.
struct AttentionStatistics {
  Tensor largest;       ///< The largest score that the row sees.
  Tensor inverse_sums;  ///< 1 / (sum of exp(score - largest)).
};

/// Returns the spec of each of the statistics.
TensorSpec attention_statistics(const TensorSpec& q);

/// Makes the program of TTML's kernel, sdpa_fw, which also writes `statistics`. Its chunks are one
/// row of tiles, whatever the attributes say. Throws Error as above.
Program attention(const AttentionOperands& operands, const AttentionAttributes& attributes,
                  const Tensor& out, const AttentionStatistics& statistics);

/// The operands of attention, its result, the gradient of that, and the statistics.
struct AttentionGradients {
  AttentionOperands operands;
  Tensor out, dout;
  AttentionStatistics statistics;
};

// These are the two programs of TTML's sdpa_bw. They compute the probabilities again from the
// statistics and throw Error when the specs do not fit.

/// Makes the program of dq.
Program attention_backward_q(const AttentionGradients& from, const AttentionAttributes& attributes,
                             const Tensor& dq);
/// Makes the program of dk and dv; the gradients of heads that share one of k and v are summed.
Program attention_backward_kv(const AttentionGradients& from, const AttentionAttributes& attributes,
                              const Tensor& dk, const Tensor& dv);

/// Makes the program of a decoding step, ttnn's scaled_dot_product_attention_decode: one row of q
/// [b, h, 1, d] sees the places 0 to `position`, one uint32 on the device, of a cache k and v [b,
/// g, t, d]. Throws Error as above, and for more rows of q or a causal attribute.
Program decode_attention(const AttentionOperands& operands, const Tensor& position,
                         const AttentionAttributes& attributes, const Tensor& out);

}  // namespace howard::ops
