// SPDX-License-Identifier: Apache-2.0
#include "engines/training/config/ttml_recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "base/units.h"

namespace howard::training {
namespace {

using Names = std::initializer_list<std::string_view>;

/// Holds what the files say, and can refuse it.
struct TtmlChecker {
  const TtmlSettings& settings;

  const TtmlTraining& training() const { return settings.config.training; }
  const TtmlTransformer& model() const { return settings.config.transformer; }

  void require(bool holds, const std::string& key, const std::string& value,
               const std::string& accepted, const std::string& hint = "") const {
    if (!holds) refuse_ttml(settings, key, value, accepted, hint);
  }
  void require_word(const std::string& key, const std::string& value, Names words) const {
    require(std::ranges::find(words, value) != words.end(), key, "'" + value + "'",
            fmt::format("{}", fmt::join(words, ", ")));
  }
  template <class Number>
  void require_number(bool holds, const std::string& key, Number value,
                      const std::string& accepted) const {
    require(holds, key, fmt::format("{}", value), accepted);
  }
  void require_off(const std::string& key, bool value, const std::string& why) const {
    require(!value, key, "true", "false: " + why);
  }
};

void require_ranges(const TtmlChecker& check) {
  const TtmlTraining& training = check.training();
  const auto positive = [&](const char* key, std::int64_t value, std::int64_t most) {
    check.require_number(value >= 1 && value <= most, key, value, fmt::format("1 to {}", most));
  };
  constexpr std::int64_t kMost = 1'000'000'000;
  positive("training_config.batch_size", training.batch_size, kMost);
  positive("training_config.num_epochs", training.num_epochs, kMost);
  positive("training_config.max_steps", training.max_steps, kMost);
  positive("training_config.gradient_accumulation_steps", training.gradient_accumulation_steps,
           kMost);
  positive("training_config.model_save_interval", training.model_save_interval, kMost);
  if (training.eval_every) positive("training_config.eval_every", *training.eval_every, kMost);
  if (training.validation_batch_size) {
    positive("training_config.validation_batch_size", *training.validation_batch_size, kMost);
  }
  check.require_number(std::in_range<std::uint32_t>(training.seed), "training_config.seed",
                       training.seed, "0 to 4294967295");
  const TtmlTransformer& model = check.model();
  positive("transformer_config.num_heads", model.num_heads, 1 << 20);
  positive("transformer_config.num_blocks", model.num_blocks, kMost);
  positive("transformer_config.embedding_dim", model.embedding_dim, 1 << 24);
  positive("transformer_config.max_sequence_length", model.max_sequence_length, 1 << 24);
  if (model.vocab_size) positive("transformer_config.vocab_size", *model.vocab_size, 1 << 24);
  positive("transformer_config.num_groups", model.num_groups, 1 << 20);
  if (model.intermediate_dim) {
    positive("transformer_config.intermediate_dim", *model.intermediate_dim, 1 << 24);
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
  check.require_number(model.embedding_dim % model.num_heads == 0, "transformer_config.num_heads",
                       model.num_heads,
                       fmt::format("a divisor of the embedding_dim {}", model.embedding_dim));
  if (model.model_type != "llama") return;
  check.require_number(model.num_heads % model.num_groups == 0, "transformer_config.num_groups",
                       model.num_groups, fmt::format("a divisor of the {} heads", model.num_heads));
  const std::int64_t width = model.embedding_dim / model.num_heads;
  check.require_number(width % kTileSide == 0 && width <= 256, "transformer_config.num_heads",
                       model.num_heads,
                       fmt::format("heads of 32, 64 ... 256 of the {} columns, not of {}",
                                   model.embedding_dim, width));
}

void apply_sizes(const TtmlChecker& check, Recipe& recipe) {
  const TtmlTransformer& model = check.model();
  check.require_word("transformer_config.model_type", model.model_type, {"gpt2", "llama"});
  const std::string also = check.training().model_type.value_or(model.model_type);
  check.require(also == model.model_type, "training_config.model_type", "'" + also + "'",
                "the model_type of transformer_config, which counts: " + model.model_type);
  check.require_word("transformer_config.runner_type", model.runner_type,
                     {"default", "memory_efficient"});
  check.require_word("transformer_config.weight_tying", model.weight_tying,
                     {"disabled", "enabled"});
  check.require_word("transformer_config.positional_embedding_type",
                     model.positional_embedding_type, {"trainable", "fixed"});
  const bool llama = model.model_type == "llama";
  recipe.model = llama ? ModelKind::llama : ModelKind::nano_gpt;
  recipe.sequence = model.max_sequence_length;
  recipe.width = model.embedding_dim;
  recipe.heads = static_cast<int>(model.num_heads);
  recipe.layers = static_cast<int>(model.num_blocks);
  recipe.dropout = model.dropout_prob.value_or(llama ? 0.0F : 0.2F);
  check.require_number(recipe.dropout >= 0 && recipe.dropout < 1, "transformer_config.dropout_prob",
                       recipe.dropout, "0 up to 1, without 1");
  recipe.memory_efficient = model.runner_type == "memory_efficient";
  recipe.tied = model.weight_tying == "enabled";
  recipe.fixed_positions = !llama && model.positional_embedding_type == "fixed";
  recipe.composite_layernorm = !llama && model.use_composite_layernorm;
  recipe.composite_rmsnorm = llama && model.use_composite_rmsnorm;
  recipe.fused_swiglu = llama && model.use_fused_swiglu;
  recipe.fused_attention = model.use_fused_attention;
  recipe.groups = static_cast<int>(model.num_groups);
  recipe.feed_forward = model.intermediate_dim.value_or(0);
  recipe.theta = model.theta;
  const TtmlRopeScaling& scaling = model.rope_scaling;
  const std::string rope = "transformer_config.rope_scaling.";
  const bool scales = scaling.scaling_factor != 0;
  check.require_number(scaling.scaling_factor >= 0, rope + "scaling_factor", scaling.scaling_factor,
                       "0 (off) or more");
  check.require_number(!scales || scaling.low_freq_factor > 0, rope + "low_freq_factor",
                       scaling.low_freq_factor, "above 0");
  check.require_number(!scales || scaling.high_freq_factor > scaling.low_freq_factor,
                       rope + "high_freq_factor", scaling.high_freq_factor,
                       "above low_freq_factor");
  check.require_number(!scales || scaling.original_context_length > 0,
                       rope + "original_context_length", scaling.original_context_length,
                       "1 or more");
  recipe.rope_factor = scaling.scaling_factor;
  recipe.rope_high = scaling.high_freq_factor;
  recipe.rope_low = scaling.low_freq_factor;
  recipe.rope_length = scaling.original_context_length;
}

/// Says which keys have another value than their default, as files that hold all keys do.
class ChangedKeys {
 public:
  explicit ChangedKeys(const TtmlConfig& config)
      : values_(ttml_values(config)), defaults_(ttml_values({})) {}

  bool has(const std::string& key) const { return value(key) != text_in(defaults_, key); }
  std::string value(const std::string& key) const { return text_in(values_, key); }

 private:
  using Texts = std::map<std::string, std::string>;

  static std::string text_in(const Texts& texts, const std::string& key) {
    const auto found = texts.find(key);
    return found == texts.end() ? std::string() : found->second;
  }

  Texts values_, defaults_;
};

/// Throws Error for keys of the other kind of model, which TTML would silently ignore; they may be
/// there with their default values.
void require_own_keys(const TtmlChecker& check) {
  const ChangedKeys changed(check.settings.config);
  const bool llama = check.model().model_type == "llama";
  const Names of_llama{"num_groups",
                       "intermediate_dim",
                       "theta",
                       "rope_scaling.scaling_factor",
                       "rope_scaling.high_freq_factor",
                       "rope_scaling.low_freq_factor",
                       "rope_scaling.original_context_length",
                       "experimental.use_composite_rmsnorm",
                       "experimental.use_fused_swiglu"};
  const Names of_gpt2{"positional_embedding_type", "experimental.use_composite_layernorm"};
  for (const std::string_view name : llama ? of_gpt2 : of_llama) {
    const std::string key = "transformer_config." + std::string(name);
    check.require(!changed.has(key), key, changed.value(key),
                  "no such key in a model_type: " + check.model().model_type);
  }
}

/// Applies `type` and the numbers of the map `optimizer`, which take precedence over the single
/// keys.
void apply_optimizer_map(const TtmlChecker& check, Recipe& recipe) {
  const TtmlOptimizer& optimizer = check.training().optimizer;
  const std::string map = "training_config.optimizer.";
  if (optimizer.type) {
    check.require_word(map + "type", *optimizer.type,
                       {"AdamW", "AdamWComposite", "AdamWFullPrecision", "MorehAdamW", "SGD",
                        "SGDComposite", "NoOp"});
    const std::string& type = *optimizer.type;
    // Files with this map are those of 2026, whose AdamW and SGD are one program each.
    recipe.optimizer = type == "MorehAdamW"       ? OptimizerKind::moreh_adamw
                       : type == "AdamW"          ? OptimizerKind::fused_adamw
                       : type.starts_with("Adam") ? OptimizerKind::adamw
                       : type == "NoOp"           ? OptimizerKind::no_op
                       : type == "SGD"            ? OptimizerKind::fused_sgd
                                                  : OptimizerKind::sgd;
    // The bfloat16 copy that the model computes with is made where a parameter is used.
    if (type == "AdamWFullPrecision") recipe.parameters = DataType::float32;
  }
  const auto set = [](float& field, const std::optional<float>& value) {
    if (value) field = *value;
  };
  set(recipe.learning_rate, optimizer.lr);
  set(recipe.beta1, optimizer.beta1);
  set(recipe.beta2, optimizer.beta2);
  set(recipe.epsilon, optimizer.epsilon);
  set(is_sgd(recipe.optimizer) ? recipe.sgd_decay : recipe.weight_decay, optimizer.weight_decay);
  set(recipe.momentum, optimizer.momentum);
  set(recipe.dampening, optimizer.dampening);
  recipe.nesterov = optimizer.nesterov.value_or(false);
  recipe.amsgrad = optimizer.amsgrad.value_or(false);
  recipe.stochastic_rounding = optimizer.stochastic_rounding.value_or(false);
  recipe.kahan = optimizer.kahan_summation.value_or(recipe.kahan);
  const bool one_program = recipe.optimizer == OptimizerKind::fused_adamw;
  const bool any_adamw = one_program || recipe.optimizer == OptimizerKind::adamw;
  check.require(!recipe.amsgrad || any_adamw, map + "amsgrad", "true",
                "true with a type of AdamW, AdamWComposite or AdamWFullPrecision");
  check.require(!recipe.stochastic_rounding || one_program, map + "stochastic_rounding", "true",
                "true with a type of AdamW: the others have no such rounding");
}

void apply_optimizer(const TtmlChecker& check, Recipe& recipe) {
  const TtmlTraining& training = check.training();
  recipe.learning_rate = training.learning_rate;
  recipe.weight_decay = training.weight_decay;
  recipe.beta1 = training.beta1;
  recipe.beta2 = training.beta2;
  recipe.epsilon = training.eps;
  const int kinds =
      int{training.use_moreh_adamw} + int{training.use_kahan_summation} + int{training.use_no_op};
  check.require(kinds <= 1, "training_config.use_moreh_adamw",
                "more than one of use_moreh_adamw, use_kahan_summation and use_no_op is true",
                "one of them");
  recipe.kahan = training.use_kahan_summation;
  if (training.use_moreh_adamw) recipe.optimizer = OptimizerKind::moreh_adamw;
  if (training.use_no_op) recipe.optimizer = OptimizerKind::no_op;
  if (training.use_clip_grad_norm) recipe.clip = training.clip_grad_norm_max_norm;
  check.require_number(!training.use_clip_grad_norm || recipe.clip > 0,
                       "training_config.clip_grad_norm_max_norm", recipe.clip, "above 0");
  apply_optimizer_map(check, recipe);
  check.require(!recipe.kahan || recipe.optimizer == OptimizerKind::adamw ||
                    recipe.optimizer == OptimizerKind::fused_adamw,
                "training_config.optimizer.kahan_summation", "true",
                "true with a type of AdamW, AdamWComposite or AdamWFullPrecision");
}

/// Throws Error for a key of scheduler_config that the scheduler_type does not use.
void require_used(const TtmlChecker& check, const Recipe& recipe) {
  const auto uses = [&](Names types) {
    const auto named = [&](const std::string& type) {
      return std::ranges::find(types, type) != types.end();
    };
    return named(std::string(name_of(recipe.schedule))) ||
           std::ranges::any_of(check.settings.config.scheduler.schedulers, named);
  };
  const ChangedKeys changed(check.settings.config);
  const auto require = [&](const char* key, Names types) {
    const std::string name = std::string("scheduler_config.") + key;
    check.require(!changed.has(name) || uses(types), name, changed.value(name),
                  fmt::format("no such key with a scheduler_type of {}: it is for {}",
                              name_of(recipe.schedule), fmt::join(types, ", ")));
  };
  require("step_size", {"step"});
  require("gamma", {"step"});
  require("start_factor", {"linear"});
  require("end_factor", {"linear"});
  require("schedulers", {"sequential"});
  require("milestones", {"sequential"});
  const bool speedrun = check.settings.config.scheduler.max_lr.has_value();
  for (const char* const key :
       {"warmup_steps", "hold_steps", "beta1_warmup_steps", "beta1_start", "beta1_end"}) {
    const std::string name = std::string("scheduler_config.") + key;
    check.require(!changed.has(name) || speedrun, name, changed.value(name),
                  "it beside a max_lr alone");
  }
  const std::string least = "scheduler_config.min_lr";
  check.require(!changed.has(least) || speedrun || uses({"cosine"}), least, changed.value(least),
                "it beside a max_lr, or with a scheduler_type of cosine");
  const bool whole = recipe.schedule == autograd::Schedule::linear ||
                     recipe.schedule == autograd::Schedule::cosine;
  const std::string total = "scheduler_config.total_steps";
  check.require(!changed.has(total) || whole, total, changed.value(total),
                "no such key but for linear and cosine; in a sequence milestones say it");
}

/// Applies the schedules of TTML's library.
void apply_library_schedule(const TtmlChecker& check, Recipe& recipe) {
  const TtmlScheduler& scheduler = check.settings.config.scheduler;
  const std::string map = "scheduler_config.";
  const auto positive = [&](const std::string& key, std::int64_t value) {
    check.require_number(value >= 1, map + key, value, "1 or more");
  };
  const std::vector<std::string>& names = scheduler.schedulers;
  const bool sequence = recipe.schedule == autograd::Schedule::sequential;
  check.require(
      !sequence || (!names.empty() && names.size() == scheduler.milestones.size()),
      map + "milestones",
      fmt::format("{} numbers for {} schedulers", scheduler.milestones.size(), names.size()),
      "schedulers: [linear, cosine] and milestones: [100, 900]");
  std::vector<autograd::ScheduledPart> parts;
  for (std::size_t i = 0; i < names.size(); ++i) {
    check.require_word(map + "schedulers", names[i],
                       {"identity", "warmup_linear", "step", "linear", "cosine"});
    positive("milestones", scheduler.milestones.at(i));
    parts.push_back({autograd::parse_schedule(names[i]), scheduler.milestones[i]});
  }
  recipe.schedules = autograd::text_of(parts);
  const auto is_step = [](const auto& part) { return part.schedule == autograd::Schedule::step; };
  const bool steps =
      recipe.schedule == autograd::Schedule::step || std::ranges::any_of(parts, is_step);
  check.require(!steps || scheduler.step_size, map + "step_size", "it is not set",
                "1 or more with a scheduler of step");
  if (scheduler.step_size) positive("step_size", *scheduler.step_size);
  if (scheduler.total_steps) positive("total_steps", *scheduler.total_steps);
  recipe.step_size = scheduler.step_size.value_or(0);
  recipe.gamma = scheduler.gamma.value_or(recipe.gamma);
  check.require_number(recipe.gamma > 0, map + "gamma", recipe.gamma, "above 0");
  recipe.start_factor = scheduler.start_factor.value_or(recipe.start_factor);
  recipe.end_factor = scheduler.end_factor.value_or(recipe.end_factor);
  for (const auto& [key, factor] : {std::pair("start_factor", recipe.start_factor),
                                    std::pair("end_factor", recipe.end_factor)}) {
    check.require_number(factor >= 0, map + key, factor, "0 or more");
  }
  recipe.schedule_steps = scheduler.total_steps.value_or(0);
  recipe.least_rate = scheduler.min_lr;
}

void apply_schedule(const TtmlChecker& check, Recipe& recipe) {
  const TtmlTraining& training = check.training();
  const TtmlScheduler& scheduler = check.settings.config.scheduler;
  check.require(training.scheduler_type != "lambda", "training_config.scheduler_type", "'lambda'",
                "a name: a function is for TTML's library",
                "ttml.schedulers.LambdaScheduler of howard.ttml, or another scheduler_type");
  check.require_word("training_config.scheduler_type", training.scheduler_type,
                     {"identity", "warmup_linear", "step", "linear", "cosine", "sequential"});
  recipe.schedule = autograd::parse_schedule(training.scheduler_type);
  require_used(check, recipe);
  apply_library_schedule(check, recipe);
  check.require_number(scheduler.beta1_warmup_steps >= 0, "scheduler_config.beta1_warmup_steps",
                       scheduler.beta1_warmup_steps, "0 (off) or more");
  if (!scheduler.max_lr) return;
  recipe.beta1_warmup = scheduler.beta1_warmup_steps;
  recipe.beta1_start = scheduler.beta1_start;
  recipe.beta1_end = scheduler.beta1_end;
  for (const auto& [key, beta] : {std::pair("beta1_start", scheduler.beta1_start),
                                  std::pair("beta1_end", scheduler.beta1_end)}) {
    check.require_number(beta >= 0 && beta < 1, std::string("scheduler_config.") + key, beta,
                         "0 up to 1, without 1");
  }
  check.require(training.scheduler_type == "identity", "training_config.scheduler_type",
                "'" + training.scheduler_type + "' beside a scheduler_config", "one of them");
  check.require_number(scheduler.warmup_steps >= 0, "scheduler_config.warmup_steps",
                       scheduler.warmup_steps, "0 or more");
  check.require_number(scheduler.hold_steps >= 0, "scheduler_config.hold_steps",
                       scheduler.hold_steps, "0 or more");
  recipe.schedule = autograd::Schedule::speedrun;
  recipe.learning_rate = *scheduler.max_lr;
  recipe.least_rate = scheduler.min_lr;
  recipe.warmup = scheduler.warmup_steps;
  recipe.hold = scheduler.hold_steps;
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
}

}  // namespace

Recipe recipe_of(const TtmlSettings& settings) {
  const TtmlChecker check{settings};
  const TtmlTraining& training = check.training();
  Recipe recipe;
  require_ranges(check);
  apply_sizes(check, recipe);
  require_own_keys(check);
  require_unset(check);
  require_tiles(check);
  recipe.batch = training.batch_size;
  recipe.accumulate = static_cast<int>(training.gradient_accumulation_steps);
  recipe.steps = training.max_steps;
  recipe.seed = static_cast<std::uint32_t>(training.seed);
  // TTML's tensors are bfloat16, and so are its parameters.
  recipe.parameters = DataType::bfloat16;
  apply_optimizer(check, recipe);
  apply_schedule(check, recipe);
  check.require_word("training_config.tokenizer_type", training.tokenizer_type, {"char", "bpe"});
  require_valid(recipe);
  return recipe;
}

std::optional<std::int64_t> vocabulary_of(const TtmlConfig& config) {
  if (!config.transformer.vocab_size) return std::nullopt;
  return ceil_div(*config.transformer.vocab_size, kTileSide) * kTileSide;
}

}  // namespace howard::training
