// SPDX-License-Identifier: Apache-2.0
#include "engines/training/memory_need.h"

#include <fmt/format.h>

#include <string>

#include "base/error.h"

namespace howard::training {
namespace {

constexpr double kFloatBytes = 4;

// These were measured with width 1 and 1000 layers, where the memory of a run is that of its calls.
constexpr double kLayerBytes = 20e3;    ///< names, buffers and nodes of the graph
constexpr double kBatchBytes = 88e3;    ///< a layer's recorded forward and backward calls
constexpr double kUpdateBytes = 180e3;  ///< the recorded calls of AdamW's composite update

double layer_parameters(double width) {
  const double norms = 2 * 2 * width;
  const double attention = 3 * width * (width + 1) + width * (width + 1);
  const double feed_forward = 4 * width * (width + 1) + width * (4 * width + 1);
  return norms + attention + feed_forward;
}

std::string gibibytes(double bytes) { return fmt::format("{:.4g} GiB", bytes / (1 << 30)); }

}  // namespace

MemoryNeed memory_need(const Recipe& recipe, std::int64_t vocabulary, bool records) {
  const bool adamw = recipe.optimizer == OptimizerKind::adamw;
  const auto layers = static_cast<double>(recipe.layers);
  const auto batch = static_cast<double>(recipe.batch);
  const auto sequence = static_cast<double>(recipe.sequence);
  const auto width = static_cast<double>(recipe.width);
  const auto accumulate = static_cast<double>(recipe.accumulate);
  const double number = recipe.dtype == DataType::bfloat16 ? 2 : 4;

  MemoryNeed need;
  const double tables = (2 * static_cast<double>(vocabulary) + sequence) * width;
  const double last_norm = 2 * width;
  need.parameters = tables + last_norm + layers * layer_parameters(width);
  const double kept = (adamw ? 3 : 1) * kFloatBytes * need.parameters;
  const double gradients = number * need.parameters;
  need.tensors = kept + gradients;
  need.checkpoints = 2 * kept;
  const double tokens_and_targets = 2 * 4 * batch * sequence * accumulate;
  // The mask is made from float32.
  const double mask = (number + kFloatBytes) * sequence * sequence;
  const double attention = number * layers * batch * recipe.heads * sequence * sequence;
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
