// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/chip/kernels/plan/planned_program.h"
#include "engines/chip/profiles/profile.h"
#include "engines/program/program.h"

namespace howard::chip {

/// Plans ttnn's scaled_dot_product_attention: batches, then heads, then chunks of q are dealt out
/// over the cores. For each of its chunks of q, a core reads all chunks of k and v that it sees,
/// and no core shares them with another.
PlannedProgram plan_attention(const Program& program, const AttentionAttributes& attributes,
                              CoreGrid grid, const Profiles& profiles);

/// Plans ttnn's scaled_dot_product_attention_decode: up to `cores_of_head` cores share the chunks
/// of the keys and values of one of their heads; the rows of q that look with it lie in one tile.
/// Their parts are merged as in a tree. The time is that of the places that are seen.
PlannedProgram plan_decode_attention(const Program& program,
                                     const DecodeAttentionAttributes& attributes, CoreGrid grid,
                                     const Profiles& profiles);

// TTML's attention kernels deal rows of tiles out to the cores. A core goes through the other
// operand's rows of tiles, one after the other, and shares what it reads with nobody. Products have
// HiFi4 and sums of float32, and the exponential is accurate. If they are causal, a core has a row
// that sees many others and one that sees few, in turn.

/// Plans TTML's sdpa_fw, which deals out the rows of q.
PlannedProgram plan_ttml_attention(const Program& program, bool causal, CoreGrid grid,
                                   const Profiles& profiles);

/// Plans the program of TTML's sdpa_bw that makes dq and deals out the rows of q.
PlannedProgram plan_attention_backward_q(const Program& program, bool causal, CoreGrid grid,
                                         const Profiles& profiles);
/// Plans the program that makes dk and dv. It deals out the rows of k and goes through those of all
/// heads that share them.
PlannedProgram plan_attention_backward_kv(const Program& program, bool causal, CoreGrid grid,
                                          const Profiles& profiles);

// The times follow from the structure of the kernels: how rows are dealt out, what a core reads
// again, and how many passes it makes over a tile.

/// Plans ttnn's rotary_embedding_llama and rotary_embedding.
PlannedProgram plan_rotary_embedding(const Program& program,
                                     const RotaryEmbeddingAttributes& attributes, CoreGrid grid,
                                     const Profiles& profiles);

}  // namespace howard::chip
