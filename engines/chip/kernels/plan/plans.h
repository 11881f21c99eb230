// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/chip/kernels/plan/planned_program.h"
#include "engines/chip/profiles/profile.h"
#include "engines/program/program.h"

namespace howard::chip {

// One function for each kind of launch plans it on the cores of a grid: what is dispatched and how
// long it takes. plan_program() chooses among them, so that a new kind does not compile until it is
// planned. The launches are those that lower() makes.

// matmul

PlannedProgram plan(const MatmulAttributes&, const Program&, CoreGrid, const Profiles&);
/// ttnn's minimal_matmul. M is dealt out over the rows of the grid and N over its columns, or the
/// other way round if M is larger. The first core of a line reads a block from DRAM and hands it to
/// the next one, which hands it on; every core computes on what it has. The times come from that
/// chain, core by core and block by block. Throws Error when the grid is smaller than 2x2.
PlannedProgram plan(const MinimalMatmulAttributes&, const Program&, CoreGrid, const Profiles&);
/// ttnn's sparse_matmul: the product of the blocks that are used, one after the other, and a look
/// at the number of each block, which the reader tells the other cores (sparse_matmul.block).
PlannedProgram plan(const SparseMatmulAttributes&, const Program&, CoreGrid, const Profiles&);
/// TTML's swiglu_fw, which deals out the rows of tiles of x. A core streams all three weights for
/// each of its rows and shares what it reads with nobody, four tiles at a time; products have
/// HiFi4. The hidden row stays in L1. If it does not fit beside the row of x, the core computes it
/// again for every four columns of the result.
PlannedProgram plan(const SwigluAttributes&, const Program&, CoreGrid, const Profiles&);

// elementwise

PlannedProgram plan(const EltwiseAttributes&, const Program&, CoreGrid, const Profiles&);
/// TTML's kernel, which is one launch.
PlannedProgram plan(const GeluBackwardAttributes&, const Program&, CoreGrid, const Profiles&);
/// TTML's swiglu_elemwise_bw: what silu's backward does, and three products more.
PlannedProgram plan(const SwigluBackwardAttributes&, const Program&, CoreGrid, const Profiles&);

// rows

/// A reduction along columns, rows or the batch.
PlannedProgram plan(const ReduceAttributes&, const Program&, CoreGrid, const Profiles&);
/// ttnn's cumsum, which deals out columns or rows of tiles and goes through each in turn.
PlannedProgram plan(const CumsumAttributes&, const Program&, CoreGrid, const Profiles&);
/// ttnn's softmax along the columns. Of interleaved rows, a RISC first makes a mask of the columns
/// that fill up the last tile (profiles: tiles.softmax_start); the kernel of shards makes none.
PlannedProgram plan(const SoftmaxAttributes&, const Program&, CoreGrid, const Profiles&);
PlannedProgram plan(const SoftmaxBackwardAttributes&, const Program&, CoreGrid, const Profiles&);
PlannedProgram plan(const LayernormAttributes&, const Program&, CoreGrid, const Profiles&);
/// TTML's, which also writes the statistics.
PlannedProgram plan(const TtmlLayernormAttributes&, const Program&, CoreGrid, const Profiles&);
PlannedProgram plan(const LayernormBackwardAttributes&, const Program&, CoreGrid, const Profiles&);
// The times of rms_norm follow from its structure: a pass takes as long as one of the seven passes
// of the layernorm kernel of the same library, which is measured.
PlannedProgram plan(const RmsNormAttributes&, const Program&, CoreGrid, const Profiles&);
/// TTML's, which also writes the root.
PlannedProgram plan(const TtmlRmsNormAttributes&, const Program&, CoreGrid, const Profiles&);
/// TTML's rmsnorm_bw, without the sum over rows that follows it.
PlannedProgram plan(const RmsNormBackwardAttributes&, const Program&, CoreGrid, const Profiles&);
PlannedProgram plan(const CrossEntropyAttributes&, const Program&, CoreGrid, const Profiles&);
PlannedProgram plan(const CrossEntropyBackwardAttributes&, const Program&, CoreGrid,
                    const Profiles&);

// The choice of tokens.

/// ttnn's argmax. Cores share the columns of row-major operands: for each row a core reads its
/// columns and compares number by number, and one core compares what they found. Of tiles a core
/// has whole rows.
PlannedProgram plan(const ArgmaxAttributes&, const Program&, CoreGrid, const Profiles&);
/// ttnn's topk. A core sorts one tile of a row after the other and merges it with what it keeps.
/// Rows of 8192 to 65535 columns, and a k of up to 64, are shared by cores, which sort their tiles
/// in pairs, and whose parts another core merges.
PlannedProgram plan(const TopkAttributes&, const Program&, CoreGrid, const Profiles&);
/// ttnn's sort, a bitonic network of pairs of tiles. A core has rows of tiles; longer rows are
/// sorted one after the other, by cores that exchange tiles, and the longest ones in the DRAM.
PlannedProgram plan(const SortAttributes&, const Program&, CoreGrid, const Profiles&);
/// ttnn's scatter. Nobody has measured it: it is planned as a copy of the result's rows.
PlannedProgram plan(const ScatterAttributes&, const Program&, CoreGrid, const Profiles&);
/// ttnn's sampling: a core for each row sorts, makes probabilities, and looks at one candidate
/// after the other.
PlannedProgram plan(const SamplingAttributes&, const Program&, CoreGrid, const Profiles&);
/// One core, or the core of each shard, goes from number to number.
PlannedProgram plan(const PlusOneAttributes&, const Program&, CoreGrid, const Profiles&);

// attention

/// ttnn's scaled_dot_product_attention: batches, then heads, then chunks of q are dealt out over
/// the cores. For each of its chunks of q, a core reads all chunks of k and v that it sees, and no
/// core shares them with another.
PlannedProgram plan(const AttentionAttributes&, const Program&, CoreGrid, const Profiles&);
/// ttnn's scaled_dot_product_attention_decode: up to `cores_of_head` cores share the chunks of the
/// keys and values of one of their heads; the rows of q that look with it lie in one tile. One core
/// merges their parts, one after the other. The time is that of the places that are seen.
PlannedProgram plan(const DecodeAttentionAttributes&, const Program&, CoreGrid, const Profiles&);
// TTML's attention kernels deal rows of tiles out to the cores. A core goes through the other
// operand's rows of tiles, one after the other, and shares what it reads with nobody. Products have
// HiFi4 and sums of float32, and the exponential is accurate. If they are causal, a core has a row
// that sees many others and one that sees few, in turn.
/// TTML's sdpa_fw, which deals out the rows of q.
PlannedProgram plan(const TtmlAttentionAttributes&, const Program&, CoreGrid, const Profiles&);
/// The program of TTML's sdpa_bw that makes dq and deals out the rows of q.
PlannedProgram plan(const AttentionBackwardQAttributes&, const Program&, CoreGrid, const Profiles&);
/// The program that makes dk and dv. It deals out the rows of k and goes through those of all heads
/// that share them.
PlannedProgram plan(const AttentionBackwardKvAttributes&, const Program&, CoreGrid,
                    const Profiles&);
/// ttnn's rotary_embedding_llama and rotary_embedding.
PlannedProgram plan(const RotaryEmbeddingAttributes&, const Program&, CoreGrid, const Profiles&);

// data_movement. These kernels compute little or nothing. Their cost is requests, barriers and
// copying by RISCs. They move whole tiles one by one, rows of row-major tensors, or the lines of
// faces if the rows of a tile go to different tiles.

PlannedProgram plan(const TransposeAttributes&, const Program&, CoreGrid, const Profiles&);
/// Each output tile is put together from the tiles that hold its rows.
PlannedProgram plan(const ReshapeAttributes&, const Program&, CoreGrid, const Profiles&);
/// The repetition of heads: each row of a row-major tensor is read once and written as often as
/// there are copies, with a barrier each.
PlannedProgram plan(const RepeatAttributes&, const Program&, CoreGrid, const Profiles&);
/// Tilizes or untilizes: a core takes 32 rows at a time.
PlannedProgram plan(const LayoutAttributes&, const Program&, CoreGrid, const Profiles&);
/// From interleaved to sharded, back, from shards to other shards, or from one interleaved memory
/// to another.
PlannedProgram plan(const MemoryMoveAttributes&, const Program&, CoreGrid, const Profiles&);
PlannedProgram plan(const MoveTilesAttributes&, const Program&, CoreGrid, const Profiles&);
PlannedProgram plan(const ConcatAttributes&, const Program&, CoreGrid, const Profiles&);
/// Where operands and results are shards, which hold whole heads, each core copies the tiles of its
/// own: ttnn's create_qkv_heads, with a transposition of keys if they are wanted so. Other tensors
/// are read and written tile by tile.
PlannedProgram plan(const SplitHeadsAttributes&, const Program&, CoreGrid, const Profiles&);
PlannedProgram plan(const ConcatHeadsAttributes&, const Program&, CoreGrid, const Profiles&);
PlannedProgram plan(const SplitGroupsAttributes&, const Program&, CoreGrid, const Profiles&);
PlannedProgram plan(const SliceAttributes&, const Program&, CoreGrid, const Profiles&);
PlannedProgram plan(const WriteRowsAttributes&, const Program&, CoreGrid, const Profiles&);
PlannedProgram plan(const UpdateCacheAttributes&, const Program&, CoreGrid, const Profiles&);
PlannedProgram plan(const PadAttributes&, const Program&, CoreGrid, const Profiles&);
PlannedProgram plan(const PermuteAttributes&, const Program&, CoreGrid, const Profiles&);
/// The look-up of a row of the table for each index, one after the other, tilized 32 at a time.
PlannedProgram plan(const EmbeddingAttributes&, const Program&, CoreGrid, const Profiles&);
/// The gradient of the table. The planner does not know the indices; the time assumes that they are
/// spread over the table.
PlannedProgram plan(const EmbeddingBackwardAttributes&, const Program&, CoreGrid, const Profiles&);
// These kernels of a decoding step move rows of tiles, half a row at a time, between the L1 of
// cores. A core holds a sequence, or a part of the result's columns.
PlannedProgram plan(const SplitHeadsDecodeAttributes&, const Program&, CoreGrid, const Profiles&);
PlannedProgram plan(const ConcatHeadsDecodeAttributes&, const Program&, CoreGrid, const Profiles&);
PlannedProgram plan(const PagedFillCacheAttributes&, const Program&, CoreGrid, const Profiles&);
/// A row of each head of a sequence is written into a cache. The core of the sequence reads the
/// tiles that hold the row, untilizes them, replaces the row, tilizes and writes them.
PlannedProgram plan(const PagedUpdateCacheAttributes&, const Program&, CoreGrid, const Profiles&);

// training

/// The multiplication with the random numbers that it needs.
PlannedProgram plan(const DropoutAttributes&, const Program&, CoreGrid, const Profiles&);
/// MorehAdamW, which reads four tensors and writes three.
PlannedProgram plan(const AdamWAttributes&, const Program&, CoreGrid, const Profiles&);
/// TTML's SGD of 2026, which deals rows of tiles out although it needs no whole row.
PlannedProgram plan(const SgdAttributes&, const Program&, CoreGrid, const Profiles&);

// convolution

/// A convolution whose operand a halo has prepared.
PlannedProgram plan(const Conv2dAttributes&, const Program&, CoreGrid, const Profiles&);
PlannedProgram plan(const HaloAttributes&, const Program&, CoreGrid, const Profiles&);
PlannedProgram plan(const Pool2dAttributes&, const Program&, CoreGrid, const Profiles&);
PlannedProgram plan(const UpsampleAttributes&, const Program&, CoreGrid, const Profiles&);
PlannedProgram plan(const FoldAttributes&, const Program&, CoreGrid, const Profiles&);
PlannedProgram plan(const GroupNormAttributes&, const Program&, CoreGrid, const Profiles&);
PlannedProgram plan(const BatchNormAttributes&, const Program&, CoreGrid, const Profiles&);

// collective

PlannedProgram plan(const AllGatherAttributes&, const Program&, CoreGrid, const Profiles&);
PlannedProgram plan(const ReduceScatterAttributes&, const Program&, CoreGrid, const Profiles&);
// Products that exchange their operand or their result while they compute, in one program. The
// shares of the chips are the stages of a pipeline of links and cores. They throw Error, with
// ttnn's reason, for a program_config that ttnn refuses.
/// A chip's own share of A is there at once; it multiplies the others as they come.
PlannedProgram plan(const AllGatherMatmulAttributes&, const Program&, CoreGrid, const Profiles&);
/// A share of the product leaves as soon as it is computed; nothing hides the way of the last one.
PlannedProgram plan(const MatmulReduceScatterAttributes&, const Program&, CoreGrid,
                    const Profiles&);
/// The tokens that chose an expert of another chip go to it, each once. Experts are taken to be
/// equally popular and to lie on the chips of the mapping in equal numbers.
PlannedProgram plan(const AllToAllDispatchAttributes&, const Program&, CoreGrid, const Profiles&);
/// The rows of all choices come back.
PlannedProgram plan(const AllToAllCombineAttributes&, const Program&, CoreGrid, const Profiles&);
/// These throw Error: the sockets of a mesh run transfers themselves (engines/mesh/sockets.h).
PlannedProgram plan(const SendAttributes&, const Program&, CoreGrid, const Profiles&);
PlannedProgram plan(const ReceiveAttributes&, const Program&, CoreGrid, const Profiles&);

}  // namespace howard::chip
