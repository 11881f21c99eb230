// SPDX-License-Identifier: Apache-2.0
#include "engines/training/weights/hugging_face_config.h"

#include <cmath>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "base/json_node.h"

namespace howard::training {
namespace {

constexpr std::int64_t kMostRows = 1 << 24;
constexpr std::int64_t kMostLayers = 1 << 16;

class ModelConfigReader {
 public:
  explicit ModelConfigReader(const JsonNode& root) : root_(root) {}

  HuggingFaceModel read() {
    model_.recipe.batch = 1;
    model_.recipe.dropout = 0;
    if (root_.member("model_type").word({"llama", "gpt2"}) == 0) {
      read_llama();
    } else {
      read_gpt2();
    }
    model_.vocabulary = size("vocab_size", kMostRows);
    read_ends();
    return model_;
  }

 private:
  /// Returns a member, or nothing if it is missing or null.
  static std::optional<JsonNode> find(const JsonNode& object, std::string_view key) {
    if (!object.has(key) || object.member(key).is_null()) return std::nullopt;
    return object.member(key);
  }
  std::optional<JsonNode> find(std::string_view key) const { return find(root_, key); }

  std::int64_t size(std::string_view key, std::int64_t most) const {
    return root_.member(key).integer(1, most);
  }

  static double positive(const JsonNode& object, std::string_view key, double otherwise) {
    const auto value = find(object, key);
    return value ? value->positive() : otherwise;
  }

  bool flag(std::string_view key, bool otherwise) const {
    const auto value = find(key);
    return value ? value->boolean() : otherwise;
  }

  void require_false(std::string_view key) const {
    if (flag(key, false)) root_.member(key).fail("false");
  }

  void require_epsilon(std::string_view key) const {
    const auto epsilon = find(key);
    if (epsilon && std::abs(epsilon->positive() - 1e-5) > 1e-9) {
      epsilon->fail("1e-5, which TTML's norms add");
    }
  }

  void require_activation(std::string_view key,
                          std::initializer_list<std::string_view> words) const {
    if (const auto value = find(key)) static_cast<void>(value->word(words));
  }

  void read_llama() {
    Recipe& recipe = model_.recipe;
    recipe.model = ModelKind::llama;
    recipe.width = size("hidden_size", kMostRows);
    recipe.heads = static_cast<int>(size("num_attention_heads", kMostLayers));
    recipe.layers = static_cast<int>(size("num_hidden_layers", kMostLayers));
    recipe.groups = find("num_key_value_heads")
                        ? static_cast<int>(size("num_key_value_heads", kMostLayers))
                        : recipe.heads;
    recipe.feed_forward = size("intermediate_size", kMostRows);
    recipe.sequence = size("max_position_embeddings", kMostRows);
    recipe.tied = flag("tie_word_embeddings", false);
    recipe.theta = static_cast<float>(positive(root_, "rope_theta", 10000));
    if (find("head_dim") && size("head_dim", kMostRows) * recipe.heads != recipe.width) {
      root_.member("head_dim").fail("hidden_size / num_attention_heads");
    }
    require_false("attention_bias");
    require_false("mlp_bias");
    require_epsilon("rms_norm_eps");
    require_activation("hidden_act", {"silu"});
    if (const auto scaling = find("rope_scaling")) read_scaling(*scaling);
  }

  void read_scaling(const JsonNode& scaling) {
    const JsonNode type = scaling.member(scaling.has("rope_type") ? "rope_type" : "type");
    if (type.word({"llama3", "default"}) == 1) return;
    Recipe& recipe = model_.recipe;
    recipe.rope_factor = static_cast<float>(positive(scaling, "factor", 1));
    recipe.rope_high = static_cast<float>(positive(scaling, "high_freq_factor", 4));
    recipe.rope_low = static_cast<float>(positive(scaling, "low_freq_factor", 1));
    const auto length = find(scaling, "original_max_position_embeddings");
    recipe.rope_length = length ? length->integer(1, kMostRows) : 8192;
  }

  void read_gpt2() {
    Recipe& recipe = model_.recipe;
    recipe.model = ModelKind::nano_gpt;
    recipe.width = size("n_embd", kMostRows);
    recipe.heads = static_cast<int>(size("n_head", kMostLayers));
    recipe.layers = static_cast<int>(size("n_layer", kMostLayers));
    recipe.sequence = size("n_positions", kMostRows);
    recipe.tied = flag("tie_word_embeddings", true);
    if (find("n_inner") && size("n_inner", kMostRows) != 4 * recipe.width) {
      root_.member("n_inner").fail("4 n_embd");
    }
    require_epsilon("layer_norm_epsilon");
    // TTML has the exact gelu; gelu_new differs from it by up to 5e-4.
    require_activation("activation_function", {"gelu_new", "gelu"});
  }

  void read_ends() {
    const auto ends = find("eos_token_id");
    if (!ends) return;
    for (const JsonNode& token : ends->is_array() ? ends->items() : std::vector{*ends}) {
      model_.ends.push_back(static_cast<std::uint32_t>(token.integer(0, kMostRows - 1)));
    }
  }

  JsonNode root_;
  HuggingFaceModel model_;
};

}  // namespace

HuggingFaceModel parse_hugging_face_config(std::string_view text, const std::string& source) {
  const JsonDocument document(
      text, {.attempted = "read the model in " + source, .accepted = "a config.json"});
  HuggingFaceModel model = ModelConfigReader(document.root()).read();
  require_valid(model.recipe);
  return model;
}

}  // namespace howard::training
