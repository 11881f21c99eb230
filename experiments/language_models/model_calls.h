// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
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

/// The same of tt-metal's own demo for all chips of a Galaxy (Serving::is_on_all_chips()).
Work galaxy_decode_calls(const Serving& serving, const ChipSizes& chip);
Work galaxy_prefill_calls(const Serving& serving, const ChipSizes& chip, std::int64_t tokens);

/// Returns the cores that hold the operand and the result of the head's products: as many
/// rows of eight cores, up to eight, as divide the tiles of hidden_size.
std::int64_t head_cores(const Serving& serving, CoreGrid cores);
/// Returns the parts of the vocabulary whose logits a chip computes in its products, in whole
/// tiles; tt_transformers splits the head so that the result of a product has room in L1.
std::vector<std::int64_t> head_splits(const Serving& serving, CoreGrid cores, int banks);
/// How tt_transformers stores the head, and multiplies with it: its sums are not of float32.
inline constexpr WeightFormat kHead{
    .compute = {.fidelity = MathFidelity::hifi2, .fp32_accumulation = false}};

// These make the specs and the calls of both lists.

/// Is row after row of tiles, in DRAM or in L1, page by page.
TensorSpec interleaved(std::int64_t rows, std::int64_t columns, DataType dtype = DataType::bfloat16,
                       Storage storage = Storage::dram);
/// Is interleaved in DRAM, [1, heads, rows, columns].
TensorSpec heads_of(std::int64_t heads, std::int64_t rows, std::int64_t columns, DataType dtype);
/// Stands for the chips of a group.
TensorSpec group_handle();

/// Makes the calls that a chip of a group makes for any number of rows, one for each token.
class ModelCalls {
 protected:
  ModelCalls(const Serving& serving, const ChipSizes& chip)
      : serving_(serving),
        model_(serving.model),
        cores_(chip.cores),
        banks_(chip.banks),
        l1_(chip.l1) {}

  /// Returns the columns of a chip: those that hold a model together divide them, but each chip has
  /// all in GPT-OSS's demo.
  std::int64_t my_hidden() const {
    return model_.is_gpt_oss() ? model_.hidden : serving_.column_share(model_.hidden);
  }
  void add(std::string_view part, const Attributes& attributes, const SpecList& inputs,
           const SpecList& outputs);
  void embed(std::int64_t rows);
  /// The columns of the weights lie over the banks of the DRAM.
  TensorSpec weights(std::int64_t k, std::int64_t n, DataType dtype) const;
  /// Gives each chip the columns of all, which a norm needs.
  void gather(std::int64_t rows);
  /// Adds what the chips have; each keeps its columns of the sum, or gets them all.
  void scatter_sum(std::int64_t rows);
  /// Chooses the experts of each token and weighs them.
  void route(std::int64_t rows);
  /// Routes tokens to experts and adds what those say, as GPT-OSS's demo of June 2026 does on a row
  /// of chips (models/demos/gpt_oss/tt/experts): products of the used experts' blocks alone
  /// (sparse_matmul), and elementwise ops over all experts. A block is of 32 tokens; of a prompt's
  /// block every expert is used by some token.
  void sparse_experts(std::int64_t rows, std::int64_t used, const LayerFormats& formats);
  /// Multiplies what a gate gives by what w3 gives, or by itself where there is no w3.
  void activate(const TensorSpec& gate, const TensorSpec& gated);
  /// Bounds the logits by a hyperbolic tangent, where the model does.
  void cap(const TensorSpec& logits);
  /// Returns the calls since the last time, as a group.
  WorkGroup take(std::int64_t times) { return {times, std::exchange(calls_, {})}; }

  const Serving& serving_;
  const LanguageModel& model_;
  CoreGrid cores_;
  int banks_;
  Bytes l1_;

 private:
  void spread_weights(std::int64_t rows);
  void activate_of_all(std::int64_t blocks, std::int64_t wide);

  std::vector<WorkCall> calls_;
};

}  // namespace howard::experiments
