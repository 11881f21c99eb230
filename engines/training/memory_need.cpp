// SPDX-License-Identifier: Apache-2.0
#include "engines/training/memory_need.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "base/error.h"

namespace howard::training {
namespace {

constexpr double kFloatBytes = 4;

// These were measured with width 1 and 1000 layers, where the memory of a run is that of its calls.
constexpr double kLayerBytes = 20e3;    ///< names, buffers and nodes of the graph
constexpr double kBatchBytes = 88e3;    ///< a layer's recorded forward and backward calls
constexpr double kUpdateBytes = 180e3;  ///< the recorded calls of AdamW's composite update

/// Returns how many values of a layer are trained; a recipe may hold any sizes.
double nano_gpt_layer(double width) {
  const double norms = 2 * 2 * width;
  const double attention = 3 * width * (width + 1) + width * (width + 1);
  const double feed_forward = 4 * width * (width + 1) + width * (4 * width + 1);
  return norms + attention + feed_forward;
}

double llama_layer(const Recipe& recipe) {
  const auto width = static_cast<double>(recipe.width);
  const double key_value = 2 * width * recipe.groups / recipe.heads;
  const double wide = recipe.feed_forward > 0 ? static_cast<double>(recipe.feed_forward)
                                              : std::ceil(std::floor(8 * width / 3) / 256) * 256;
  return width * (2 * width + key_value + 3 * wide + 2);
}

double all_parameters(const Recipe& recipe, double vocabulary) {
  const auto layers = static_cast<double>(recipe.layers);
  const auto width = static_cast<double>(recipe.width);
  const double tables = (recipe.tied ? 1 : 2) * vocabulary * width;
  if (recipe.model == ModelKind::llama) return tables + width + layers * llama_layer(recipe);
  const double positions =
      recipe.fixed_positions ? 0 : static_cast<double>(recipe.sequence) * width;
  const double last_norm = 2 * width;
  return tables + positions + last_norm + layers * nano_gpt_layer(width);
}

/// Returns how many tensors are as large as the parameters: themselves and what the optimizer
/// keeps.
double kept_tensors(const Recipe& recipe) {
  switch (recipe.optimizer) {
    case OptimizerKind::adamw:
    case OptimizerKind::moreh_adamw:
    case OptimizerKind::fused_adamw:
      return 3 + (recipe.kahan ? 1 : 0) + (recipe.amsgrad ? 1 : 0);
    case OptimizerKind::sgd:
    case OptimizerKind::fused_sgd:
      return recipe.momentum > 0 ? 2 : 1;
    case OptimizerKind::no_op:
      break;
  }
  return 1;
}

std::string gibibytes(double bytes) { return fmt::format("{:.4g} GiB", bytes / (1 << 30)); }

}  // namespace

MemoryNeed memory_need(const Recipe& recipe, std::int64_t vocabulary, bool records) {
  const bool adamw = recipe.optimizer == OptimizerKind::adamw;
  const auto layers = static_cast<double>(recipe.layers);
  const auto batch = static_cast<double>(recipe.batch);
  const auto sequence = static_cast<double>(recipe.sequence);
  const auto accumulate = static_cast<double>(recipe.accumulate);
  const double number = recipe.dtype == DataType::bfloat16 ? 2 : 4;

  MemoryNeed need;
  need.parameters = all_parameters(recipe, static_cast<double>(vocabulary));
  const double kept = kept_tensors(recipe) * need.parameters;
  const double gradients = number * need.parameters;
  need.tensors = kept * (recipe.parameters == DataType::bfloat16 ? 2 : 4) + gradients;
  need.checkpoints = 2 * kept * kFloatBytes;
  const double tokens_and_targets = 2 * 4 * batch * sequence * accumulate;
  // The mask is made from float32.
  const double mask = (number + kFloatBytes) * sequence * sequence;
  const double attended = recipe.memory_efficient ? 1 : layers;
  const double weights = recipe.fused_attention ? 0 : sequence * sequence;
  const double attention = number * attended * batch * recipe.heads * weights;
  need.sequences = tokens_and_targets + mask + attention;
  const double recorded = kBatchBytes * accumulate + (adamw ? kUpdateBytes : 0);
  need.calls = layers * (kLayerBytes + (records ? recorded : 0));
  return need;
}

void require_memory(const Recipe& recipe, std::int64_t vocabulary, bool records, Bytes available) {
  const MemoryNeed need = memory_need(recipe, vocabulary, records);
  const auto accepted = static_cast<double>(available.value());
  if (need.total() <= accepted) return;
  throw Error({.attempted = fmt::format("train a model of {:.4g} parameters", need.parameters),
               .value = fmt::format(
                   "it needs {} of memory and more for activations: {} for parameters, "
                   "gradients and the optimizer, {} for checkpoints, {} for sequences and "
                   "attention, {} for calls",
                   gibibytes(need.total()), gibibytes(need.tensors), gibibytes(need.checkpoints),
                   gibibytes(need.sequences), gibibytes(need.calls)),
               .accepted = fmt::format("{}, which this machine can give now", gibibytes(accepted)),
               .hint = "a smaller --layers, --width, --batch, --sequence or --accumulate"});
}

}  // namespace howard::training
