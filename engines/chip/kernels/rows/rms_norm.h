// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/chip/kernels/planner.h"

namespace howard::chip {

// These are the kernels of Llama's layers. Their times follow from their structure: how rows are
// dealt out, what a core reads again, and how many passes it makes over a tile. A pass of a
// normalisation takes as long as one of the seven passes of the layernorm kernel of the same
// library, which is measured.

/// Plans ttnn's rms_norm, or TTML's if the root is asked for.
PlannedProgram plan_rms_norm(const Program& program, CoreGrid grid, const Profiles& profiles);
/// Plans TTML's rmsnorm_bw, without the sum over rows that follows it.
PlannedProgram plan_rms_norm_backward(const Program& program, CoreGrid grid,
                                      const Profiles& profiles);

/// Plans ttnn's rotary_embedding_llama and rotary_embedding.
PlannedProgram plan_rotary_embedding(const Program& program,
                                     const RotaryEmbeddingAttributes& attributes, CoreGrid grid,
                                     const Profiles& profiles);

}  // namespace howard::chip
