// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engines/autograd/optimizers/schedule.h"
#include "engines/device/tensor_spec.h"

namespace howard::training {

enum class ModelKind : std::uint8_t { nano_gpt, llama };

enum class OptimizerKind : std::uint8_t {
  adamw,
  sgd,          ///< Made of elementwise calls.
  fused_sgd,    ///< TTML's SGD of 2026, in one program.
  moreh_adamw,  ///< ttnn's AdamW in one program, without options.
  fused_adamw,  ///< TTML's AdamW of 2026 in one program, with all its options.
  no_op,        ///< Forgets the gradients: a step's forward and backward passes alone.
};

/// Returns whether an optimizer is SGD, in either form.
constexpr bool is_sgd(OptimizerKind kind) {
  return kind == OptimizerKind::sgd || kind == OptimizerKind::fused_sgd;
}

/// Everything that determines a training run except the text and the number of threads, for TTML's
/// nano_gpt or its Llama.
struct Recipe {
  std::int64_t batch = 32;
  std::int64_t sequence = 256;
  std::int64_t width = 384;
  int heads = 6;
  int layers = 6;
  float dropout = 0.2F;
  /// The type of products and activations; parameters are float32.
  DataType dtype = DataType::bfloat16;
  OptimizerKind optimizer = OptimizerKind::adamw;
  float learning_rate = 3e-4F;
  float weight_decay = 0.01F;  ///< For AdamW only.
  autograd::Schedule schedule = autograd::Schedule::identity;
  int accumulate = 1;  ///< The number of batches before each update.
  float clip = 0;      ///< The norm that gradients are clipped to; 0 means no clipping.
  std::uint32_t seed = 5489;
  std::int64_t steps = 1000;  ///< The length of the schedule.

  DataType parameters = DataType::float32;
  float beta1 = 0.9F;  ///< For AdamW, like the next two.
  float beta2 = 0.999F;
  float epsilon = 1e-8F;
  bool kahan = false;                ///< AdamW's sums keep what they round away.
  bool amsgrad = false;              ///< AdamW divides by the largest second moment so far.
  bool stochastic_rounding = false;  ///< fused_adamw rounds bfloat16 parameters by chance.
  float sgd_decay = 0;               ///< SGD's weight decay.
  float momentum = 0;                ///< For SGD, like the next two.
  float dampening = 0;
  bool nesterov = false;
  float least_rate = 0;       ///< For the schedules speedrun and cosine.
  std::int64_t warmup = 100;  ///< For the schedule speedrun, in steps, like `hold`.
  std::int64_t hold = 0;
  std::int64_t beta1_warmup = 0;  ///< AdamW's beta1 goes from `beta1_start` to `beta1_end` over so
                                  ///< many steps; 0 means that it stays `beta1`.
  float beta1_start = 0.85F;
  float beta1_end = 0.95F;
  std::int64_t step_size = 0;  ///< For the schedule step, in steps, like `gamma`.
  float gamma = 0.1F;
  float start_factor = 1;  ///< For the schedule linear, like `end_factor`.
  float end_factor = 0;
  std::int64_t schedule_steps = 0;  ///< For linear and cosine; 0 means all steps.
  std::string schedules;  ///< For the schedule sequential, as parse_schedule_parts() reads it.
  bool memory_efficient = false;     ///< Blocks run forward once more in the backward pass.
  bool tied = false;                 ///< The head's weight is the token table.
  bool fixed_positions = false;      ///< Sinusoids; for a nano_gpt only.
  bool composite_layernorm = false;  ///< For a nano_gpt only.
  bool fused_attention = false;      ///< Attention by TTML's kernels of 2026.

  ModelKind model = ModelKind::nano_gpt;
  int groups = 3;  ///< The heads of keys and values; for a llama, like all that follows.
  std::int64_t feed_forward = 0;   ///< 0 means 8/3 of the width, up to a multiple of 256.
  bool composite_rmsnorm = false;  ///< RMS norms made of elementwise calls and sums.
  bool fused_swiglu = false;       ///< The feed-forward part in one program forward.
  float theta = 10000;             ///< The base of the rotary angles.
  float rope_factor = 0;           ///< Low frequencies are divided by this; 0 means that none are.
  float rope_high = 4;
  float rope_low = 1;
  std::int64_t rope_length = 0;  ///< The frequencies were made for sequences of this length.

  friend bool operator==(const Recipe&, const Recipe&) = default;
};

/// Calls visit(name, field) for each field, with its name in files and on the command line.
template <class RecipeType, class Visit>
void for_each_field(RecipeType& recipe, Visit&& visit) {
  visit("batch", recipe.batch);
  visit("sequence", recipe.sequence);
  visit("width", recipe.width);
  visit("heads", recipe.heads);
  visit("layers", recipe.layers);
  visit("dropout", recipe.dropout);
  visit("dtype", recipe.dtype);
  visit("optimizer", recipe.optimizer);
  visit("learning-rate", recipe.learning_rate);
  visit("weight-decay", recipe.weight_decay);
  visit("schedule", recipe.schedule);
  visit("accumulate", recipe.accumulate);
  visit("clip", recipe.clip);
  visit("seed", recipe.seed);
  visit("steps", recipe.steps);
  visit("parameters", recipe.parameters);
  visit("beta1", recipe.beta1);
  visit("beta2", recipe.beta2);
  visit("epsilon", recipe.epsilon);
  visit("kahan", recipe.kahan);
  visit("amsgrad", recipe.amsgrad);
  visit("stochastic-rounding", recipe.stochastic_rounding);
  visit("sgd-decay", recipe.sgd_decay);
  visit("momentum", recipe.momentum);
  visit("dampening", recipe.dampening);
  visit("nesterov", recipe.nesterov);
  visit("least-rate", recipe.least_rate);
  visit("warmup", recipe.warmup);
  visit("hold", recipe.hold);
  visit("beta1-warmup", recipe.beta1_warmup);
  visit("beta1-start", recipe.beta1_start);
  visit("beta1-end", recipe.beta1_end);
  visit("step-size", recipe.step_size);
  visit("gamma", recipe.gamma);
  visit("start-factor", recipe.start_factor);
  visit("end-factor", recipe.end_factor);
  visit("schedule-steps", recipe.schedule_steps);
  visit("schedules", recipe.schedules);
  visit("memory-efficient", recipe.memory_efficient);
  visit("tied", recipe.tied);
  visit("fixed-positions", recipe.fixed_positions);
  visit("composite-layernorm", recipe.composite_layernorm);
  visit("fused-attention", recipe.fused_attention);
  visit("model-type", recipe.model);
  visit("groups", recipe.groups);
  visit("feed-forward", recipe.feed_forward);
  visit("composite-rmsnorm", recipe.composite_rmsnorm);
  visit("fused-swiglu", recipe.fused_swiglu);
  visit("theta", recipe.theta);
  visit("rope-factor", recipe.rope_factor);
  visit("rope-high", recipe.rope_high);
  visit("rope-low", recipe.rope_low);
  visit("rope-length", recipe.rope_length);
}

/// Sets one field from its text. Throws Error for an unknown name or an invalid value.
void set_field(Recipe& recipe, std::string_view name, std::string_view value);
/// Returns the field's text, which set_field() can read back. Throws Error for an unknown name.
std::string field_text(const Recipe& recipe, std::string_view name);

/// Returns the learning rate of step `step`, from 1.
float learning_rate_of(const Recipe& recipe, std::int64_t step);
/// Returns AdamW's beta1 of step `step`, from 1.
float beta1_of(const Recipe& recipe, std::int64_t step);

/// Throws Error, naming the field, for sizes below 1, a rate that is not positive, a dropout
/// outside [0, 1), and a data type that cannot be computed with.
void require_valid(const Recipe& recipe);

}  // namespace howard::training
