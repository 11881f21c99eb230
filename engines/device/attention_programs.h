// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <variant>

#include "engines/device/program.h"

namespace howard {

// Programs with AttentionAttributes differ in their operands:
//
//   inputs                                  outputs            program
//   q, k, v, and perhaps a mask             out                ttnn's
//   q, k, v, position                       out                ttnn's of a decoding step
//   q, k, v                                 out, two numbers   TTML's sdpa_fw
//   q, k, v, out, dout, two numbers         dq, or dk and dv   TTML's sdpa_bw
//
// The two numbers of each row of q, [b, h, s, 1] each, are its largest score and 1 / (sum of
// exponentials).

/// Returns whether `program` is TTML's attention that keeps two numbers of each row.
inline bool is_ttml_attention(const Program& program) {
  return std::holds_alternative<AttentionAttributes>(program.attributes) &&
         program.outputs.size() == 3;
}

/// Returns whether `program` makes gradients of attention.
inline bool is_attention_backward(const Program& program) {
  return std::holds_alternative<AttentionAttributes>(program.attributes) &&
         program.inputs.size() == 7;
}

}  // namespace howard
