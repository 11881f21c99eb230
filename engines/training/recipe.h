// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engines/autograd/optimizers/muon.h"
#include "engines/autograd/optimizers/schedule.h"
#include "engines/models/model_options.h"
#include "engines/program/program.h"

namespace howard::training {

using models::ModelKind;
using models::ScoreFunction;

enum class OptimizerKind : std::uint8_t {
  adamw,
  sgd,          ///< Made of elementwise calls.
  fused_sgd,    ///< TTML's SGD of 2026, in one program.
  moreh_adamw,  ///< ttnn's AdamW in one program, without options.
  fused_adamw,  ///< TTML's AdamW of 2026 in one program, with all its options.
  muon,         ///< TTML's MuonComposite.
  muon_adamw,   ///< TTML's MuonWithAdamW: Muon for most matrices, fused_adamw for the rest.
  no_op,        ///< Forgets the gradients: a step's forward and backward passes alone.
};

/// Returns whether an optimizer is SGD, in either form.
constexpr bool is_sgd(OptimizerKind kind) {
  return kind == OptimizerKind::sgd || kind == OptimizerKind::fused_sgd;
}

/// Returns whether Muon updates parameters, maybe beside AdamW.
constexpr bool is_muon(OptimizerKind kind) {
  return kind == OptimizerKind::muon || kind == OptimizerKind::muon_adamw;
}

/// Says what Muon does, and what is left to AdamW.
struct MuonOptions {
  autograd::MuonNumbers numbers{};  ///< The rate is the optimizer's.
  float adamw_rate = 1e-3F;         ///< AdamW's, which no schedule changes.
  /// The parts of names, between blanks, whose weights are AdamW's, as TTML names them.
  std::string adamw_modules = "tok_emb pos_emb fc kv_linear qkv_linear";

  friend bool operator==(const MuonOptions&, const MuonOptions&) = default;
};

/// What make_optimizer() makes an optimizer of.
struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::adamw;
  float learning_rate = 3e-4F;
  AdamWAttributes adamw{};           ///< For the kinds of AdamW; the rate is `learning_rate`.
  SgdAttributes sgd{};               ///< For the kinds of SGD; the rate is `learning_rate`.
  MuonOptions muon{};                ///< For the kinds of Muon.
  bool stochastic_rounding = false;  ///< fused_adamw rounds bfloat16 parameters by chance.
  float clip = 0;  ///< The norm that all gradients are clipped to; 0 means no clipping.

  friend bool operator==(const OptimizerOptions&, const OptimizerOptions&) = default;
};

/// AdamW's beta1 goes from `start` to `end` over so many steps; 0 means that it does not change.
struct Beta1Ramp {
  std::int64_t steps = 0;
  float start = 0.85F;
  float end = 0.95F;

  friend bool operator==(const Beta1Ramp&, const Beta1Ramp&) = default;
};

/// Everything that determines a training run except the text and the number of threads. Each part
/// is what its own engine takes.
struct Recipe {
  /// The vocabulary is that of the text. Products and activations are bfloat16, parameters float32.
  models::ModelOptions model{.dropout = 0.2F, .parameters = DataType::float32};
  OptimizerOptions optimizer;
  autograd::SchedulePlan schedule{.steps = 1000};
  float least_rate = 0;  ///< The least rate of the schedules speedrun and cosine.
  Beta1Ramp beta1;
  int accumulate = 1;  ///< The number of batches before each update.
  /// The data are examples (examples.h), whose loss is that of their completions alone.
  bool examples = false;
  std::uint32_t seed = 5489;

  friend bool operator==(const Recipe&, const Recipe&) = default;
};

/// Sets one field from its text. Throws Error for an unknown name or an invalid value.
void set_field(Recipe& recipe, std::string_view name, std::string_view value);
/// Returns the field's text, which set_field() can read back. Throws Error for an unknown name.
std::string field_text(const Recipe& recipe, std::string_view name);

/// Returns the learning rate of step `step`, from 1.
float learning_rate_of(const Recipe& recipe, std::int64_t step);
/// Returns AdamW's beta1 of step `step`, from 1.
float beta1_of(const Recipe& recipe, std::int64_t step);

/// Lets the run end after so many epochs of `samples` samples, unless it ends before. Nothing
/// changes for fewer samples than an update takes.
void limit_to_epochs(Recipe& recipe, std::int64_t samples, std::int64_t epochs);

/// Throws Error, naming the setting, for the first one whose value is not valid.
void require_valid(const Recipe& recipe);

}  // namespace howard::training
