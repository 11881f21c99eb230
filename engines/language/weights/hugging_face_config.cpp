// SPDX-License-Identifier: Apache-2.0
#include "engines/language/weights/hugging_face_config.h"

#include <fmt/format.h>

#include <cmath>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "base/json_node.h"

namespace howard::language {
namespace {

constexpr std::int64_t kMostRows = 1 << 24;
constexpr std::int64_t kMostLayers = 1 << 16;

class ModelConfigReader {
 public:
  explicit ModelConfigReader(const JsonNode& root) : root_(root) {}

  HuggingFaceModel read() {
    model_.options.batch = 1;
    model_.options.dropout = 0;
    switch (root_.member("model_type").word({"llama", "qwen3", "gpt2"})) {
      case 0:
        read_llama();
        break;
      case 1:
        read_qwen3();
        break;
      default:
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

  void require_epsilon(std::string_view key, double added = 1e-5) const {
    const auto epsilon = find(key);
    if (epsilon && std::abs(epsilon->positive() / added - 1) > 1e-4) {
      epsilon->fail(fmt::format("{}, which TTML's norms add", added));
    }
  }

  void require_activation(std::string_view key,
                          std::initializer_list<std::string_view> words) const {
    if (const auto value = find(key)) static_cast<void>(value->word(words));
  }

  void read_llama() {
    models::ModelOptions& options = model_.options;
    options.kind = models::ModelKind::llama;
    read_rotary();
    if (find("head_dim") && size("head_dim", kMostRows) * options.heads != options.width) {
      root_.member("head_dim").fail("hidden_size / num_attention_heads");
    }
    require_heads("num_attention_heads", 2);
    require_epsilon("rms_norm_eps");
    if (const auto scaling = find("rope_scaling")) read_scaling(*scaling);
  }

  void read_qwen3() {
    models::ModelOptions& options = model_.options;
    options.kind = models::ModelKind::qwen3;
    read_rotary();
    options.head_width = size("head_dim", kMostRows);
    if (options.head_width % 2 != 0) root_.member("head_dim").fail("an even number");
    require_epsilon("rms_norm_eps", 1e-6);
    if (const auto scaling = find("rope_scaling")) scaling->fail("null");
  }

  /// Reads what a Llama and a Qwen3 have in common.
  void read_rotary() {
    models::ModelOptions& options = model_.options;
    options.width = size("hidden_size", kMostRows);
    options.heads = static_cast<int>(size("num_attention_heads", kMostLayers));
    options.layers = static_cast<int>(size("num_hidden_layers", kMostLayers));
    options.groups = find("num_key_value_heads")
                         ? static_cast<int>(size("num_key_value_heads", kMostLayers))
                         : options.heads;
    options.feed_forward = size("intermediate_size", kMostRows);
    options.sequence = size("max_position_embeddings", kMostRows);
    options.tied = flag("tie_word_embeddings", false);
    options.theta = static_cast<float>(positive(root_, "rope_theta", 10000));
    if (options.heads % options.groups != 0) {
      root_.member("num_key_value_heads").fail("a divisor of num_attention_heads");
    }
    require_false("attention_bias");
    require_false("mlp_bias");
    require_activation("hidden_act", {"silu"});
  }

  /// Throws Error unless the heads have a width that is a multiple of `of`.
  void require_heads(const char* key, std::int64_t of) const {
    const models::ModelOptions& options = model_.options;
    if (options.width % options.heads == 0 && options.width / options.heads % of == 0) return;
    root_.member(key).fail(of == 1 ? "a divisor of n_embd"
                                   : "heads of an even width of hidden_size");
  }

  void read_scaling(const JsonNode& scaling) {
    const JsonNode type = scaling.member(scaling.has("rope_type") ? "rope_type" : "type");
    if (type.word({"llama3", "default"}) == 1) return;
    models::ModelOptions& options = model_.options;
    options.scaling.factor = static_cast<float>(positive(scaling, "factor", 1));
    options.scaling.high = static_cast<float>(positive(scaling, "high_freq_factor", 4));
    options.scaling.low = static_cast<float>(positive(scaling, "low_freq_factor", 1));
    const auto length = find(scaling, "original_max_position_embeddings");
    options.scaling.length = length ? length->integer(1, kMostRows) : 8192;
    if (options.scaling.high <= options.scaling.low) {
      scaling.fail("a high_freq_factor above low_freq_factor");
    }
  }

  void read_gpt2() {
    models::ModelOptions& options = model_.options;
    options.kind = models::ModelKind::nano_gpt;
    options.width = size("n_embd", kMostRows);
    options.heads = static_cast<int>(size("n_head", kMostLayers));
    options.layers = static_cast<int>(size("n_layer", kMostLayers));
    options.sequence = size("n_positions", kMostRows);
    options.tied = flag("tie_word_embeddings", true);
    if (find("n_inner") && size("n_inner", kMostRows) != 4 * options.width) {
      root_.member("n_inner").fail("4 n_embd");
    }
    require_heads("n_head", 1);
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
  return ModelConfigReader(document.root()).read();
}

}  // namespace howard::language
