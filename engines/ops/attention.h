// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/program.h"
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

/// Makes the program of a decoding step, ttnn's scaled_dot_product_attention_decode: one row of q
/// [b, h, 1, d] sees the places 0 to `position`, one uint32 on the device, of a cache k and v [b,
/// g, t, d]. Throws Error as above, and for more rows of q or a causal attribute.
Program decode_attention(const AttentionOperands& operands, const Tensor& position,
                         const AttentionAttributes& attributes, const Tensor& out);

}  // namespace howard::ops
