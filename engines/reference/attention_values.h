// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "engines/reference/reference_ops.h"

namespace howard::reference {

/// Computes attention from q, k and v, and a mask if there is one. If there is room, it keeps the
/// largest score of each row and 1 / (sum of exp(score - largest)).
void attend(const Program& program, const std::vector<const Values*>& inputs,
            const AttentionAttributes& attributes, std::vector<Values>& outputs);

/// Computes it for rows that see the places up to `position`, or the last ones of them.
void attend(const Program& program, const std::vector<const Values*>& inputs,
            const DecodeAttentionAttributes& attributes, std::int64_t position,
            std::vector<Values>& outputs);

/// Computes dq, or dk and dv, from q, k, v, the result, its gradient and the two numbers of each
/// row.
void attention_backward(const Program& program, const std::vector<const Values*>& inputs,
                        bool causal, double scale, std::vector<Values>& outputs);

}  // namespace howard::reference
