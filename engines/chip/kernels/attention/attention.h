// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/chip/kernels/planner.h"

namespace howard::chip {

/// Plans ttnn's scaled_dot_product_attention: batches, then heads, then chunks of q are dealt out
/// over the cores. For each of its chunks of q, a core reads all chunks of k and v that it sees,
/// and no core shares them with another.
PlannedProgram plan_attention(const Program& program, const AttentionAttributes& attributes,
                              CoreGrid grid, const Profiles& profiles);

/// Plans ttnn's scaled_dot_product_attention_decode: up to 16 cores share the chunks of the keys
/// and values of one of their heads; the rows of q that look with it lie in one tile. One of these
/// cores merges the parts of the others, one after the other. The time is that of the whole cache
/// being seen.
PlannedProgram plan_decode_attention(const Program& program, const AttentionAttributes& attributes,
                                     CoreGrid grid, const Profiles& profiles);

}  // namespace howard::chip
