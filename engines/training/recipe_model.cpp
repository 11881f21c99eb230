// SPDX-License-Identifier: Apache-2.0
#include "engines/training/recipe_model.h"

#include "base/check.h"

namespace howard::training {

models::NanoGptOptions nano_gpt_options(const Recipe& recipe, std::int64_t vocabulary,
                                        const autograd::DeviceGroup* group) {
  return {.batch = recipe.batch,
          .sequence = recipe.sequence,
          .width = recipe.width,
          .heads = recipe.heads,
          .layers = recipe.layers,
          .vocabulary = vocabulary,
          .dropout = recipe.dropout,
          .parameters = recipe.parameters,
          .compute = recipe.dtype,
          .memory_efficient = recipe.memory_efficient,
          .tied = recipe.tied,
          .fixed_positions = recipe.fixed_positions,
          .composite_layernorm = recipe.composite_layernorm,
          .fused_attention = recipe.fused_attention,
          .group = group};
}

models::LlamaOptions llama_options(const Recipe& recipe, std::int64_t vocabulary,
                                   const autograd::DeviceGroup* group, bool sequence_parallel) {
  return {.batch = recipe.batch,
          .sequence = recipe.sequence,
          .width = recipe.width,
          .heads = recipe.heads,
          .groups = recipe.groups,
          .layers = recipe.layers,
          .feed_forward = recipe.feed_forward,
          .vocabulary = vocabulary,
          .dropout = recipe.dropout,
          .theta = recipe.theta,
          .scaling = {.factor = recipe.rope_factor,
                      .high = recipe.rope_high,
                      .low = recipe.rope_low,
                      .length = recipe.rope_length},
          .parameters = recipe.parameters,
          .compute = recipe.dtype,
          .memory_efficient = recipe.memory_efficient,
          .tied = recipe.tied,
          .fused_attention = recipe.fused_attention,
          .composite_rms_norm = recipe.composite_rmsnorm,
          .fused_swiglu = recipe.fused_swiglu,
          .group = group,
          .sequence_parallel = sequence_parallel};
}

std::unique_ptr<models::LanguageModel> make_model(Device& device, const Recipe& recipe,
                                                  std::int64_t vocabulary,
                                                  const autograd::DeviceGroup* group,
                                                  bool sequence_parallel) {
  if (recipe.model == ModelKind::llama) {
    return std::make_unique<models::Llama>(
        device, llama_options(recipe, vocabulary, group, sequence_parallel));
  }
  HOWARD_CHECK(!sequence_parallel, "a nano_gpt has whole sequences on each device");
  return std::make_unique<models::NanoGpt>(device, nano_gpt_options(recipe, vocabulary, group));
}

}  // namespace howard::training
