// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/chip/kernels/planner.h"

namespace howard::chip {

// TTML's attention kernels deal rows of tiles out to the cores. A core goes through the other
// operand's rows of tiles, one after the other, and shares what it reads with nobody. Products have
// HiFi4 and sums of float32, and the exponential is accurate. If they are causal, a core has a row
// that sees many others and one that sees few, in turn.

/// Plans TTML's sdpa_fw, which deals out the rows of q.
PlannedProgram plan_ttml_attention(const Program& program, const AttentionAttributes& attributes,
                                   CoreGrid grid, const Profiles& profiles);

/// Plans a program of TTML's sdpa_bw: the one of dq, which deals out the rows of q, or the one of
/// dk and dv, which deals out those of k and goes through those of all heads that share them.
PlannedProgram plan_ttml_attention_backward(const Program& program,
                                            const AttentionAttributes& attributes, CoreGrid grid,
                                            const Profiles& profiles);

}  // namespace howard::chip
