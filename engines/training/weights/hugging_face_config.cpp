// SPDX-License-Identifier: Apache-2.0
#include "engines/training/weights/hugging_face_config.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/json_depth.h"
#include "base/text.h"

namespace howard::training {
namespace {

using nlohmann::json;

class ModelConfigReader {
 public:
  ModelConfigReader(const json& root, std::string source)
      : root_(root), source_(std::move(source)) {}

  HuggingFaceModel read() {
    if (!root_.is_object()) fail("it is no JSON object", "a config.json");
    const std::string type = root_.value("model_type", "");
    model_.recipe.batch = 1;
    model_.recipe.dropout = 0;
    if (type == "llama") {
      read_llama();
    } else if (type == "gpt2") {
      read_gpt2();
    } else {
      fail(fmt::format("model_type '{}'", type), "llama, gpt2");
    }
    model_.vocabulary = size("vocab_size", kMostRows);
    read_ends();
    return model_;
  }

 private:
  static constexpr std::int64_t kMostRows = 1 << 24;
  static constexpr std::int64_t kMostLayers = 1 << 16;

  [[noreturn]] void fail(std::string value, std::string accepted) const {
    throw Error({.attempted = "read the model in " + source_,
                 .value = std::move(value),
                 .accepted = std::move(accepted),
                 .hint = ""});
  }

  const json* find(const char* key) const {
    const auto found = root_.find(key);
    return found == root_.end() || found->is_null() ? nullptr : &*found;
  }

  std::int64_t size(const char* key, std::int64_t most) const {
    const json* const value = find(key);
    if (value == nullptr) fail(fmt::format("it has no {}", key), "a config.json of its model_type");
    if (!value->is_number_integer() || *value < 1 || *value > most) {
      fail(fmt::format("{} is {}", key, value->dump()), fmt::format("1 to {}", most));
    }
    return value->get<std::int64_t>();
  }

  double number(const json& object, const char* key, double otherwise) const {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return otherwise;
    if (!found->is_number() || !(found->get<double>() > 0)) {
      fail(fmt::format("{} is {}", key, found->dump()), "a number above 0");
    }
    return found->get<double>();
  }

  void require_false(const char* key) const {
    const json* const value = find(key);
    if (value != nullptr && *value != false) {
      fail(fmt::format("{} is {}", key, value->dump()), "false");
    }
  }

  void require_epsilon(const char* key) const {
    const double epsilon = number(root_, key, 1e-5);
    if (std::abs(epsilon - 1e-5) > 1e-9) {
      fail(fmt::format("{} is {}", key, epsilon), "1e-5, which TTML's norms add");
    }
  }

  void require_activation(const char* key, std::initializer_list<std::string_view> words) const {
    const json* const value = find(key);
    if (value == nullptr) return;
    for (const std::string_view word : words) {
      if (value->is_string() && value->get<std::string>() == word) return;
    }
    fail(fmt::format("{} is {}", key, value->dump()), std::string(*words.begin()));
  }

  void read_llama() {
    Recipe& recipe = model_.recipe;
    recipe.model = ModelKind::llama;
    recipe.width = size("hidden_size", kMostRows);
    recipe.heads = static_cast<int>(size("num_attention_heads", kMostLayers));
    recipe.layers = static_cast<int>(size("num_hidden_layers", kMostLayers));
    recipe.groups = find("num_key_value_heads") == nullptr
                        ? recipe.heads
                        : static_cast<int>(size("num_key_value_heads", kMostLayers));
    recipe.feed_forward = size("intermediate_size", kMostRows);
    recipe.sequence = size("max_position_embeddings", kMostRows);
    recipe.tied = find("tie_word_embeddings") != nullptr && *find("tie_word_embeddings") == true;
    recipe.theta = static_cast<float>(number(root_, "rope_theta", 10000));
    if (find("head_dim") != nullptr && size("head_dim", kMostRows) * recipe.heads != recipe.width) {
      fail("a head_dim that is not hidden_size / num_attention_heads", "heads of that width");
    }
    require_false("attention_bias");
    require_false("mlp_bias");
    require_epsilon("rms_norm_eps");
    require_activation("hidden_act", {"silu"});
    if (const json* const scaling = find("rope_scaling")) read_scaling(*scaling);
  }

  void read_scaling(const json& scaling) {
    if (!scaling.is_object()) fail("rope_scaling is no JSON object", "a rope_scaling of llama3");
    const std::string type = scaling.value("rope_type", scaling.value("type", ""));
    if (type == "default") return;
    if (type != "llama3") fail("a rope_scaling of type '" + type + "'", "llama3");
    Recipe& recipe = model_.recipe;
    recipe.rope_factor = static_cast<float>(number(scaling, "factor", 1));
    recipe.rope_high = static_cast<float>(number(scaling, "high_freq_factor", 4));
    recipe.rope_low = static_cast<float>(number(scaling, "low_freq_factor", 1));
    recipe.rope_length =
        static_cast<std::int64_t>(number(scaling, "original_max_position_embeddings", 8192));
  }

  void read_gpt2() {
    Recipe& recipe = model_.recipe;
    recipe.model = ModelKind::nano_gpt;
    recipe.width = size("n_embd", kMostRows);
    recipe.heads = static_cast<int>(size("n_head", kMostLayers));
    recipe.layers = static_cast<int>(size("n_layer", kMostLayers));
    recipe.sequence = size("n_positions", kMostRows);
    recipe.tied = find("tie_word_embeddings") == nullptr || *find("tie_word_embeddings") != false;
    if (find("n_inner") != nullptr && size("n_inner", kMostRows) != 4 * recipe.width) {
      fail("an n_inner that is not 4 n_embd", "a feed-forward part of that width");
    }
    require_epsilon("layer_norm_epsilon");
    // TTML has the exact gelu; gelu_new differs from it by up to 5e-4.
    require_activation("activation_function", {"gelu_new", "gelu"});
  }

  void read_ends() {
    const json* const ends = find("eos_token_id");
    if (ends == nullptr) return;
    const auto add = [&](const json& token) {
      if (!token.is_number_integer() || token < 0 || token >= kMostRows) {
        fail("eos_token_id is " + ends->dump(), "a token, or a list of tokens");
      }
      model_.ends.push_back(token.get<std::uint32_t>());
    };
    if (!ends->is_array()) return add(*ends);
    for (const json& token : *ends) add(token);
  }

  const json& root_;
  std::string source_;
  HuggingFaceModel model_;
};

}  // namespace

HuggingFaceModel parse_hugging_face_config(std::string_view text, const std::string& source) {
  const std::string attempted = "read the model in " + source;
  require_json_depth(text, attempted);
  try {
    const json root = json::parse(text);
    HuggingFaceModel model = ModelConfigReader(root, source).read();
    require_valid(model.recipe);
    return model;
  } catch (const json::exception& failure) {
    throw Error({.attempted = attempted,
                 .value = json_failure(failure.what()),
                 .accepted = "a config.json",
                 .hint = ""});
  }
}

}  // namespace howard::training
