// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "engines/training/deepseek_settings.h"
#include "engines/training/recipe.h"
#include "engines/training/setting.h"
#include "engines/training/setting_conditions.h"

namespace howard::training {

namespace settings {

template <class RecipeType, class Visit>
void visit_model(RecipeType& recipe, Visit& visit) {
  auto& model = recipe.model;
  visit({"memory-efficient"}, model.memory_efficient);
  visit({"tied"}, model.tied);
  visit({"fixed-positions", "", {}, {}, kNanoGpt}, model.fixed_positions);
  visit({"composite-layernorm",
         "transformer_config.experimental.use_composite_layernorm",
         {},
         {},
         kNanoGpt},
        model.composite_layernorm);
  visit({"fused-attention", "transformer_config.experimental.use_fused_attention"},
        model.fused_attention);
  visit({"model-type"}, model.kind);
  visit({"groups",
         "transformer_config.num_groups",
         kHeads,
         {[](const Recipe& r) { return !has_groups(r) || r.model.heads % r.model.groups == 0; },
          "a divisor of the heads"},
         kGrouped},
        model.groups);
  visit({"head-width", "transformer_config.head_dim", kFromZero, {}, kQwen3}, model.head_width);
  visit({"feed-forward", "transformer_config.intermediate_dim", kFromZero, {}, kRotary},
        model.feed_forward);
  visit({"composite-rmsnorm",
         "transformer_config.experimental.use_composite_rmsnorm",
         {},
         {[](const Recipe& r) { return !r.model.composite_rms_norm || is_llama(r); },
          "true for a llama"}},
        model.composite_rms_norm);
  visit(
      {"fused-swiglu",
       "transformer_config.experimental.use_fused_swiglu",
       {},
       {[](const Recipe& r) { return !r.model.fused_swiglu || is_llama(r); }, "true for a llama"}},
      model.fused_swiglu);
  visit({"theta", "transformer_config.theta", kPositive, {}, kRotary}, model.theta);
  visit({"rope-factor", "transformer_config.rope_scaling.scaling_factor", kFromZero, {}, kLlama},
        model.scaling.factor);
  visit({"rope-high",
         "transformer_config.rope_scaling.high_freq_factor",
         {},
         {[](const Recipe& r) {
            return !scales(r) ||
                   (r.model.scaling.low > 0 && r.model.scaling.high > r.model.scaling.low);
          },
          "above rope-low, which is above 0"},
         kScaled},
        model.scaling.high);
  visit({"rope-low", "transformer_config.rope_scaling.low_freq_factor", {}, {}, kScaled},
        model.scaling.low);
  visit({"rope-length",
         "transformer_config.rope_scaling.original_context_length",
         kFromZero,
         {[](const Recipe& r) { return !scales(r) || r.model.scaling.length > 0; },
          "1 or more with a rope-factor"},
         kScaled},
        model.scaling.length);
}

template <class RecipeType, class Visit>
void visit_mlp(RecipeType& recipe, Visit& visit) {
  auto& model = recipe.model;
  visit({"hidden",
         "",
         {},
         {[](const Recipe& r) { return is_mlp(r) == !r.model.hidden.empty(); },
          "widths of layers, for an mlp"},
         kMlp},
        model.hidden);
}

template <class RecipeType, class Visit>
void visit_adapters(RecipeType& recipe, Visit& visit) {
  auto& model = recipe.model;
  visit({"lora-rank",
         "lora_config.rank",
         {.least = 0, .most = 1 << 16},
         {[](const Recipe& r) {
            return !has_adapters(r) || (has_groups(r) && !r.model.fused_swiglu);
          },
          "0, or a llama or a qwen3 without fused-swiglu"}},
        model.lora.rank);
  visit({"lora-alpha", "lora_config.alpha", kPositive, {}, kAdapted}, model.lora.alpha);
  visit({"lora-stabilized", "lora_config.use_rslora", {}, {}, kAdapted},
        model.lora.rank_stabilized);
  visit({"lora-targets",
         "",
         {},
         {[](const Recipe& r) { return has_adapters(r) == !r.model.lora.targets.empty(); },
          "patterns of names of layers, with a lora-rank"}},
        model.lora.targets);
}

template <class RecipeType, class Visit>
void visit_schedule(RecipeType& recipe, Visit& visit) {
  auto& schedule = recipe.schedule;
  visit({"least-rate", "scheduler_config.min_lr", kFromZero, {}, kSpeedrunOrCosine},
        recipe.least_rate);
  visit({"warmup", "scheduler_config.warmup_steps", kFromZero, {}, kSpeedrun}, schedule.warmup);
  visit({"hold", "scheduler_config.hold_steps", kFromZero, {}, kSpeedrun}, schedule.hold);
  visit({"beta1-warmup", "scheduler_config.beta1_warmup_steps", kFromZero, {}, kAdamW},
        recipe.beta1.steps);
  visit({"beta1-start", "scheduler_config.beta1_start", kShare, {}, kRamp}, recipe.beta1.start);
  visit({"beta1-end", "scheduler_config.beta1_end", kShare, {}, kRamp}, recipe.beta1.end);
  visit({"step-size",
         "scheduler_config.step_size",
         kFromZero,
         {[](const Recipe& r) { return r.schedule.size > 0 || !has_schedule(r, Schedule::step); },
          "1 or more with the schedule step"},
         kStep},
        schedule.size);
  visit({"gamma", "scheduler_config.gamma", kPositive, {}, kStep}, schedule.gamma);
  visit({"start-factor", "scheduler_config.start_factor", kFromZero, {}, kLinear}, schedule.start);
  visit({"end-factor", "scheduler_config.end_factor", kFromZero, {}, kLinear}, schedule.end);
  visit({"schedule-steps", "scheduler_config.total_steps", kFromZero, {}, kLinearOrCosine},
        schedule.length);
  visit({"schedules",
         "",
         {},
         {[](const Recipe& r) {
            return (r.schedule.schedule == Schedule::sequential) == !r.schedule.parts.empty();
          },
          "linear:100,cosine:900, with the schedule sequential"}},
        schedule.parts);
}

template <class RecipeType, class Visit>
void visit_optimizer(RecipeType& recipe, Visit& visit) {
  auto& adamw = recipe.optimizer.adamw;
  auto& sgd = recipe.optimizer.sgd;
  constexpr std::string_view kWithOptions = "true with adamw or fused_adamw";
  visit({"beta1",
         "training_config.beta1",
         kShare,
         {},
         {[](const Recipe& r) { return uses_adamw(r) && r.beta1.steps == 0; },
          "optimizer adamw without beta1-warmup"}},
        adamw.beta1);
  visit({"beta2", "training_config.beta2", kShare, {}, kAdamW}, adamw.beta2);
  visit({"epsilon", "training_config.eps", kFromZero, {}, kAdamW}, adamw.epsilon);
  visit(
      {"kahan",
       "training_config.use_kahan_summation",
       {},
       {[](const Recipe& r) { return !r.optimizer.adamw.kahan || has_options(r); }, kWithOptions}},
      adamw.kahan);
  visit({"amsgrad",
         "",
         {},
         {[](const Recipe& r) { return !r.optimizer.adamw.amsgrad || has_options(r); },
          kWithOptions}},
        adamw.amsgrad);
  visit({"stochastic-rounding",
         "",
         {},
         {[](const Recipe& r) {
            return !r.optimizer.stochastic_rounding ||
                   ((r.optimizer.kind == OptimizerKind::fused_adamw ||
                     r.optimizer.kind == OptimizerKind::muon_adamw) &&
                    r.model.parameters == DataType::bfloat16);
          },
          "true with fused_adamw and parameters of bfloat16"}},
        recipe.optimizer.stochastic_rounding);
  visit({"sgd-decay", "", kFromZero, {}, kSgd}, sgd.weight_decay);
  visit({"momentum", "", kFromZero, {}, kSgd}, sgd.momentum);
  visit({"dampening", "", {}, {}, kSgd}, sgd.dampening);
  visit({"nesterov",
         "",
         {},
         {[](const Recipe& r) {
            const SgdAttributes& own = r.optimizer.sgd;
            return !own.nesterov || (own.momentum > 0 && own.dampening == 0);
          },
          "true with a momentum and without dampening"},
         kSgd},
        sgd.nesterov);
  auto& muon = recipe.optimizer.muon;
  visit({"muon-momentum", "", kFromZero, {}, kMuon}, muon.numbers.momentum);
  visit({"muon-iterations", "", kCount, {}, kMuon}, muon.numbers.iterations);
  visit({"adamw-rate", "", kPositive, {}, kMuonAdamW}, muon.adamw_rate);
  visit({"adamw-modules", "", {}, {}, kMuonAdamW}, muon.adamw_modules);
}

}  // namespace settings

/// Calls visitor(setting, field) for each setting, in the order of a checkpoint.
template <class RecipeType, class Visitor>
void for_each_setting(RecipeType& recipe, Visitor&& visitor) {
  using namespace settings;
  const auto visit = [&](const Setting& setting, auto& field) { visitor(setting, field); };
  auto& model = recipe.model;
  visit({"batch", "training_config.batch_size", kCount}, model.batch);
  visit({"sequence", "transformer_config.max_sequence_length", kColumns}, model.sequence);
  visit({"width", "transformer_config.embedding_dim", kColumns}, model.width);
  visit({"heads",
         "transformer_config.num_heads",
         kHeads,
         {[](const Recipe& r) {
            if (is_deepseek(r)) return true;
            if (is_qwen3(r) && r.model.head_width > 0) return r.model.head_width % 2 == 0;
            return r.model.width % r.model.heads == 0 &&
                   (!has_groups(r) || r.model.width / r.model.heads % 2 == 0);
          },
          "a divisor of the width; for a llama or a qwen3, heads of an even width"}},
        model.heads);
  visit({"layers", "transformer_config.num_blocks", kCount}, model.layers);
  visit({"dropout",
         "transformer_config.dropout_prob",
         kShare,
         {[](const Recipe& r) { return (!is_qwen3(r) && !is_deepseek(r)) || r.model.dropout == 0; },
          "0 for a qwen3 or a deepseek, which drop nothing"}},
        model.dropout);
  visit({"dtype"}, model.compute);
  visit({"optimizer"}, recipe.optimizer.kind);
  visit({"learning-rate", "training_config.learning_rate", kPositive},
        recipe.optimizer.learning_rate);
  visit({"weight-decay", "training_config.weight_decay", kFromZero, {}, kAdamW},
        recipe.optimizer.adamw.weight_decay);
  visit({"schedule"}, recipe.schedule.schedule);
  visit({"accumulate", "training_config.gradient_accumulation_steps", kCount}, recipe.accumulate);
  visit({"clip", "", kFromZero}, recipe.optimizer.clip);
  visit({"seed", "training_config.seed", kSeed}, recipe.seed);
  visit({"steps", "training_config.max_steps", kCount}, recipe.schedule.steps);
  visit({"parameters",
         "",
         {},
         {[](const Recipe& r) {
            return r.model.parameters == DataType::float32 || r.model.compute == DataType::bfloat16;
          },
          "float32 with a dtype of float32"}},
        model.parameters);
  visit_optimizer(recipe, visit);
  visit_schedule(recipe, visit);
  visit_model(recipe, visit);
  visit_adapters(recipe, visit);
  visit_mlp(recipe, visit);
  visit_deepseek(recipe, visit);
  visit({"examples"}, recipe.examples);
  visit({"divided-table",
         "",
         {},
         {[](const Recipe& r) { return !r.model.divided_table || is_llama(r); },
          "true for a llama, whose devices divide its token table"}},
        model.divided_table);
}

}  // namespace howard::training
