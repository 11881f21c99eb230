// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace howard::experiments {

/// Holds the sizes of a language model of Llama's form: RMS norms, rotary positions, groups of
/// heads that share keys and values, and a gated feed-forward part; of Gemma 3's; and of GPT-OSS's,
/// whose feed-forward part is a mixture of experts.
struct LanguageModel {
  std::string name;
  std::string family;  ///< The model_type of its config.json: "llama", "qwen2".
  std::int64_t hidden = 0, feed_forward = 0;
  std::int64_t layers = 0;        ///< Those that a text goes through.
  std::int64_t image_layers = 0;  ///< Cross-attention layers, which a text alone passes by.
  std::int64_t heads = 0, groups = 0, head_width = 0;
  std::int64_t vocabulary = 0;
  std::int64_t context = 0;  ///< max_position_embeddings.
  std::int64_t window =
      0;                  ///< Tokens that a token sees at most; as many as context if it sees all.
  bool tied = false;      ///< The head's weights are the token table's.
  bool has_bias = false;  ///< The products for q, k and v add a row.
  bool norms_heads = false;  ///< q and k have norms of their own.
  /// What attention and the feed-forward part give has norms of its own, and the gate is a gelu.
  bool norms_results = false;
  std::int64_t local_layers = 0;  ///< Of the layers, those whose tokens see local_window others.
  std::int64_t local_window = 0;
  std::int64_t experts = 0;       ///< feed_forward is the width of one; 0: there is one for all.
  std::int64_t experts_used = 0;  ///< By a token.

  bool has_experts() const { return experts > 0; }
  std::int64_t query_columns() const { return heads * head_width; }
  std::int64_t qkv_columns() const { return (heads + 2 * groups) * head_width; }
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
