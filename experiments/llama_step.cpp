// SPDX-License-Identifier: Apache-2.0
//
// Question: how long is a training step of a Llama on one chip, and what does it spend its time on?
//
// TTML trains Llama models from a nanollama of ten million parameters on: RMS norm, rotary
// positions, keys and values that groups of heads share, and a gated feed-forward part, each with
// the calls of TTML's late 2025 (its attention repeats keys and values by untilizing, copying and
// tilizing). The blocks of the larger models run forward once more in the backward pass (TTML's
// memory_efficient), because their activations do not fit beside each other. The composite AdamW
// makes 17 calls for each parameter, MorehAdamW one. Both take numbers that change from step to
// step, which a recorded step repeats: the static and the traced engine run with SGD. On the host
// the engine torch is the same model in PyTorch, with its AdamW or its SGD.
//
// On the emulator the step is that of `fit` and `parallel`, by the same planner: the host writes
// its tokens and reads its loss before it goes back, as TTML does, or at its end where the engine
// has no place in between, so no step begins before the last one has ended.
//
// Timing: a step whose programs have been planned before, from an idle chip to an idle chip.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engines/models/llama.h"
#include "experiments/cases/gpt2_case.h"
#include "experiments/cases/llama_sizes.h"
#include "experiments/cases/python_case.h"
#include "experiments/experiment.h"
#include "experiments/questions/what_ifs.h"
#include "experiments/training_plan/planned_step.h"

namespace howard::experiments {
namespace {

constexpr harness::VirtualTiming kLlamaTiming{.warmup = 0, .iterations = 1};

using harness::Backend;
using harness::NotApplicable;
using training::OptimizerKind;

const WordAxis kStepModel("model");
const auto kStepOptimizer =
    choice_axis<OptimizerKind>("optimizer", "composite AdamW, MorehAdamW or SGD",
                               {{"adamw", OptimizerKind::adamw},
                                {"moreh", OptimizerKind::moreh_adamw},
                                {"sgd", OptimizerKind::sgd}});
/// Whether blocks run again; absent if the model's file says it.
const auto kRunner = choice_axis<std::optional<bool>>(
    "runner", "whether blocks run forward once more",
    {{"file", std::nullopt}, {"default", false}, {"memory_efficient", true}});

TypedAxis<TtmlForm> form_axis(std::string name, std::string meaning, std::string neutral) {
  return choice_axis<TtmlForm>(std::move(name), std::move(meaning),
                               {{"composite", TtmlForm::composite}, {"fused", TtmlForm::fused}},
                               std::move(neutral));
}
const auto kAttention = form_axis(
    "attention",
    "TTML's attention, of products and a softmax, or its kernels of 2026; not set: composite",
    "composite");
const auto kRmsNorm = form_axis(
    "rmsnorm", "TTML's RMS norm, of small ops, or one program each way; not set: fused", "fused");
const auto kSwiglu = form_axis(
    "swiglu",
    "TTML's feed-forward part, of products and small ops, or one program forward; not set: "
    "composite",
    "composite");

std::vector<harness::Axis> llama_step_axes(Backend backend) {
  const bool emulated = backend == Backend::emulated;
  using Words = std::vector<std::string>;
  const Words models{"nanollama3", "tinyllama", "llama3_2_1b", "llama8b"};
  const Words engines{"dynamic", "static", "traced"};
  return {
      kStepModel.of(
          "of TTML's configuration files", models,
          emulated ? Words{"nanollama3", "tinyllama", "llama3_2_1b"} : Words{"nanollama3"},
          {"nanollama3"}),
      emulated ? kEngine.of("who makes the calls", engines, engines, {"dynamic"})
               : kEngine.of("who makes the calls, or PyTorch",
                            {"torch", "torch_compile", "dynamic", "static", "traced"},
                            {"torch", "dynamic"}, {"dynamic"}),
      kStepOptimizer.with(emulated ? Words{"adamw", "moreh", "sgd"} : Words{"adamw", "moreh"},
                          emulated ? Words{"adamw", "moreh"} : Words{"adamw"}),
      kRunner.with({"file"}),
      kBatch.means("sequences: of 256 tokens for nanollama3, of 2048 for the others").with({"1"}),
      kAttention.optional(),
      kRmsNorm.optional(),
      kSwiglu.optional(),
      emulated ? kDispatch.with({"worker"}) : kTrainingTypes.with({"bfloat16"})};
}

models::ModelOptions step_sizes(const Point& point) {
  models::ModelOptions options = llama_sizes_of(point[kStepModel]);
  options.batch = point[kBatch];
  options.memory_efficient = point[kRunner].value_or(options.memory_efficient);
  return options;
}

/// Prepares the step of the same model, loss and optimizer in PyTorch.
Prepared torch_llama(const DevBox& box, const Point& point) {
  const models::ModelOptions options = step_sizes(point);
  const OptimizerKind optimizer = point[kStepOptimizer];
  if (optimizer == OptimizerKind::moreh_adamw)
    return NotApplicable{"PyTorch has one AdamW: -a optimizer=adamw"};
  if (options.memory_efficient) {
    return NotApplicable{"PyTorch keeps its activations here: -a runner=default"};
  }
  if (options.scaling.factor != 0) {
    return NotApplicable{"PyTorch's Llama has no scaling of frequencies here"};
  }
  const std::int64_t wide = models::feed_forward_of(options);
  return torch_case(
      box,
      {.model = TorchModel::llama,
       .batch = options.batch,
       .width = options.width,
       .layers = options.layers,
       .numbers = torch_numbers(point[kTrainingTypes]),
       .compiled = point[kEngine] == Engine::torch_compiled,
       .arguments = {
           fmt::format("--heads={}", options.heads), fmt::format("--groups={}", options.groups),
           fmt::format("--feed-forward={}", wide), fmt::format("--sequence={}", options.sequence),
           fmt::format("--vocabulary={}", options.vocabulary),
           fmt::format("--theta={}", options.theta),
           fmt::format("--optimizer={}", kStepOptimizer.print(optimizer))}});
}

Prepared prepare_llama(const DevBox& box, Backend backend, const Point& point) {
  const Engine engine = point[kEngine];
  if (is_torch(engine)) return torch_llama(box, point);
  training::Recipe recipe{.model = step_sizes(point)};
  recipe.optimizer = {.kind = point[kStepOptimizer], .learning_rate = 1e-3F};
  if (engine != Engine::dynamic && recipe.optimizer.kind != OptimizerKind::sgd) {
    return NotApplicable{"AdamW is told other numbers each step: -a optimizer=sgd"};
  }
  recipe.model.fused_attention = point[kAttention] == TtmlForm::fused;
  recipe.model.composite_rms_norm = point[kRmsNorm] == TtmlForm::composite;
  recipe.model.fused_swiglu = point[kSwiglu] == TtmlForm::fused;
  const TrainingTypes types = training_types(backend, point);
  recipe.model.parameters = types.parameters;
  recipe.model.compute = types.compute;
  return ttml_case(box, backend, point, recipe);
}

harness::Presentation llama_presentation() {
  harness::Presentation presentation =
      gpt2_presentation("A training step of a Llama",
                        {"model", "engine", "optimizer", "runner", "batch", "dispatch", "dtype"},
                        {"model", "engine", "optimizer"}, kLlamaTiming);
  const auto share =
      std::ranges::find(presentation.columns, "share_of_peak", &harness::Column::name);
  *share = {"of peak", harness::CellSource::metric, "mfu", harness::Room::spare,
            "what a step needs over what all compute cores could do at HiFi4"};
  // A small model's step takes a hundredth of a large one's.
  presentation.bar_charts.front().scaled_by = "model";
  presentation.bar_charts.front().label = "time, of the longest step of the same model";
  return presentation;
}

}  // namespace

Experiment llama_step(const Box& box) {
  return {.name = "llama_step",
          .question =
              "What does a training step of TTML's Llama models spend its time on, on one chip?",
          .axes = llama_step_axes(Backend::emulated),
          .host_axes = llama_step_axes(Backend::host),
          .timing = kLlamaTiming,
          .presentation = llama_presentation(),
          .prepare = [=](Backend backend,
                         const Point& point) { return prepare_llama(*box, backend, point); },
          .what_ifs = [](const Point& point) -> std::vector<harness::WhatIf> {
            return {set_axis("attention in one program", point, kAttention, TtmlForm::fused,
                             "it is one already"),
                    set_axis("SwiGLU in one program", point, kSwiglu, TtmlForm::fused,
                             "it is one already"),
                    set_axis("RMS norm of small ops", point, kRmsNorm, TtmlForm::composite,
                             "it is made of them already"),
                    eth_dispatch(point)};
          }};
}

}  // namespace howard::experiments
