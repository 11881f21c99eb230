// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engines/program/compute_config.h"
#include "engines/program/kinds/collective.h"
#include "engines/program/tensor_spec.h"
#include "experiments/axes/machines.h"
#include "experiments/language_models/model_config.h"

namespace howard::experiments {

/// Says how a matrix of weights is stored and multiplied with.
struct WeightFormat {
  DataType dtype = DataType::bfloat8_b;
  ComputeConfig compute{.fidelity = MathFidelity::hifi2, .fp32_accumulation = true};
};

/// tt_transformers' formats of a layer, by the groups into which it divides the tensors.
struct LayerFormats {
  WeightFormat gate_up;  ///< w1 and w3.
  WeightFormat down;     ///< w2.
  WeightFormat qkv, output;
  DataType cache = DataType::bfloat8_b;
  DataType gated = DataType::bfloat8_b;  ///< What w2 is multiplied with.
  ComputeConfig attention;               ///< Of a step's attention to the cache.
};

/// What tt_transformers trades between speed and accuracy.
enum class PrecisionMode : std::uint8_t { performance, accuracy };

/// Returns the formats of all layers but the last, or of the last one, which one model has in
/// another format.
LayerFormats layer_formats(const LanguageModel& model, PrecisionMode mode, bool last_layer);

/// Layers that are alike.
struct LayerRun {
  LayerFormats formats;
  std::int64_t times = 1;
  std::int64_t window = 0;  ///< Tokens that a token sees at most.
  HeadSizes heads{};
  bool has_experts = false;
};
/// Returns the layers of a model. Those that see a window stand together: in what order layers run
/// changes no time.
std::vector<LayerRun> layer_runs(const LanguageModel& model, PrecisionMode mode);

enum class CacheKind : std::uint8_t { paged, contiguous };
/// Who chooses a token: the host, which reads all logits; a chip by topk and a draw; or a chip that
/// takes the largest.
enum class Sampling : std::uint8_t { host, device, argmax };

/// The users of a group of chips are the rows of a tile.
inline constexpr std::int64_t kMostUsers = 32;

/// Says whether tt-metal has a demo of its own for the model on all chips of a Galaxy of Wormhole:
/// Llama's 70B and what is made of it, and Qwen3-32B (models/demos/llama3_70b_galaxy).
bool is_of_galaxy(const LanguageModel& model, const Machine& machine);

/// Says who is served by what.
struct Serving {
  LanguageModel model;
  Machine machine;
  PrecisionMode mode{};
  std::int64_t batch = 1;    ///< Users of a group of chips that hold a model together.
  std::int64_t context = 0;  ///< Tokens in the cache behind which the timed token is written.
  std::int64_t prompt = 0;   ///< Tokens of the prompt until whose answer it takes the first token.
  std::int64_t room = 0;     ///< Tokens for which the cache has room for each user.
  CacheKind cache{};
  Sampling sampling{};
  int tensor_parallel = 1;  ///< Chips that hold a model together.
  int data_parallel = 1;    ///< Groups of chips that each hold the model.

  std::int64_t users() const { return batch * data_parallel; }
  /// Says whether the chips of a Galaxy hold a model as tt-metal's own demo for it has them, eight
  /// rows of four: rows divide heads and the feed-forward part, columns hidden_size and users.
  bool is_on_all_chips() const { return is_of_galaxy(model, machine) && tensor_parallel == 32; }
  /// Returns how many parts of the vocabulary chips have: the rows of a Galaxy divide it.
  int vocabulary_parts() const { return is_on_all_chips() ? 8 : tensor_parallel; }
  bool is_divided() const { return tensor_parallel > 1; }
  bool is_ring() const { return machine.ring > 0 && tensor_parallel >= machine.ring; }
  /// Returns a chip's part of something that the chips of a group divide, rounded up.
  std::int64_t share(std::int64_t of_all) const { return ceil_div(of_all, tensor_parallel); }
  /// Returns the same in whole tiles of columns.
  std::int64_t column_share(std::int64_t columns) const {
    return kTileSide * share(ceil_div(columns, kTileSide));
  }
  /// Returns a chip's columns of the product for q, k and v.
  std::int64_t qkv_share(const HeadSizes& sizes) const {
    const std::int64_t others = (sizes.values_are_keys ? 1 : 2) * share(sizes.groups);
    return (share(sizes.heads) + others) * sizes.width;
  }
  /// Returns a chip's columns of the feed-forward part, as tt_transformers pads it.
  std::int64_t wide() const;

  /// Says whether a chip has whole experts, as tt_transformers' Mixtral has them: it multiplies all
  /// rows by each of them, and weighs by 0 the rows of users who did not choose it.
  bool has_whole_experts() const { return model.family == "mixtral"; }
  /// Returns how many groups of chips share the experts, each with some: those of a mesh. Tokens go
  /// from group to group then. Groups that are no mesh have all experts each.
  std::int64_t expert_sharers() const {
    const bool is_mesh = machine.group > 1 && machine.chips > machine.group;
    return model.has_experts() && is_mesh && !has_whole_experts() ? data_parallel : 1;
  }
  /// Returns the experts of which a chip has a part, or all.
  std::int64_t my_experts() const {
    return has_whole_experts() ? share(model.experts) : ceil_div(model.experts, expert_sharers());
  }
  /// Returns a chip's columns of an expert.
  std::int64_t expert_columns() const {
    return has_whole_experts() ? model.expert_width : column_share(model.expert_width);
  }
  /// Returns of so many experts those that so many tokens choose, if they choose evenly.
  std::int64_t chosen_of(std::int64_t experts, std::int64_t tokens) const;
};

/// Returns what of the model the chips of a group do not divide, in a sentence with what would do;
/// absent if they divide it.
std::optional<std::string> undivided(const Serving& serving);

/// Throws Error for what tt_transformers cannot run: chips that the machine does not have or that
/// do not divide the heads or the experts, more than 32 users of a group, a context or a prompt
/// beyond the cache, and a cache beyond the model's positions.
void require_servable(const Serving& serving);

/// Returns how tt_transformers' collectives use the links of the machine.
LinkUse link_use(const Serving& serving);

/// Returns the tokens that a prompt is padded to: 128, 1024, or a power of two.
std::int64_t padded_prompt(std::int64_t tokens);

/// Returns how many tokens of a prompt go through the layers at a time.
std::int64_t prefill_chunk(const Serving& serving);

}  // namespace howard::experiments
