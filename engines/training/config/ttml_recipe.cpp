// SPDX-License-Identifier: Apache-2.0
#include "engines/training/config/ttml_recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/pattern.h"
#include "base/text.h"
#include "base/units.h"
#include "engines/training/config/ttml_checker.h"
#include "engines/training/examples.h"
#include "engines/training/settings.h"

namespace howard::training {

void require_accepted(const TtmlChecker& check) {
  const auto require = [&](const TtmlKey& key, const auto& value) {
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, std::string>) {
      if (key.accepted.words.empty()) return;
      const std::vector<std::string> words = split(key.accepted.words, ' ');
      check.require(std::ranges::find(words, value) != words.end(), key.whole(), "'" + value + "'",
                    join(words, ", "));
    } else if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>) {
      const Range& range = key.accepted.range;
      check.require(range.has(static_cast<double>(value)), key.whole(), fmt::format("{}", value),
                    range.words());
    }
  };
  for_each_ttml_key(check.settings.config, [&](const TtmlKey& key, const auto& field) {
    using Field = std::decay_t<decltype(field)>;
    if constexpr (std::is_same_v<Field, std::optional<ttml::Counts>>) {
      for (const std::int64_t item : field.value_or(ttml::Counts{})) require(key, item);
    } else if constexpr (requires { field.has_value(); }) {
      if (field) require(key, *field);
    } else if constexpr (std::is_same_v<Field, ttml::Counts> ||
                         std::is_same_v<Field, ttml::Texts>) {
      for (const auto& item : field) require(key, item);
    } else {
      require(key, field);
    }
  });
}

void apply_keys(const TtmlChecker& check, Recipe& recipe) {
  const std::map<std::string, std::string> values = ttml_values(check.settings.config);
  const Recipe& defaults = recipe;
  for_each_setting(defaults, [&](const Setting& setting, const auto&) {
    const auto found = values.find(std::string(setting.key));
    if (found == values.end()) return;
    if (const auto number = parse_number(found->second)) {
      check.require(
          setting.range.has(*number), found->first, found->second, setting.range.words(),
          fmt::format("--with {}={}, the default", found->first, field_text({}, setting.name)));
    }
    set_field(recipe, setting.name, found->second);
  });
}

void require_rules(const TtmlChecker& check, const Recipe& recipe) {
  for_each_setting(recipe, [&](const Setting& setting, const auto&) {
    if (setting.key.empty() || setting.rule.holds == nullptr || setting.rule.holds(recipe)) return;
    check.require(false, std::string(setting.key), field_text(recipe, setting.name),
                  std::string(setting.rule.words));
  });
}

namespace {

/// Throws Error unless the parts of a deepseek's heads are whole tiles.
void require_head_tiles(const TtmlChecker& check) {
  const TtmlTransformer& model = check.model();
  for (const auto& [key, columns] : {std::pair("qk_nope_head_dim", model.qk_nope_head_dim),
                                     std::pair("qk_rope_head_dim", model.qk_rope_head_dim),
                                     std::pair("v_head_dim", model.v_head_dim)}) {
    check.require_number(columns % kTileSide == 0, std::string("transformer_config.") + key,
                         columns, "a multiple of 32, the side of a tile");
  }
}

/// Throws Error unless TTML's own conditions on the sizes of a model hold.
void require_tiles(const TtmlChecker& check) {
  const TtmlTransformer& model = check.model();
  const auto divides = [&](std::int64_t by, const char* key, std::int64_t value,
                           const std::string& accepted) {
    check.require_number(value % by == 0, key, value, accepted);
  };
  divides(kTileSide, "transformer_config.embedding_dim", model.embedding_dim,
          "a multiple of 32, the side of a tile");
  divides(kTileSide, "transformer_config.max_sequence_length", model.max_sequence_length,
          "a multiple of 32, the side of a tile");
  if (model.model_type == "deepseek") return require_head_tiles(check);
  const bool own_width = model.model_type == "qwen3" && model.head_dim;
  check.require_number(own_width || model.embedding_dim % model.num_heads == 0,
                       "transformer_config.num_heads", model.num_heads,
                       fmt::format("a divisor of the embedding_dim {}", model.embedding_dim));
  if (model.model_type == "gpt2") return;
  check.require_number(model.num_heads % model.num_groups == 0, "transformer_config.num_groups",
                       model.num_groups, fmt::format("a divisor of the {} heads", model.num_heads));
  const std::int64_t width = own_width ? *model.head_dim : model.embedding_dim / model.num_heads;
  check.require_number(width % kTileSide == 0 && width <= 256,
                       own_width ? "transformer_config.head_dim" : "transformer_config.num_heads",
                       own_width ? width : model.num_heads,
                       fmt::format("heads of 32, 64 ... 256 of the {} columns, not of {}",
                                   model.embedding_dim, width));
}

/// Applies what a deepseek has another name for, or a word.
void apply_deepseek(const TtmlChecker& check, Recipe& recipe) {
  const TtmlTransformer& model = check.model();
  const bool deepseek = recipe.model.kind == ModelKind::deepseek;
  check.require(deepseek || !model.inter_dim, "transformer_config.inter_dim", "it is set",
                "no such key here: it is for model_type deepseek", "intermediate_dim");
  check.require(!deepseek || !model.intermediate_dim, "transformer_config.intermediate_dim",
                "it is set", "no such key here: it is for model_type llama or qwen3", "inter_dim");
  check.require(!deepseek || model.weight_tying == "disabled", "transformer_config.weight_tying",
                "'" + model.weight_tying + "'",
                "disabled: the head of a deepseek is a parameter of its own");
  if (model.inter_dim) recipe.model.feed_forward = *model.inter_dim;
  recipe.model.deepseek.scores =
      model.score_func == "softmax" ? ScoreFunction::softmax : ScoreFunction::sigmoid;
}

void apply_model(const TtmlChecker& check, Recipe& recipe) {
  const TtmlTransformer& model = check.model();
  const std::string also = check.training().model_type.value_or(model.model_type);
  const bool named = check.settings.has("transformer_config.model_type");
  check.require(named || also == model.model_type, "training_config.model_type", "'" + also + "'",
                "the model_type of transformer_config, which counts: " + model.model_type);
  const bool gpt2 = model.model_type == "gpt2";
  recipe.model.kind = gpt2                          ? ModelKind::nano_gpt
                      : model.model_type == "llama" ? ModelKind::llama
                      : model.model_type == "qwen3" ? ModelKind::qwen3
                                                    : ModelKind::deepseek;
  apply_deepseek(check, recipe);
  if (!gpt2 && !model.dropout_prob) recipe.model.dropout = 0;
  constexpr float kQwen3Theta = 1e6F;
  if (recipe.model.kind == ModelKind::qwen3 && !model.theta) recipe.model.theta = kQwen3Theta;
  recipe.model.memory_efficient = model.runner_type == "memory_efficient";
  recipe.model.tied = model.weight_tying == "enabled";
  recipe.model.divided_table = model.embedding_placement == "feature_parallel";
  check.require(!recipe.model.divided_table || recipe.model.kind == ModelKind::llama,
                "transformer_config.embedding_placement", "'feature_parallel'",
                "replicated for a " + model.model_type);
  recipe.model.fixed_positions = gpt2 && model.positional_embedding_type == "fixed";
}

/// Applies what TTML of 2026 does unless a key says otherwise: attention in one program each way, a
/// program that multiplies the slopes of the logits, one that joins two products of SwiGLU, and
/// logits that stay divided among devices.
/// Its files are those with an `optimizer`, without which it does not train.
void apply_forms_of_2026(const TtmlChecker& check, Recipe& recipe) {
  if (check.training().optimizer == TtmlOptimizer{}) return;
  recipe.model.fused_attention = check.model().experimental.use_fused_attention.value_or(true);
  recipe.model.scaled_slopes = true;
  recipe.model.joined_swiglu = recipe.model.kind != ModelKind::nano_gpt;
  recipe.model.sharded_loss = recipe.model.kind == ModelKind::llama;
}

/// Returns what uses a setting with TTML's word for it: "scheduler_type step" for "schedule step".
std::string ttml_user(std::string_view user) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"model-type", "model_type"},    {"schedule", "scheduler_type"},
      {"optimizer", "optimizer type"}, {"rope-factor F", "a scaling_factor"},
      {"lora-rank R", "a rank"},       {"beta1-warmup N", "beta1_warmup_steps"}};
  for (const auto& [ours, theirs] : kWords) {
    if (user.starts_with(ours)) return std::string(theirs) + std::string(user.substr(ours.size()));
  }
  return std::string(user);
}

/// Throws Error for a key that this model or schedule does not use, which TTML would silently
/// ignore; it may be there with its default value.
void require_used(const TtmlChecker& check, const Recipe& recipe) {
  const ChangedKeys changed(check.settings.config);
  const auto require = [&](bool used, const std::string& key, const std::string& user) {
    check.require(used || !changed.has(key), key, changed.value(key),
                  "no such key here: it is for " + user);
  };
  const bool speedrun = check.settings.config.scheduler.max_lr.has_value();
  for (const char* const key :
       {"warmup_steps", "hold_steps", "beta1_warmup_steps", "beta1_start", "beta1_end"}) {
    require(speedrun, std::string("scheduler_config.") + key, "a max_lr");
  }
  for (const char* const key : {"schedulers", "milestones"}) {
    require(recipe.schedule.schedule == autograd::Schedule::sequential,
            std::string("scheduler_config.") + key, "a scheduler_type of sequential");
  }
  require(recipe.model.kind == ModelKind::nano_gpt, "transformer_config.positional_embedding_type",
          "a model_type of gpt2");
  require(recipe.model.kind == ModelKind::deepseek, "transformer_config.score_func",
          "a model_type of deepseek");
  for_each_setting(recipe, [&](const Setting& setting, const auto&) {
    const bool single = setting.key.starts_with("training_config.");  // the map `optimizer` counts
    if (setting.key.empty() || single || setting.use.holds == nullptr) return;
    require(setting.use.holds(recipe), std::string(setting.key), ttml_user(setting.use.words));
  });
}

/// Applies the keys of Muon: those of MuonComposite lie in the map itself, and those of
/// MuonWithAdamW in two maps within it. Throws Error for one that the type does not have.
void apply_muon(const TtmlChecker& check, Recipe& recipe) {
  const TtmlOptimizer& optimizer = check.training().optimizer;
  const std::string map = "training_config.optimizer.";
  const bool both = recipe.optimizer.kind == OptimizerKind::muon_adamw;
  const bool alone = recipe.optimizer.kind == OptimizerKind::muon;
  const auto require = [&](bool unset, const char* key, bool has, const char* type) {
    check.require(unset || has, map + key, "it is set", std::string("a type of ") + type);
  };
  require(!optimizer.ns_steps, "ns_steps", alone, "MuonComposite");
  for (const auto& [key, place] : check.settings.places) {
    const bool inner = key.starts_with(map + "muon.") || key.starts_with(map + "adamw.");
    check.require(both || !inner, key, "it is set", "a type of MuonWithAdamW");
  }
  require(!optimizer.adamw_modules, "adamw_modules", both, "MuonWithAdamW");
  if (!both && !alone) return;
  MuonOptions& muon = recipe.optimizer.muon;
  const std::int64_t steps =
      (both ? optimizer.muon.ns_steps : optimizer.ns_steps).value_or(muon.numbers.iterations);
  check.require_number(steps >= 1 && steps <= 100, map + (both ? "muon.ns_steps" : "ns_steps"),
                       steps, "1 to 100");
  muon.numbers.iterations = static_cast<int>(steps);
  muon.numbers.momentum =
      (both ? optimizer.muon.momentum : optimizer.momentum).value_or(muon.numbers.momentum);
  if (!both) return;
  constexpr float kRateBesideAdamW = 0.02F;
  recipe.optimizer.learning_rate = optimizer.muon.lr.value_or(kRateBesideAdamW);
  if (optimizer.adamw_modules) muon.adamw_modules = join(*optimizer.adamw_modules, " ");
  const TtmlAdamW& adamw = optimizer.adamw;
  AdamWAttributes& numbers = recipe.optimizer.adamw;
  muon.adamw_rate = adamw.lr.value_or(muon.adamw_rate);
  numbers.beta1 = adamw.beta1.value_or(numbers.beta1);
  numbers.beta2 = adamw.beta2.value_or(numbers.beta2);
  numbers.epsilon = adamw.epsilon.value_or(numbers.epsilon);
  numbers.weight_decay = adamw.weight_decay.value_or(numbers.weight_decay);
  numbers.amsgrad = adamw.amsgrad.value_or(false);
  recipe.optimizer.stochastic_rounding = adamw.stochastic_rounding.value_or(false);
}

}  // namespace

void apply_optimizer_map(const TtmlChecker& check, Recipe& recipe) {
  const TtmlOptimizer& optimizer = check.training().optimizer;
  const std::string map = "training_config.optimizer.";
  if (optimizer.type) {
    const std::string& type = *optimizer.type;
    // Files with this map are those of 2026, whose AdamW and SGD are one program each.
    recipe.optimizer.kind = type == "MorehAdamW"       ? OptimizerKind::moreh_adamw
                            : type == "AdamW"          ? OptimizerKind::fused_adamw
                            : type.starts_with("Adam") ? OptimizerKind::adamw
                            : type == "NoOp"           ? OptimizerKind::no_op
                            : type == "MuonComposite"  ? OptimizerKind::muon
                            : type == "MuonWithAdamW"  ? OptimizerKind::muon_adamw
                            : type == "SGD"            ? OptimizerKind::fused_sgd
                                                       : OptimizerKind::sgd;
    // The bfloat16 copy that the model computes with is made where a parameter is used.
    if (type == "AdamWFullPrecision") recipe.model.parameters = DataType::float32;
  }
  const auto set = [](float& field, const std::optional<float>& value) {
    if (value) field = *value;
  };
  if (optimizer != TtmlOptimizer{}) {
    // TTML reads nothing but the map, which has defaults of its own.
    recipe.optimizer.learning_rate = 1e-3F;
    recipe.optimizer.adamw.weight_decay = 0.01F;
  }
  set(recipe.optimizer.learning_rate, optimizer.lr);
  set(recipe.optimizer.adamw.beta1, optimizer.beta1);
  set(recipe.optimizer.adamw.beta2, optimizer.beta2);
  set(recipe.optimizer.adamw.epsilon, optimizer.epsilon);
  set(is_sgd(recipe.optimizer.kind) ? recipe.optimizer.sgd.weight_decay
                                    : recipe.optimizer.adamw.weight_decay,
      optimizer.weight_decay);
  set(recipe.optimizer.sgd.momentum,
      is_muon(recipe.optimizer.kind) ? std::nullopt : optimizer.momentum);
  set(recipe.optimizer.sgd.dampening, optimizer.dampening);
  recipe.optimizer.sgd.nesterov = optimizer.nesterov.value_or(false);
  recipe.optimizer.adamw.amsgrad = optimizer.amsgrad.value_or(false);
  recipe.optimizer.stochastic_rounding = optimizer.stochastic_rounding.value_or(false);
  recipe.optimizer.adamw.kahan = optimizer.kahan_summation.value_or(recipe.optimizer.adamw.kahan);
  apply_muon(check, recipe);
  const bool one_program = recipe.optimizer.kind == OptimizerKind::fused_adamw ||
                           recipe.optimizer.kind == OptimizerKind::muon_adamw;
  const bool any_adamw = one_program || recipe.optimizer.kind == OptimizerKind::adamw;
  check.require(!recipe.optimizer.adamw.amsgrad || any_adamw, map + "amsgrad", "true",
                "true with a type of AdamW, AdamWComposite or AdamWFullPrecision");
  check.require(!recipe.optimizer.stochastic_rounding || one_program, map + "stochastic_rounding",
                "true", "true with a type of AdamW: the others have no such rounding");
}

namespace {

void apply_optimizer(const TtmlChecker& check, Recipe& recipe) {
  const TtmlTraining& training = check.training();
  const int kinds =
      int{training.use_moreh_adamw} + int{training.use_kahan_summation} + int{training.use_no_op};
  check.require(kinds <= 1, "training_config.use_moreh_adamw",
                "more than one of use_moreh_adamw, use_kahan_summation and use_no_op is true",
                "one of them");
  if (training.use_moreh_adamw) recipe.optimizer.kind = OptimizerKind::moreh_adamw;
  if (training.use_no_op) recipe.optimizer.kind = OptimizerKind::no_op;
  if (training.use_clip_grad_norm) recipe.optimizer.clip = training.clip_grad_norm_max_norm;
  check.require_number(!training.use_clip_grad_norm || recipe.optimizer.clip > 0,
                       "training_config.clip_grad_norm_max_norm", recipe.optimizer.clip, "above 0");
  apply_optimizer_map(check, recipe);
  check.require(!recipe.optimizer.adamw.kahan || recipe.optimizer.kind == OptimizerKind::adamw ||
                    recipe.optimizer.kind == OptimizerKind::fused_adamw,
                "training_config.optimizer.kahan_summation", "true",
                "true with a type of AdamW, AdamWComposite or AdamWFullPrecision");
}

/// Throws Error for a text that is no regular expression.
void require_pattern(const TtmlChecker& check, const std::string& text) {
  const std::string key = "lora_config.target_modules";
  check.require(text.find(' ') == std::string::npos, key, "'" + text + "'",
                "patterns without blanks");
  try {
    static_cast<void>(Pattern(text, "read " + key));
  } catch (const Error& failure) {
    check.require(false, key, failure.text().value, failure.text().accepted + " for each layer",
                  "--with 'target_modules=[q_linear, kv_linear]'");
  }
}

void apply_adapters(const TtmlChecker& check, Recipe& recipe) {
  const TtmlLora& lora = check.settings.config.lora;
  check.require(lora.rank == 0 || !lora.target_modules.empty(), "lora_config.target_modules",
                "it is empty", "patterns of names of layers",
                "--with 'target_modules=[q_linear, kv_linear]'");
  check.require(lora.rank != 0 || lora.target_modules.empty(), "lora_config.target_modules",
                "it is set", "no such key without a rank", "--with lora_config.rank=8");
  for (const std::string& pattern : lora.target_modules) require_pattern(check, pattern);
  recipe.model.lora.targets = join(lora.target_modules, " ");
}

/// Applies a sequence of schedules.
void apply_sequence(const TtmlChecker& check, Recipe& recipe) {
  const TtmlScheduler& scheduler = check.settings.config.scheduler;
  const std::string map = "scheduler_config.";
  const std::vector<std::string>& names = scheduler.schedulers;
  const bool sequence = recipe.schedule.schedule == autograd::Schedule::sequential;
  check.require(
      !sequence || (!names.empty() && names.size() == scheduler.milestones.size()),
      map + "milestones",
      fmt::format("{} numbers for {} schedulers", scheduler.milestones.size(), names.size()),
      "schedulers: [linear, cosine] and milestones: [100, 900]");
  std::vector<autograd::ScheduledPart> parts;
  for (std::size_t i = 0; i < names.size(); ++i) {
    parts.push_back({autograd::parse_schedule(names[i]), scheduler.milestones[i]});
  }
  recipe.schedule.parts = parts;
}

void apply_schedule(const TtmlChecker& check, Recipe& recipe) {
  const TtmlTraining& training = check.training();
  const TtmlScheduler& scheduler = check.settings.config.scheduler;
  recipe.schedule.schedule = autograd::parse_schedule(training.scheduler_type);
  apply_sequence(check, recipe);
  if (!scheduler.max_lr) return;
  check.require(training.scheduler_type == "identity", "training_config.scheduler_type",
                "'" + training.scheduler_type + "' beside a scheduler_config", "one of them");
  recipe.schedule.schedule = autograd::Schedule::speedrun;
  recipe.optimizer.learning_rate = *scheduler.max_lr;
}

/// Throws Error for keys that nothing here follows.
void require_unset(const TtmlChecker& check) {
  const auto unset = [&](const char* key, bool set, const char* why) {
    check.require(!set, key, "it is set", std::string("no such key: ") + why);
  };
  const TtmlTraining& training = check.training();
  unset("training_config.tokenizer_path",
        training.tokenizer_path.has_value() && training.tokenizer_type == "char",
        "characters need no file");
  const TtmlTransformer& model = check.model();
  unset("transformer_config.model_path",
        model.model_path.has_value() && model.model_type == "deepseek",
        "weights of a deepseek come from a checkpoint");
  check.require_off("transformer_config.attention_bias", model.attention_bias,
                    "products of attention have no bias here");
  check.require(model.bias || model.model_type != "gpt2", "transformer_config.bias", "false",
                "true: a gpt2's norms have a beta here");
}

}  // namespace

Recipe recipe_of(const TtmlSettings& settings) {
  const TtmlChecker check{settings};
  if (settings.trains_mlp()) return mlp_recipe(check);
  const TtmlTraining& training = check.training();
  Recipe recipe;
  check.require(training.scheduler_type != "lambda", "training_config.scheduler_type", "'lambda'",
                "a name: a function is for TTML's library",
                "ttml.schedulers.LambdaScheduler of howard.ttml, or another scheduler_type");
  require_accepted(check);
  apply_keys(check, recipe);
  if (settings.trains_by_rewards()) apply_grpo(check, recipe);
  apply_model(check, recipe);
  require_unset(check);
  require_tiles(check);
  // TTML's tensors are bfloat16, and so are its parameters.
  recipe.model.parameters = DataType::bfloat16;
  recipe.examples = names_examples(training.data_path);
  apply_optimizer(check, recipe);
  apply_forms_of_2026(check, recipe);
  apply_schedule(check, recipe);
  apply_adapters(check, recipe);
  require_used(check, recipe);
  require_rules(check, recipe);
  require_valid(recipe);
  return recipe;
}

std::optional<std::int64_t> vocabulary_of(const TtmlConfig& config) {
  if (config.transformer.vocab_size.value_or(0) == 0) return std::nullopt;
  return ceil_div(*config.transformer.vocab_size, kTileSide) * kTileSide;
}

}  // namespace howard::training
