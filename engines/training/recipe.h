// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engines/autograd/schedule.h"
#include "engines/device/tensor_spec.h"

namespace howard::training {

enum class OptimizerKind : std::uint8_t { adamw, sgd };

/// Everything that determines a training run of TTML's nano_gpt, except the text and the number of
/// threads.
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
}

/// Sets one field from its text. Throws Error for an unknown name or an invalid value.
void set_field(Recipe& recipe, std::string_view name, std::string_view value);
/// Returns the field's text, which set_field() can read back. Throws Error for an unknown name.
std::string field_text(const Recipe& recipe, std::string_view name);

/// Throws Error, naming the field, for sizes below 1, a rate that is not positive, a dropout
/// outside [0, 1), and a data type that cannot be computed with.
void require_valid(const Recipe& recipe);

}  // namespace howard::training
