// SPDX-License-Identifier: Apache-2.0
#include "experiments/language_models/model_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/input_file.h"
#include "base/json_node.h"
#include "base/text.h"
#include "engines/program/tensor_spec.h"

namespace howard::experiments {

namespace embedded {
extern const std::string_view known_models;
}

namespace {

// These are far beyond all models, and small enough that no size of a tensor overflows.
constexpr std::int64_t kMostColumns = 1 << 18;
constexpr std::int64_t kMostLayers = 1 << 11;
constexpr std::int64_t kMostRows = 1 << 24;

constexpr const char* kMadeOf =
    "the config.json of a Llama, Mistral, Mixtral, Qwen2, Qwen3, Phi-3, Gemma 3, Gemma 4, Arcee, "
    "GPT-OSS or DeepSeek-V3 model";

/// What Hugging Face's Gemma3TextConfig has where a file says nothing.
struct GemmaDefaults {
  std::int64_t vocabulary = 262'208, context = 131'072;
  std::int64_t heads = 8, groups = 4, head_width = 256;
  std::int64_t window = 4'096, pattern = 6;
};
constexpr GemmaDefaults kGemma;

class ConfigReader {
 public:
  ConfigReader(const JsonNode& root, std::string name) : root_(root), text_(root) {
    model_.name = std::move(name);
  }

  LanguageModel read() {
    read_family();
    model_.hidden = size("hidden_size", kMostColumns);
    model_.feed_forward = size("intermediate_size", kMostColumns);
    model_.layers = size("num_hidden_layers", kMostLayers);
    if (is("deepseek_v3")) read_latent();
    model_.vocabulary = size_or("vocab_size", kMostRows, kGemma.vocabulary);
    model_.context = size_or("max_position_embeddings", kMostRows, kGemma.context);
    read_heads();
    read_image_layers();
    read_forms();
    read_window();
    require_plain();
    require_tokens("bos_token_id");
    require_tokens("eos_token_id");
    return model_;
  }

 private:
  static std::optional<JsonNode> find(const JsonNode& object, std::string_view key) {
    if (!object.has(key) || object.member(key).is_null()) return std::nullopt;
    return object.member(key);
  }
  std::optional<JsonNode> find(std::string_view key) const { return find(text_, key); }

  std::int64_t size(std::string_view key, std::int64_t most) const {
    return text_.member(key).integer(1, most);
  }
  /// Files of Gemma 3 leave out what Hugging Face's class has by itself.
  std::int64_t size_or(std::string_view key, std::int64_t most, std::int64_t gemma) const {
    return is_gemma() && !find(key) ? gemma : size(key, most);
  }
  bool is(std::string_view family) const { return model_.family == family; }
  bool is_gemma() const { return is("gemma3"); }

  /// A model for images and texts has the sizes of its text part in an object of their own.
  void read_family() {
    const JsonNode type = root_.member("model_type");
    const std::initializer_list<std::string_view> kFamilies{
        "llama",       "mistral", "qwen2",      "qwen3",    "phi3",    "mllama",
        "mistral3",    "mixtral", "qwen2_5_vl", "qwen3_vl", "gemma3",  "gemma3_text",
        "gemma4_text", "gemma4",  "qwen3_moe",  "arcee",    "gpt_oss", "deepseek_v3"};
    for (const char* const other : {"whisper", "bert", "roberta", "xlm-roberta", "vit", "resnet"}) {
      if (type.text() == other) {
        type.fail("a language model that writes; encoders, speech and images are models of vision");
      }
    }
    model_.family = *(kFamilies.begin() + type.word(kFamilies));
    if (model_.family.ends_with("_text")) model_.family.resize(model_.family.size() - 5);
    require_architecture();
    if (const auto text = find(root_, "text_config")) text_ = *text;
    if (model_.family == "mllama") model_.family = "llama";
    if (model_.family == "mistral3") model_.family = "mistral";
    if (model_.family == "qwen2_5_vl") model_.family = "qwen2";
    if (model_.family == "qwen3_vl") model_.family = "qwen3";
  }

  /// A class of Hugging Face is named after the type: Qwen2ForCausalLM, Qwen2_5_VLModel.
  void require_architecture() const {
    const auto classes = find(root_, "architectures");
    if (!classes) return;
    std::string type = model_.family;
    if (type != "qwen2_5_vl") std::erase(type, '_');
    for (const JsonNode& one : classes->items()) {
      const std::string name = lower_case(one.text());
      if (name.starts_with(type + "for") || name.starts_with(type + "model")) continue;
      one.fail(fmt::format("a class of model_type, which is \"{}\"", model_.family));
    }
  }

  /// Reads how many layers see a window alone: as listed, or of Gemma 3 all but every sixth.
  void read_local_layers() {
    model_.local_window = size_or("sliding_window", kMostRows, kGemma.window);
    const auto types = is_gemma() ? find("layer_types") : text_.member("layer_types");
    if (!types) {
      model_.local_layers = model_.layers - model_.layers / size_or("sliding_window_pattern",
                                                                    kMostLayers, kGemma.pattern);
      return;
    }
    for (const JsonNode& type : types->items()) {
      if (type.word({"full_attention", "sliding_attention"}) == 1) ++model_.local_layers;
    }
  }

  /// Reads how far a token sees, where the file gives layers a window.
  void read_window() {
    model_.window = model_.context;
    if (is_gemma() || is("gemma4") || is("gpt_oss")) return read_local_layers();
    const auto types = find("layer_types");
    bool any = !types;
    if (types) {
      for (const JsonNode& type : types->items()) {
        any = type.word({"full_attention", "sliding_attention"}) == 1 || any;
      }
    }
    const auto window = find("sliding_window");
    const bool is_used = flag("use_sliding_window", !model_.family.starts_with("qwen"));
    if (window && any && is_used) {
      model_.window = std::min(model_.context, window->integer(1, kMostRows));
    }
  }

  /// Refuses what changes the work of a step and is not modelled.
  void require_plain() const {
    for (const char* key : {"mlp_bias", "use_qk_norm", "add_cross_attention", "qkv_bias"}) {
      const auto value = find(key);
      if (value && value->boolean()) value->fail("false: such a model is not supported");
    }
    const auto turned = find("partial_rotary_factor");
    if (turned && turned->number() != 1) turned->fail("1: rotary positions turn whole heads here");
    const auto width = find("rotary_dim");
    if (width && width->integer(1, kMostRows) != model_.head_width) {
      width->fail(fmt::format("{}: rotary positions turn whole heads here", model_.head_width));
    }
    for (const char* key : {"attn_logit_softcapping", "final_logit_softcapping", "clip_qkv"}) {
      const auto limit = find(key);
      if (limit && (!is("gemma4") || key != std::string_view("final_logit_softcapping"))) {
        limit->fail("null: such a model is not supported");
      }
    }
    for (const char* key : {"num_kv_shared_layers", "hidden_size_per_layer_input"}) {
      const auto count = find(key);
      if (count && count->integer() > 0) count->fail("0: such a model is not supported");
    }
    if (const auto latent = find("kv_lora_rank"); latent && !model_.is_latent()) {
      latent->fail("a model whose cache holds keys and values");
    }
    for (const auto& part : {root_, text_}) {
      const auto format = find(part, "quantization_config");
      if (format && !is("gpt_oss") && !is("deepseek_v3")) {
        format->fail("no quantization: tt_transformers stores weights in formats of its own");
      }
    }
  }

  void read_heads() {
    model_.heads = size_or("num_attention_heads", kMostColumns, kGemma.heads);
    model_.groups = is_gemma() ? size_or("num_key_value_heads", kMostColumns, kGemma.groups)
                    : find("num_key_value_heads") ? size("num_key_value_heads", kMostColumns)
                                                  : model_.heads;
    if (model_.is_latent()) {
      model_.head_width = model_.latent.plain + model_.latent.rotary;
    } else if (is_gemma() && !find("head_dim")) {
      model_.head_width = kGemma.head_width;
    } else if (const auto width = find("head_dim")) {
      model_.head_width = width->integer(1, kMostColumns);
    } else if (model_.hidden % model_.heads != 0) {
      text_.member("num_attention_heads")
          .fail(fmt::format("a divisor of hidden_size, which is {}, or a head_dim", model_.hidden));
    } else {
      model_.head_width = model_.hidden / model_.heads;
    }
    if (model_.heads % model_.groups != 0) {
      text_.member("num_key_value_heads")
          .fail(fmt::format("a divisor of num_attention_heads, which is {}", model_.heads));
    }
    if (model_.head_width % kTileSide != 0) {
      text_.member(find("head_dim") ? "head_dim" : "num_attention_heads")
          .fail(fmt::format("heads of whole tiles of 32 columns, which ttnn's kernels split; these "
                            "have {}",
                            model_.head_width));
    }
    if (model_.head_width * model_.heads > 16 * model_.hidden) {
      text_.member("num_attention_heads")
          .fail(fmt::format("heads of together at most 16 times hidden_size, which is {}",
                            model_.hidden));
    }
    for (const char* key : {"hidden_size", "intermediate_size"}) {
      if (size(key, kMostColumns) % kTileSide != 0) {
        text_.member(key).fail("a multiple of 32, whole tiles");
      }
    }
  }

  void read_image_layers() {
    const auto crossing = find("cross_attention_layers");
    if (!crossing) return;
    model_.image_layers = static_cast<std::int64_t>(crossing->items().size());
    if (model_.image_layers >= model_.layers) {
      crossing->fail(fmt::format("fewer than num_hidden_layers, which is {}", model_.layers));
    }
    model_.layers -= model_.image_layers;
  }

  void read_forms() {
    model_.tied = flag("tie_word_embeddings", is_gemma() || is("gemma4"));
    model_.has_bias = flag("attention_bias", is("qwen2"));
    model_.norms_results = is_gemma() || is("gemma4");
    model_.norms_values = is("gemma4");
    model_.norms_heads = is("qwen3") || is("qwen3_moe") || model_.norms_results;
    model_.caps_logits = find("final_logit_softcapping").has_value();
    if (model_.norms_results) model_.gate = Eltwise::gelu_approx;
    if (is("gemma4")) read_global_heads();
    read_experts();
    if (const auto types = find("layer_types")) require_layers(*types);
    if (is("gpt_oss") || model_.norms_results) return;
    const auto activation = find("hidden_act");
    model_.is_gated = !is("arcee");
    if (!model_.is_gated) model_.gate = Eltwise::relu;
    if (activation) static_cast<void>(activation->word({is("arcee") ? "relu2" : "silu"}));
  }

  /// The layers of Gemma 4 that see all tokens have fewer and wider heads.
  void read_global_heads() {
    HeadSizes& global = model_.global_heads;
    global = {model_.heads, model_.groups, model_.head_width, flag("attention_k_eq_v", false)};
    if (const auto width = find("global_head_dim")) {
      global.width = width->integer(1, kMostColumns);
      if (global.width % kTileSide != 0) width->fail("heads of whole tiles of 32 columns");
    }
    const auto groups = find("num_global_key_value_heads");
    if (!groups) return;
    global.groups = groups->integer(1, kMostColumns);
    if (global.heads % global.groups == 0) return;
    groups->fail(fmt::format("a divisor of num_attention_heads, which is {}", global.heads));
  }

  /// Each family has words of its own for experts. Another one's words are refused.
  void read_experts() {
    constexpr std::int64_t kMostExperts = 1 << 10;
    struct Words {
      std::string_view family, experts, used, width;
    };
    constexpr Words kWords[] = {
        {"gpt_oss", "num_local_experts", "num_experts_per_tok", "intermediate_size"},
        {"mixtral", "num_local_experts", "num_experts_per_tok", "intermediate_size"},
        {"qwen3_moe", "num_experts", "num_experts_per_tok", "moe_intermediate_size"},
        {"deepseek_v3", "n_routed_experts", "num_experts_per_tok", "moe_intermediate_size"},
        {"gemma4", "num_experts", "top_k_experts", "moe_intermediate_size"}};
    const auto* const words = std::ranges::find(kWords, model_.family, &Words::family);
    const bool none =
        words == std::end(kWords) || (is("gemma4") && !flag("enable_moe_block", false));
    for (const std::string_view key : {"num_local_experts", "num_experts", "n_routed_experts"}) {
      const auto experts = find(key);
      if (!experts || (!none && key == words->experts)) continue;
      if (experts->integer() > 1) {
        experts->fail(
            none ? fmt::format("a {} model without experts", model_.family)
                 : fmt::format("the word of {} models, {}", model_.family, words->experts));
      }
    }
    if (none) return;
    model_.experts = size(words->experts, kMostExperts);
    model_.experts_used = size(words->used, model_.experts);
    model_.expert_width = size(words->width, kMostColumns);
    if (model_.expert_width % kTileSide != 0) {
      text_.member(words->width).fail("a multiple of 32, whole tiles");
    }
    if (is("gemma4")) model_.shared_width = model_.feed_forward;
    if (is("deepseek_v3")) read_deepseek_experts();
  }

  void read_deepseek_experts() {
    model_.shared_width = model_.expert_width * size("n_shared_experts", model_.experts);
    model_.dense_layers = text_.member("first_k_dense_replace").integer(0, model_.layers);
    model_.expert_groups = size("n_group", model_.experts);
  }

  void read_latent() {
    model_.latent = {.query_rank = size("q_lora_rank", kMostColumns),
                     .rank = size("kv_lora_rank", kMostColumns),
                     .plain = size("qk_nope_head_dim", kMostColumns),
                     .rotary = size("qk_rope_head_dim", kMostColumns),
                     .value = size("v_head_dim", kMostColumns)};
    for (const char* key :
         {"q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"}) {
      if (size(key, kMostColumns) % kTileSide != 0) {
        text_.member(key).fail("a multiple of 32, whole tiles");
      }
    }
  }

  void require_layers(const JsonNode& types) const {
    const auto listed = static_cast<std::int64_t>(types.items().size());
    if (listed == model_.layers + model_.image_layers) return;
    types.fail(fmt::format("as many as num_hidden_layers, which is {}",
                           model_.layers + model_.image_layers));
  }

  bool flag(std::string_view key, bool otherwise) const {
    const auto value = find(key);
    return value ? value->boolean() : otherwise;
  }

  /// Tokens beyond the vocabulary say that one of both is wrong.
  void require_tokens(std::string_view key) const {
    const auto given = find(key);
    if (!given) return;
    for (const JsonNode& token : given->is_array() ? given->items() : std::vector{*given}) {
      if (token.integer(-1, kMostRows) >= model_.vocabulary) {
        token.fail(fmt::format("less than vocab_size, which is {}", model_.vocabulary));
      }
    }
  }

  JsonNode root_;
  JsonNode text_;
  LanguageModel model_;
};

const JsonDocument& built_in() {
  static const JsonDocument document(embedded::known_models,
                                     {.attempted = "read the built-in models"});
  return document;
}

}  // namespace

namespace {

std::int64_t attention_parameters(const LanguageModel& model, bool sees_all) {
  if (model.is_latent()) {
    const LatentSizes& latent = model.latent;
    return model.hidden * (latent.query_rank + latent.cached()) + latent.query_rank + latent.rank +
           latent.query_rank * model.heads * (latent.plain + latent.rotary) +
           latent.rank * model.heads * (latent.plain + latent.value) +
           model.heads * latent.value * model.hidden;
  }
  const HeadSizes sizes = model.head_sizes(sees_all);
  return model.hidden * sizes.qkv_columns() + sizes.query_columns() * model.hidden +
         (model.has_bias ? sizes.qkv_columns() : 0) + (model.norms_heads ? 2 * sizes.width : 0);
}

}  // namespace

std::int64_t LanguageModel::parameters() const {
  const std::int64_t matrices = is_gated ? 3 : 2;
  const std::int64_t dense = matrices * hidden * feed_forward;
  const std::int64_t mixed =
      experts * (hidden + 1 + 3 * hidden * expert_width) + 3 * hidden * shared_width;
  const std::int64_t all = layers + image_layers;
  const std::int64_t without_experts = has_experts() ? dense_layers : all;
  return local_layers * attention_parameters(*this, false) +
         (all - local_layers) * attention_parameters(*this, true) + without_experts * dense +
         (all - without_experts) * mixed + all * 2 * hidden + hidden +
         (tied ? 1 : 2) * vocabulary * hidden;
}

LanguageModel parse_model_config(std::string_view json, const std::string& name,
                                 const std::string& source) {
  const JsonDocument document(json,
                              {.attempted = "read the model in " + source, .accepted = kMadeOf});
  return ConfigReader(document.root(), name).read();
}

const std::vector<std::string>& known_models() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> found;
    for (const auto& [name, config] : built_in().root().members()) found.push_back(name);
    return found;
  }();
  return names;
}

namespace {

/// Returns the name of the built-in model that a word means: its own, or the one that Hugging Face
/// has for it, "meta-llama/Llama-3.1-8B-Instruct", unless there is a folder of that name. Empty if
/// there is none.
std::string known_name(const std::string& word) {
  std::string name = lower_case(word);
  std::error_code ignored;
  if (!std::filesystem::exists(word, ignored)) {
    name.erase(0, name.rfind('/') + 1);
    if (name.starts_with("meta-")) name.erase(0, std::string_view("meta-").size());
    for (const std::string_view tuned : {"-instruct", "-chat"}) {
      name.erase(std::min(name.find(tuned), name.size()));
    }
    if (name.ends_with("-it")) name.resize(name.size() - 3);
  }
  return std::ranges::find(known_models(), name) != known_models().end() ? name : "";
}

}  // namespace

LanguageModel model_named(const std::string& word) {
  const std::string small = lower_case(word);
  if (const std::string name = known_name(word); !name.empty()) {
    return ConfigReader(built_in().root().member(name), name).read();
  }
  std::filesystem::path path = word;
  const bool names_file = word.find('/') != std::string::npos || word.ends_with(".json") ||
                          std::filesystem::is_directory(path);
  if (!names_file) {
    const auto suggestion = closest(small, known_models());
    throw Error({.attempted = "set axis model",
                 .value = fmt::format("'{}'", word),
                 .accepted = join(known_models(), ", ") + ", or a path of a config.json",
                 .hint = suggestion ? "-a model=" + *suggestion : ""});
  }
  if (std::filesystem::is_directory(path)) path /= "config.json";
  std::error_code ignored;
  if (!word.ends_with(".json") && !std::filesystem::exists(path, ignored)) {
    throw Error({.attempted = "set axis model",
                 .value = fmt::format("there is neither a model nor a folder '{}'", word),
                 .accepted = join(known_models(), ", ") + ", or a path of a config.json"});
  }
  return parse_model_config(read_settings_file(path), word, path.string());
}

}  // namespace howard::experiments
