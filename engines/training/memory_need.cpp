// SPDX-License-Identifier: Apache-2.0
#include "engines/training/memory_need.h"

#include <fmt/format.h>

#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "engines/device/device.h"
#include "engines/models/language_model.h"
#include "engines/training/optimizers.h"

namespace howard::training {
namespace {

constexpr double kFloatBytes = 4;

// These were measured with width 1 and 1000 layers, where the memory of a run is that of its calls.
constexpr double kLayerBytes = 20e3;    ///< names, buffers and nodes of the graph
constexpr double kBatchBytes = 88e3;    ///< a layer's recorded forward and backward calls
constexpr double kUpdateBytes = 180e3;  ///< the recorded calls of AdamW's composite update

/// A device on which nothing is done: models are made on it to be counted.
class Nowhere final : public Device, private CommandQueue {
 public:
  std::string description() const override { return "nowhere"; }
  bool holds_values() const override { return false; }
  BufferId allocate(const TensorSpec& /*spec*/) override { return {}; }
  void release(BufferId /*buffer*/) override {}
  int command_queues() const override { return 1; }
  CommandQueue& command_queue(int /*index*/) override { return *this; }
  void release_trace(TraceId /*trace*/) override {}
  void set_sub_devices(std::span<const CoreRange> /*sub_devices*/) override {}
  SimTime now() const override { return {}; }
  void set_trace_sink(EventSink* /*sink*/) override {}

 private:
  void enqueue(const Program& /*program*/) override {}
  void write_buffer(BufferId /*buffer*/, std::span<const std::byte> /*values*/) override {}
  void read_buffer(BufferId /*buffer*/, std::span<std::byte> /*values*/) override {}
  void finish() override {}
  EventId record_event() override { return {}; }
  void wait_for_event(EventId /*event*/) override {}
  void begin_trace_capture() override {}
  TraceId end_trace_capture() override { return {}; }
  void execute_trace(TraceId /*trace*/) override {}
};

/// How many values a model has, how many of them are trained, and how many are kept: the model's
/// and what the optimizer has of them.
struct Values {
  double model = 0, trained = 0, kept = 0;
};

/// Counts the values of a model with so many layers and of its optimizer.
Values values_of(Recipe recipe, std::int64_t vocabulary, int layers) {
  recipe.model.layers = layers;
  Nowhere device;
  const auto model = models::make_model(device, recipe.model.with(vocabulary));
  const auto parameters = model->parameters();
  const auto optimizer = make_optimizer(recipe, autograd::Calls(device), parameters, false);
  const auto sum = [](const std::vector<SavedTensor>& tensors) {
    double values = 0;
    for (const SavedTensor& saved : tensors) {
      const Shape& shape = saved.tensor.spec().shape;
      values += static_cast<double>(shape.rows()) * static_cast<double>(shape.columns());
    }
    return values;
  };
  return {.model = sum(saved_tensors(parameters, nullptr)),
          .trained = sum(saved_tensors(trained_of(parameters), nullptr)),
          .kept = sum(saved_tensors(parameters, optimizer.get()))};
}

/// Counts those of a recipe's model. All layers are alike, and there may be any number of them; but
/// adapters may be in some alone, an mlp's have widths of their own, and the first ones of a
/// deepseek have no experts.
Values values_of(const Recipe& recipe, std::int64_t vocabulary) {
  const bool alike = recipe.model.lora.rank == 0 && recipe.model.kind != ModelKind::mlp &&
                     recipe.model.kind != ModelKind::deepseek;
  if (!alike) return values_of(recipe, vocabulary, recipe.model.layers);
  const Values one = values_of(recipe, vocabulary, 1);
  const Values two = values_of(recipe, vocabulary, 2);
  const auto in_all = [&](double Values::*part) {
    return one.*part + (recipe.model.layers - 1) * (two.*part - one.*part);
  };
  return {in_all(&Values::model), in_all(&Values::trained), in_all(&Values::kept)};
}

std::string gibibytes(double bytes) { return fmt::format("{:.4g} GiB", bytes / (1 << 30)); }

}  // namespace

MemoryNeed memory_need(const Recipe& recipe, std::int64_t vocabulary, bool records) {
  const bool adamw = recipe.optimizer.kind == OptimizerKind::adamw;
  const auto layers = static_cast<double>(recipe.model.layers);
  const auto batch = static_cast<double>(recipe.model.batch);
  const auto sequence = static_cast<double>(recipe.model.sequence);
  const auto accumulate = static_cast<double>(recipe.accumulate);
  const double number = recipe.model.compute == DataType::bfloat16 ? 2 : 4;

  MemoryNeed need;
  const auto [parameters, trained, kept] = values_of(recipe, vocabulary);
  need.parameters = parameters;
  const double gradients = number * trained;
  need.tensors = kept * (recipe.model.parameters == DataType::bfloat16 ? 2 : 4) + gradients;
  need.checkpoints = 2 * kept * kFloatBytes;
  const double tokens_and_targets = 2 * 4 * batch * sequence * accumulate;
  // The mask is made from float32.
  const double mask = (number + kFloatBytes) * sequence * sequence;
  const double attended = recipe.model.memory_efficient ? 1 : layers;
  const double weights = recipe.model.fused_attention ? 0 : sequence * sequence;
  const double attention = number * attended * batch * recipe.model.heads * weights;
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
               .hint = "fewer layers, or a smaller width, batch, sequence or accumulate"});
}

}  // namespace howard::training
