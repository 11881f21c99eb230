// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "engines/program/matmul_config.h"
#include "experiments/cases/work.h"
#include "experiments/language_models/serving.h"

namespace howard::experiments {

/// What the calls depend on of a chip.
struct ChipSizes {
  CoreGrid cores;  ///< Those that compute.
  int banks = 1;   ///< Of the DRAM.
  Bytes l1;        ///< Of a core, for circular buffers.
};

/// Returns the calls of a step in which tt_transformers writes a token for each user behind
/// `context` others: token and rotary tables, layers, last norm, head, logits. All chips of a group
/// make the same calls.
Work decode_calls(const Serving& serving, const ChipSizes& chip);

/// Returns the calls for the prompt of one user, of `tokens` tokens, which are whole chunks or less
/// than one. Only the tile of the last token goes through the head.
Work prefill_calls(const Serving& serving, const ChipSizes& chip, std::int64_t tokens);

/// Returns the cores that hold the operand and the result of the head's products: as many
/// rows of eight cores, up to eight, as divide the tiles of hidden_size.
std::int64_t head_cores(const Serving& serving, CoreGrid cores);
/// Returns the parts of the vocabulary whose logits a chip computes in its products, in whole
/// tiles; tt_transformers splits the head so that the result of a product has room in L1.
std::vector<std::int64_t> head_splits(const Serving& serving, CoreGrid cores, int banks);
/// How tt_transformers stores the head, and multiplies with it: its sums are not of float32.
inline constexpr WeightFormat kHead{
    .compute = {.fidelity = MathFidelity::hifi2, .fp32_accumulation = false}};

// These make the specs of both lists.

/// Is row after row of tiles, in DRAM or in L1, page by page.
TensorSpec interleaved(std::int64_t rows, std::int64_t columns, DataType dtype = DataType::bfloat16,
                       Storage storage = Storage::dram);
/// Is interleaved in DRAM, [1, heads, rows, columns].
TensorSpec heads_of(std::int64_t heads, std::int64_t rows, std::int64_t columns, DataType dtype);
/// Stands for the chips of a group.
TensorSpec group_handle();

}  // namespace howard::experiments
