// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string_view>

#include "engines/training/recipe.h"

namespace howard::training {

/// What holds of a recipe, and how messages say it.
struct Condition {
  bool (*holds)(const Recipe& recipe) = nullptr;  ///< Null: it always holds.
  std::string_view words;
};

namespace settings {

using autograd::Schedule;

inline bool is_llama(const Recipe& r) { return r.model.kind == ModelKind::llama; }
inline bool is_qwen3(const Recipe& r) { return r.model.kind == ModelKind::qwen3; }
inline bool is_deepseek(const Recipe& r) { return r.model.kind == ModelKind::deepseek; }
/// Says whether heads may share keys and values.
inline bool has_groups(const Recipe& r) { return is_llama(r) || is_qwen3(r); }
/// Says whether the model has rotary positions.
inline bool is_rotary(const Recipe& r) { return has_groups(r) || is_deepseek(r); }
inline bool is_mlp(const Recipe& r) { return r.model.kind == ModelKind::mlp; }
inline bool scales(const Recipe& r) { return is_llama(r) && r.model.scaling.factor != 0; }
inline bool uses_adamw(const Recipe& r) {
  return !is_sgd(r.optimizer.kind) && r.optimizer.kind != OptimizerKind::muon &&
         r.optimizer.kind != OptimizerKind::no_op;
}
/// Says whether the optimizer is an AdamW with options.
inline bool has_options(const Recipe& r) {
  return uses_adamw(r) && r.optimizer.kind != OptimizerKind::moreh_adamw;
}
/// Says whether the schedule, or a part of a sequence, is of this kind.
inline bool has_schedule(const Recipe& r, Schedule schedule) {
  return r.schedule.schedule == schedule ||
         std::ranges::find(r.schedule.parts, schedule, &autograd::ScheduledPart::schedule) !=
             r.schedule.parts.end();
}
template <Schedule... schedules>
bool has_any(const Recipe& r) {
  return (has_schedule(r, schedules) || ...);
}
/// Says whether a schedule of all steps has a length of its own; the parts of a sequence have
/// theirs.
inline bool has_length(const Recipe& r) {
  return r.schedule.schedule == Schedule::linear || r.schedule.schedule == Schedule::cosine;
}

inline constexpr Condition kAdamW{uses_adamw, "optimizer adamw"};
inline constexpr Condition kSgd{[](const Recipe& r) { return is_sgd(r.optimizer.kind); },
                                "optimizer sgd"};
inline constexpr Condition kMuon{[](const Recipe& r) { return is_muon(r.optimizer.kind); },
                                 "optimizer muon or muon_adamw"};
inline constexpr Condition kMuonAdamW{
    [](const Recipe& r) { return r.optimizer.kind == OptimizerKind::muon_adamw; },
    "optimizer muon_adamw"};
inline constexpr Condition kLlama{is_llama, "model-type llama"};
inline constexpr Condition kGrouped{has_groups, "model-type llama or qwen3"};
inline constexpr Condition kRotary{is_rotary, "model-type llama, qwen3 or deepseek"};
inline constexpr Condition kQwen3{is_qwen3, "model-type qwen3"};
inline constexpr Condition kDeepSeek{is_deepseek, "model-type deepseek"};
inline constexpr Condition kMlp{is_mlp, "model-type mlp"};
inline constexpr Condition kNanoGpt{[](const Recipe& r) { return !is_rotary(r) && !is_mlp(r); },
                                    "model-type nano_gpt"};
inline bool has_adapters(const Recipe& r) { return r.model.lora.rank > 0; }
inline constexpr Condition kAdapted{has_adapters, "lora-rank R"};
inline constexpr Condition kScaled{scales, "rope-factor F"};
inline constexpr Condition kRamp{[](const Recipe& r) { return uses_adamw(r) && r.beta1.steps > 0; },
                                 "beta1-warmup N"};
inline constexpr Condition kSpeedrun{has_any<Schedule::speedrun>, "schedule speedrun"};
inline constexpr Condition kStep{has_any<Schedule::step>, "schedule step"};
inline constexpr Condition kLinear{has_any<Schedule::linear>, "schedule linear"};
inline constexpr Condition kLinearOrCosine{has_length, "schedule linear or cosine"};
inline constexpr Condition kSpeedrunOrCosine{has_any<Schedule::speedrun, Schedule::cosine>,
                                             "schedule speedrun or cosine"};

}  // namespace settings

}  // namespace howard::training
