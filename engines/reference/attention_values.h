// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engines/reference/reference_ops.h"

namespace howard::reference {

/// Computes attention from q, k and v, and a mask if the program is an AttentionAttributes with
/// one. Row i of a head sees the first seen(i) places. If there is room, it keeps the largest score
/// of each row and 1 / (sum of exp(score - largest)).
void attend(const Program& program, const std::vector<const Values*>& inputs, double scale,
            const std::function<std::int64_t(std::int64_t)>& seen, std::vector<Values>& outputs);

/// Computes dq, or dk and dv, from q, k, v, the result, its gradient and the two numbers of each
/// row.
void attention_backward(const Program& program, const std::vector<const Values*>& inputs,
                        bool causal, double scale, std::vector<Values>& outputs);

}  // namespace howard::reference
