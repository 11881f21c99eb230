// SPDX-License-Identifier: Apache-2.0
#include "experiments/language_models/serving.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "base/error.h"

namespace howard::experiments {
namespace {

/// tt_transformers calls the models of 70 billion parameters and more insensitive.
constexpr std::int64_t kLargeModel = 65'000'000'000;

constexpr ComputeConfig kLofi{.fidelity = MathFidelity::lofi, .fp32_accumulation = false};
constexpr ComputeConfig kHifi2{.fidelity = MathFidelity::hifi2, .fp32_accumulation = true};
constexpr ComputeConfig kHifi2Fp16{.fidelity = MathFidelity::hifi2, .fp32_accumulation = false};
constexpr ComputeConfig kHifi4{.fidelity = MathFidelity::hifi4, .fp32_accumulation = true};

/// Sets what models have whose attention is sensitive: bfloat16.
void keep_attention_exact(LayerFormats& formats) {
  formats.qkv = formats.output = {DataType::bfloat16, kHifi4};
  formats.cache = DataType::bfloat16;
}

[[noreturn]] void refuse(const Serving& serving, std::string value, std::string accepted,
                         std::string hint = {}) {
  throw Error({.attempted = fmt::format("run {} on {}", serving.model.name, serving.machine.word),
               .value = std::move(value),
               .accepted = std::move(accepted),
               .hint = std::move(hint)});
}

void require_chips(const Serving& serving) {
  const int chips = serving.tensor_parallel * serving.data_parallel;
  if (chips != serving.machine.chips) {
    refuse(serving,
           fmt::format("{} groups of {} chips", serving.data_parallel, serving.tensor_parallel),
           fmt::format("groups that use its {} chips together", serving.machine.chips),
           "-a dp=" + std::to_string(serving.machine.chips));
  }
  if (const auto reason = undivided(serving)) {
    refuse(serving, *reason,
           "a mesh that divides heads, heads of keys, and the tiles of hidden_size");
  }
}

}  // namespace

LayerFormats layer_formats(const LanguageModel& model, PrecisionMode mode, bool last_layer) {
  LayerFormats formats;
  // GPT-OSS's demo has one choice: experts of bfloat4_b, attention and cache of bfloat8_b.
  if (model.has_experts()) {
    formats.gate_up = formats.down = {DataType::bfloat4_b, kLofi};
    return formats;
  }
  const bool large = model.parameters() >= kLargeModel;
  const bool robust = model.family == "llama" || model.family == "mistral";
  // tt_transformers knows Qwen2.5-7B by its name.
  const bool qwen_7b = model.family == "qwen2" && model.hidden == 3584;
  if (mode == PrecisionMode::accuracy && !large) {
    formats.gate_up.compute = formats.down.compute = kHifi2Fp16;
    if (!robust) keep_attention_exact(formats);
    return formats;
  }
  if (qwen_7b) {
    keep_attention_exact(formats);
    return formats;
  }
  // The configuration file of the 8B model has its last layer in the better format.
  const bool is_8b = model.family == "llama" && model.hidden == 4096 && model.layers == 32 &&
                     model.feed_forward == 14336;
  if (is_8b && last_layer) {
    formats.gate_up.compute = kHifi2Fp16;
    return formats;
  }
  formats.gate_up = {DataType::bfloat4_b, kLofi};
  return formats;
}

namespace {

/// Returns the cores for whose multiple tt_transformers pads the feed-forward part of some models;
/// 1 for all others (December 2025: models/tt_transformers/tt/model_config.py, prefill and decode
/// alike).
std::int64_t padding_cores(const LanguageModel& model) {
  if (model.family != "qwen2") return 1;
  const auto is_named = [&](std::string_view part) {
    return model.name.find(part) != std::string::npos;
  };
  if (model.hidden == 8192) return 32;
  return model.hidden == 3584 || is_named("qwq") || is_named("vl-32b") ? 16 : 1;
}

}  // namespace

std::int64_t Serving::wide() const {
  const std::int64_t cores = padding_cores(model);
  if (cores == 1) return column_share(model.feed_forward);
  const std::int64_t unit = cores * kTileSide * tensor_parallel;
  return unit * ceil_div(model.feed_forward, unit) / tensor_parallel;
}

std::optional<std::string> undivided(const Serving& serving) {
  const LanguageModel& model = serving.model;
  // Each chip has all columns of a mixture of experts.
  const std::int64_t tiles = model.has_experts() ? 0 : model.hidden / kTileSide;
  const std::array<std::pair<std::int64_t, const char*>, 3> parts{
      {{model.heads, "heads"},
       {model.groups, "heads of keys and values"},
       {tiles, "tiles of hidden_size"}}};
  const auto undivided_by = [&](int chips) {
    return std::ranges::find_if(parts, [=](const auto& part) { return part.first % chips != 0; });
  };
  const auto part = undivided_by(serving.tensor_parallel);
  if (part == parts.end()) return std::nullopt;
  int fewer = serving.tensor_parallel - 1;
  while (serving.machine.chips % fewer != 0 || undivided_by(fewer) != parts.end()) --fewer;
  return fmt::format("{} chips do not divide the model's {} {}; {} would: -a dp={}",
                     serving.tensor_parallel, part->first, part->second, fewer,
                     serving.machine.chips / fewer);
}

std::vector<LayerRun> layer_runs(const LanguageModel& model, PrecisionMode mode) {
  std::vector<LayerRun> runs{
      {layer_formats(model, mode, false), model.local_layers, model.local_window},
      {layer_formats(model, mode, false), model.layers - model.local_layers - 1, model.window},
      {layer_formats(model, mode, true), 1, model.window}};
  std::erase_if(runs, [](const LayerRun& run) { return run.times == 0; });
  return runs;
}

void require_servable(const Serving& serving) {
  require_chips(serving);
  const LanguageModel& model = serving.model;
  if (serving.batch > kMostUsers) {
    refuse(serving, fmt::format("{} users of a group of chips", serving.batch),
           "1 to 32, the rows of a tile", "more groups: -a dp=2");
  }
  if (model.has_experts() && (serving.batch > 1 || serving.data_parallel > 1)) {
    refuse(serving, fmt::format("{} users of a mixture of experts", serving.users()),
           "one user: the tokens of more go from chip to chip, which is not modelled",
           "-a batch=1, and a machine whose chips hold the model together");
  }
  if (serving.room > model.context) {
    refuse(serving,
           fmt::format("a cache of {} tokens for each user, for a model of {} positions",
                       serving.room, model.context),
           "a cache of at most the model's positions", "-a context=128");
  }
  const auto require_room = [&](std::int64_t tokens, const char* what) {
    if (tokens <= serving.room) return;
    refuse(serving,
           fmt::format("a {} of {} tokens, and a cache of {} for each user", what, tokens,
                       serving.room),
           "as many as the cache has room for", "a larger one: -a room=TOKENS");
  };
  require_room(serving.context + 1, "context and the token behind it, in all");
  require_room(serving.prompt, "prompt");
  const std::int64_t seen = std::max(serving.context + 1, serving.prompt);
  if (seen > model.window) {
    refuse(serving,
           fmt::format("{} tokens, of which a token sees the last {} (sliding_window)", seen,
                       model.window),
           "no more tokens than the window: a window is not modelled",
           fmt::format("-a context={}", model.window - 1));
  }
}

LinkUse link_use(const Serving& serving) {
  return {.ring = serving.is_ring(), .workers = 2, .chunk = 10, .buffers = 2};
}

std::int64_t padded_prompt(std::int64_t tokens) {
  if (tokens <= 128) return 128;
  if (tokens <= 1024) return 1024;
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(tokens)));
}

std::int64_t prefill_chunk(const Serving& serving) {
  // tt_transformers' table, in units of 1024 tokens, by the size of the model and of the machine.
  struct Row {
    std::int64_t most_parameters, one_chip, two_chips, eight_chips;
  };
  constexpr std::int64_t kBillion = 1'000'000'000;
  constexpr Row kRows[] = {{2 * kBillion, 128, 128, 128},
                           {5 * kBillion, 8, 128, 128},
                           {10 * kBillion, 4, 64, 128},
                           {20 * kBillion, 4, 32, 128},
                           {INT64_MAX, 4, 4, 32}};
  const auto row = std::ranges::find_if(
      kRows, [&](const Row& one) { return serving.model.parameters() <= one.most_parameters; });
  const int chips = serving.tensor_parallel;
  return 1024 * (chips == 1 ? row->one_chip : chips == 2 ? row->two_chips : row->eight_chips);
}

}  // namespace howard::experiments
