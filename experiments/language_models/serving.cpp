// SPDX-License-Identifier: Apache-2.0
#include "experiments/language_models/serving.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/text.h"

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
           "a mesh that divides heads, heads of keys, experts, and the tiles of hidden_size");
  }
}

/// Says whether tt_transformers knows the model, by its name, as one whose attention is not
/// sensitive.
bool is_robust(const LanguageModel& model) {
  const auto is_named = [&](std::string_view part) {
    return lower_case(model.name).find(part) != std::string::npos;
  };
  constexpr std::int64_t kVocabularyOfLlama3 = 128'256;
  if (model.family == "llama") {
    return model.vocabulary == kVocabularyOfLlama3 && !is_named("deepseek");
  }
  if (model.family == "mistral") return model.hidden == 4096 && model.layers == 32;
  return model.family == "mixtral" || is_named("phi-3-mini");
}

}  // namespace

bool is_of_galaxy(const LanguageModel& model, const Machine& machine) {
  const bool is_galaxy = machine.word == "galaxy";
  const bool is_70b = model.family == "llama" && model.hidden == 8192 && model.layers == 80;
  const bool is_32b = model.family == "qwen3" && model.hidden == 5120 && model.layers == 64;
  return is_galaxy && (is_70b || is_32b);
}

LayerFormats layer_formats(const LanguageModel& model, PrecisionMode mode, bool last_layer) {
  LayerFormats formats;
  // GPT-OSS's demo has one choice: experts of bfloat4_b, attention and cache of bfloat8_b.
  if (model.is_gpt_oss()) {
    formats.gate_up = formats.down = {DataType::bfloat4_b, kLofi};
    return formats;
  }
  const bool large = model.parameters() >= kLargeModel;
  // tt_transformers knows Qwen2.5-7B by its name: since June 2025 all of its layers multiply with
  // all passes, in both modes (model_config.py and its file for 28 layers; pull request 22689).
  if (model.family == "qwen2" && model.hidden == 3584) {
    keep_attention_exact(formats);
    formats.gate_up.compute = formats.down.compute = formats.attention = kHifi4;
    formats.gated = DataType::bfloat16;
    return formats;
  }
  if (mode == PrecisionMode::accuracy && !large) {
    formats.gate_up.compute = formats.down.compute = kHifi2Fp16;
    if (!is_robust(model)) keep_attention_exact(formats);
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
  if (serving.is_on_all_chips()) return std::nullopt;
  const std::int64_t tiles = model.is_gpt_oss() ? 0 : model.hidden / kTileSide;
  // Gemma 4's demo gives several chips the same head of keys where there are fewer than chips.
  const std::int64_t fewest = model.head_sizes(true).groups;
  const bool are_shared = fewest < model.groups && serving.tensor_parallel % fewest == 0;
  const std::int64_t groups = are_shared ? model.groups : std::gcd(model.groups, fewest);
  const std::array<std::pair<std::int64_t, const char*>, 4> parts{
      {{model.heads, "heads"},
       {groups, "heads of keys and values"},
       {serving.has_whole_experts() ? model.experts : 0, "experts"},
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
  std::vector<LayerRun> runs;
  const auto add = [&](std::int64_t times, bool sees_all, bool has_experts, bool last) {
    if (times == 0) return;
    runs.push_back({.formats = layer_formats(model, mode, last),
                    .times = times,
                    .window = sees_all ? model.window : model.local_window,
                    .heads = model.head_sizes(sees_all),
                    .has_experts = has_experts});
  };
  const std::int64_t others = model.layers - model.local_layers - model.dense_layers - 1;
  add(model.local_layers, false, model.has_experts(), false);
  add(model.dense_layers, true, false, false);
  add(others, true, model.has_experts(), false);
  add(1, true, model.has_experts(), true);
  return runs;
}

std::int64_t Serving::chosen_of(std::int64_t of, std::int64_t tokens) const {
  const double share = static_cast<double>(model.experts_used) / static_cast<double>(model.experts);
  const double none = std::pow(1 - share, static_cast<double>(tokens));
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(of) * (1 - none) - 1e-9));
}

void require_servable(const Serving& serving) {
  require_chips(serving);
  const LanguageModel& model = serving.model;
  if (serving.batch > kMostUsers) {
    refuse(serving, fmt::format("{} users of a group of chips", serving.batch),
           "1 to 32, the rows of a tile", "more groups: -a dp=2");
  }
  if (const auto sharers = serving.expert_sharers(); sharers > 1 && model.experts % sharers != 0) {
    refuse(serving, fmt::format("{} experts on {} groups of chips", model.experts, sharers),
           "groups that divide the experts", "-a dp=1 and all chips for the model");
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
  // tt_transformers does not know these by the names that they have.
  constexpr std::int64_t kOfUnknown = 4096;
  const LanguageModel& model = serving.model;
  if (model.family == "mistral" || (model.family == "phi3" && model.hidden == 5120)) {
    return kOfUnknown;
  }
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
      kRows, [&](const Row& one) { return model.parameters() <= one.most_parameters; });
  const int chips = serving.tensor_parallel;
  return 1024 * (chips == 1 ? row->one_chip : chips == 2 ? row->two_chips : row->eight_chips);
}

}  // namespace howard::experiments
