// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engines/program/eltwise.h"

namespace howard::experiments {

/// The heads of a layer's attention.
struct HeadSizes {
  std::int64_t heads = 0, groups = 0, width = 0;
  bool values_are_keys = false;  ///< The layer's product gives no values of their own.

  std::int64_t query_columns() const { return heads * width; }
  std::int64_t qkv_columns() const { return (heads + (values_are_keys ? 1 : 2) * groups) * width; }
};

/// DeepSeek's latent attention: the cache has one row of `rank` and `rotary` numbers for all heads.
struct LatentSizes {
  std::int64_t query_rank = 0, rank = 0;
  std::int64_t plain = 0, rotary = 0;  ///< The columns of a head's query, without and with a place.
  std::int64_t value = 0;              ///< The columns of a head's value.

  std::int64_t cached() const { return rank + rotary; }
};

/// Holds the sizes of a language model of Llama's form: RMS norms, rotary positions, groups of
/// heads that share keys and values, and a gated feed-forward part; of Gemma's, whose layers have
/// heads of two kinds; of mixtures of experts; and of DeepSeek-V3's.
struct LanguageModel {
  std::string name;
  std::string family;  ///< The model_type of its config.json: "llama", "qwen2".
  std::int64_t hidden = 0, feed_forward = 0;
  std::int64_t layers = 0;        ///< Those that a text goes through.
  std::int64_t image_layers = 0;  ///< Cross-attention layers, which a text alone passes by.
  std::int64_t heads = 0, groups = 0, head_width = 0;
  std::int64_t vocabulary = 0;
  std::int64_t context = 0;  ///< max_position_embeddings.
  /// Tokens that a token sees at most; as many as context if it sees all.
  std::int64_t window = 0;
  bool tied = false;         ///< The head's weights are the token table's.
  bool has_bias = false;     ///< The products for q, k and v add a row.
  bool norms_heads = false;  ///< q and k have norms of their own.
  bool norms_values = false;
  /// What attention and the feed-forward part give has norms of its own, and tokens are scaled.
  bool norms_results = false;
  bool caps_logits = false;       ///< By a hyperbolic tangent.
  Eltwise gate = Eltwise::silu;   ///< Of the feed-forward part.
  bool is_gated = true;           ///< It has w3. Without one the gate is squared.
  std::int64_t local_layers = 0;  ///< Of the layers, those whose tokens see local_window others.
  std::int64_t local_window = 0;
  HeadSizes global_heads{};        ///< Of the other layers, if they differ: with a width.
  LatentSizes latent{};            ///< With a rank if attention is latent.
  std::int64_t experts = 0;        ///< 0: there is one feed-forward part for all.
  std::int64_t experts_used = 0;   ///< By a token.
  std::int64_t expert_width = 0;   ///< Of the feed-forward part of one.
  std::int64_t shared_width = 0;   ///< Of the part that each token uses beside its experts.
  std::int64_t dense_layers = 0;   ///< Of the layers, those without experts.
  std::int64_t expert_groups = 0;  ///< Groups of experts of which a token uses some; 0: none.

  bool has_experts() const { return experts > 0; }
  bool is_latent() const { return latent.rank > 0; }
  /// GPT-OSS's demo leaves all columns of the stream on each chip, and its products to ttnn.
  bool is_gpt_oss() const { return family == "gpt_oss"; }
  /// Returns the heads of the layers that see a window, or of those that see all.
  HeadSizes head_sizes(bool sees_all) const {
    return sees_all && global_heads.width > 0 ? global_heads : HeadSizes{heads, groups, head_width};
  }
  /// Returns the numbers that the model has, in all its tensors.
  std::int64_t parameters() const;
};

/// Reads Hugging Face's config.json of a model. `source` names it in messages. Throws Error, naming
/// the key, for another model_type, for architectures or a size that is missing, absurd or
/// contradicts another one, and for what changes the work and is not modelled. Keys that change
/// no work are passed over.
LanguageModel parse_model_config(std::string_view json, const std::string& name,
                                 const std::string& source);

/// Returns the names of the models whose configurations are built in.
const std::vector<std::string>& known_models();

/// Returns the model of that name, or of that file (a path that ends in .json, or a folder with a
/// config.json). Throws Error as above, and for a word that is neither.
LanguageModel model_named(const std::string& word);

}  // namespace howard::experiments
