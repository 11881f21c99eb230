// SPDX-License-Identifier: Apache-2.0
#include "engines/language/weights/weight_names.h"

#include <fmt/format.h>

#include <initializer_list>
#include <utility>

#include "engines/models/llama.h"

namespace howard::language {
namespace {

/// Makes the rule of a parameter that is one tensor of the file.
WeightRule whole(std::string parameter, std::string name, std::int64_t rows,
                 bool transposed = false, int paired_heads = 0) {
  return {.parameter = std::move(parameter),
          .sources = {{std::move(name), rows, transposed, paired_heads}}};
}

std::vector<WeightRule> llama_rules(const models::ModelOptions& options) {
  const std::int64_t width = options.width;
  const std::int64_t wide = models::feed_forward_of(options);
  const std::int64_t keys = width / options.heads * options.groups;
  WeightRule table = whole("llama/tok_emb/weight", "embed_tokens.weight", 0);
  table.is_padded = true;
  std::vector<WeightRule> rules{std::move(table)};
  for (int i = 0; i < options.layers; ++i) {
    const std::string to = fmt::format("llama/llama_block_{}/", i);
    const std::string from = fmt::format("layers.{}.", i);
    rules.push_back(whole(to + "attention_norm/gamma", from + "input_layernorm.weight", 1));
    rules.push_back(whole(to + "attention/q_linear/weight", from + "self_attn.q_proj.weight", width,
                          false, options.heads));
    rules.push_back({.parameter = to + "attention/kv_linear/weight",
                     .sources = {{from + "self_attn.k_proj.weight", keys, false, options.groups},
                                 {from + "self_attn.v_proj.weight", keys}}});
    rules.push_back(
        whole(to + "attention/out_linear/weight", from + "self_attn.o_proj.weight", width));
    rules.push_back(whole(to + "mlp_norm/gamma", from + "post_attention_layernorm.weight", 1));
    rules.push_back(whole(to + "mlp/w1/weight", from + "mlp.gate_proj.weight", wide));
    rules.push_back(whole(to + "mlp/w2/weight", from + "mlp.down_proj.weight", width));
    rules.push_back(whole(to + "mlp/w3/weight", from + "mlp.up_proj.weight", wide));
  }
  rules.push_back(whole("llama/ln_fc/gamma", "norm.weight", 1));
  if (options.tied) return rules;
  rules.push_back(whole("llama/fc/weight", "lm_head.weight", 0));
  rules.back().is_padded = true;
  return rules;
}

/// The names are those of Hugging Face but for the embedding and what follows the blocks.
std::vector<WeightRule> qwen3_rules(const models::ModelOptions& options) {
  const std::int64_t width = options.width;
  const std::int64_t wide = models::feed_forward_of(options);
  const std::int64_t queries = options.heads * options.head_columns();
  const std::int64_t keys = options.groups * options.head_columns();
  std::vector<WeightRule> rules{whole("qwen3/tok_emb/weight", "embed_tokens.weight", 0)};
  rules.back().is_padded = true;
  for (int i = 0; i < options.layers; ++i) {
    const auto add = [&](const std::string& part, const std::string& name, std::int64_t rows,
                         int paired_heads = 0) {
      rules.push_back(
          whole(fmt::format("qwen3/blocks/{}/{}{}/weight", i, part, name),
                fmt::format("layers.{}.{}{}.weight", i,
                            part.empty() ? "" : part.substr(0, part.size() - 1) + ".", name),
                rows, false, paired_heads));
    };
    add("", "input_layernorm", 1);
    add("self_attn/", "q_proj", queries, options.heads);
    add("self_attn/", "k_proj", keys, options.groups);
    add("self_attn/", "v_proj", keys);
    add("self_attn/", "o_proj", width);
    add("self_attn/", "q_norm", 1, 1);
    add("self_attn/", "k_norm", 1, 1);
    add("", "post_attention_layernorm", 1);
    add("mlp/", "gate_proj", wide);
    add("mlp/", "up_proj", wide);
    add("mlp/", "down_proj", width);
  }
  rules.push_back(whole("qwen3/ln_fc/weight", "norm.weight", 1));
  if (options.tied) return rules;
  rules.push_back(whole("qwen3/fc/weight", "lm_head.weight", 0));
  rules.back().is_padded = true;
  return rules;
}

std::vector<WeightRule> gpt2_rules(const models::ModelOptions& options) {
  const std::int64_t width = options.width;
  std::vector<WeightRule> rules{whole("token_embedding.weight", "wte.weight", 0)};
  rules.back().is_padded = true;
  if (!options.fixed_positions) {
    rules.push_back(whole("position_embedding.weight", "wpe.weight", options.sequence));
  }
  const auto add_norm = [&](const std::string& to, const std::string& from) {
    rules.push_back(whole(to + ".gamma", from + ".weight", 1));
    rules.push_back(whole(to + ".beta", from + ".bias", 1));
  };
  // Adds the layers of Conv1D, which stores [in, out].
  const auto add_linear = [&](const std::string& to, const std::string& from, std::int64_t out) {
    rules.push_back(whole(to + ".weight", from + ".weight", out, true));
    rules.push_back(whole(to + ".bias", from + ".bias", 1));
  };
  for (int i = 0; i < options.layers; ++i) {
    const std::string to = fmt::format("blocks.{}.", i);
    const std::string from = fmt::format("h.{}.", i);
    add_norm(to + "attention_norm", from + "ln_1");
    add_linear(to + "query_key_value", from + "attn.c_attn", 3 * width);
    add_linear(to + "output", from + "attn.c_proj", width);
    add_norm(to + "feed_forward_norm", from + "ln_2");
    add_linear(to + "expand", from + "mlp.c_fc",
               options.feed_forward > 0 ? options.feed_forward : 4 * width);
    add_linear(to + "contract", from + "mlp.c_proj", width);
  }
  add_norm("last_norm", "ln_f");
  if (options.tied) return rules;
  rules.push_back(whole("head.weight", "lm_head.weight", 0));
  rules.back().is_padded = true;
  return rules;
}

}  // namespace

std::string weight_prefix(const models::ModelOptions& options) {
  return options.kind == models::ModelKind::nano_gpt ? "transformer." : "model.";
}

std::vector<WeightRule> weight_rules(const models::ModelOptions& options) {
  switch (options.kind) {
    case models::ModelKind::llama:
      return llama_rules(options);
    case models::ModelKind::qwen3:
      return qwen3_rules(options);
    case models::ModelKind::mlp:
    case models::ModelKind::deepseek:
      return {};  // no file that is read here has one
    case models::ModelKind::nano_gpt:
      break;
  }
  return gpt2_rules(options);
}

}  // namespace howard::language
