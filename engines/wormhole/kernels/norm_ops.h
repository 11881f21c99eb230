// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/wormhole/kernels/planned_program.h"

namespace howard::wormhole {

// Kernels of Llama's layers, from their structure: how rows are dealt out, what a core reads again,
// and how many passes it makes over a tile. A pass of a normalisation takes what one of the seven
// passes of the layernorm kernel of the same library takes, which is measured.

/// ttnn's rms_norm; TTML's where the root is asked for.
PlannedProgram plan_rms_norm(const Program& program, CoreGrid grid, const Profiles& profiles);
/// TTML's rmsnorm_bw, without the sum over rows that follows it.
PlannedProgram plan_rms_norm_backward(const Program& program, CoreGrid grid,
                                      const Profiles& profiles);

/// ttnn's rotary_embedding_llama and rotary_embedding.
PlannedProgram plan_rotary_embedding(const Program& program,
                                     const RotaryEmbeddingAttributes& attributes, CoreGrid grid,
                                     const Profiles& profiles);

}  // namespace howard::wormhole
