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
// Timing: 1 step warms up and 3 are timed, with one finish at the end; the result is the mean.

#include <fmt/format.h>

#include <utility>

#include "experiments/cases/gpt2_case.h"
#include "experiments/cases/llama_training.h"
#include "experiments/cases/mlp_case.h"
#include "experiments/cases/python_case.h"
#include "experiments/cases/training_case.h"
#include "experiments/experiment.h"
#include "experiments/questions/what_ifs.h"

namespace howard::experiments {
namespace {

using harness::Backend;
using harness::NotApplicable;

const WordAxis kStepModel("model"), kStepOptimizer("optimizer"), kRunner("runner");
const WordAxis kAttention("attention", "composite"), kRmsNorm("rmsnorm", "fused"),
    kSwiglu("swiglu", "composite");

std::vector<harness::Axis> llama_step_axes(Backend backend) {
  const bool emulated = backend == Backend::emulated;
  using Words = WordAxis::Words;
  const Words models{"nanollama3", "tinyllama", "llama3_2_1b", "llama8b"};
  const Words engines{"dynamic", "static", "traced"};
  const Words forms{"composite", "fused"};
  return {
      kStepModel.of(
          "of TTML's configuration files", models,
          emulated ? Words{"nanollama3", "tinyllama", "llama3_2_1b"} : Words{"nanollama3"},
          {"nanollama3"}),
      emulated ? kEngine.of("who makes the calls", engines, engines, {"dynamic"})
               : kEngine.of("who makes the calls, or PyTorch",
                            {"torch", "torch_compile", "dynamic", "static", "traced"},
                            {"torch", "dynamic"}, {"dynamic"}),
      kStepOptimizer.of("composite AdamW, MorehAdamW or SGD", {"adamw", "moreh", "sgd"},
                        emulated ? Words{"adamw", "moreh", "sgd"} : Words{"adamw", "moreh"},
                        emulated ? Words{"adamw", "moreh"} : Words{"adamw"}),
      kRunner.of("whether blocks run forward once more", {"file", "default", "memory_efficient"},
                 {"file"}),
      kBatch.means("sequences: of 256 tokens for nanollama3, of 2048 for the others").with({"1"}),
      kAttention.optional_of(
          "TTML's attention, of products and a softmax, or its kernels of 2026; not set: composite",
          forms),
      kRmsNorm.optional_of("TTML's RMS norm, of small ops, or one program each way; not set: fused",
                           forms),
      kSwiglu.optional_of("TTML's feed-forward part, of products and small ops, or one program "
                          "forward; not set: composite",
                          forms),
      emulated ? kDispatch.with({"worker"}) : kTrainingTypes.with({"bfloat16"})};
}

models::ModelOptions step_sizes(const Point& point) {
  models::ModelOptions options = llama_sizes_of(point[kStepModel]);
  options.batch = point[kBatch];
  const std::string runner = point[kRunner];
  if (runner != "file") options.memory_efficient = runner == "memory_efficient";
  return options;
}

/// Prepares the step of the same model, loss and optimizer in PyTorch.
Prepared torch_llama(const DevBox& box, const Point& point) {
  const models::ModelOptions options = step_sizes(point);
  const std::string optimizer = point[kStepOptimizer];
  if (optimizer == "moreh") return NotApplicable{"PyTorch has one AdamW: -a optimizer=adamw"};
  if (options.memory_efficient) {
    return NotApplicable{"PyTorch keeps its activations here: -a runner=default"};
  }
  if (options.scaling.factor != 0) {
    return NotApplicable{"PyTorch's Llama has no scaling of frequencies here"};
  }
  const std::int64_t wide =
      options.feed_forward > 0 ? options.feed_forward : models::feed_forward_of(options.width);
  return torch_case(
      box,
      {.model = TorchModel::llama,
       .batch = options.batch,
       .width = options.width,
       .layers = options.layers,
       .numbers = torch_numbers(point[kTrainingTypes]),
       .compiled = point[kEngine] == kCompiledTorch,
       .arguments = {
           fmt::format("--heads={}", options.heads), fmt::format("--groups={}", options.groups),
           fmt::format("--feed-forward={}", wide), fmt::format("--sequence={}", options.sequence),
           fmt::format("--vocabulary={}", options.vocabulary),
           fmt::format("--theta={}", options.theta), fmt::format("--optimizer={}", optimizer)}});
}

Prepared prepare_llama(const DevBox& box, Backend backend, const Point& point) {
  if (is_torch(point[kEngine])) return torch_llama(box, point);
  TrainingOptions training = training_options(backend, point);
  training.as_published = false;
  const std::string word = point[kStepOptimizer];
  const LlamaOptimizer optimizer = word == "adamw"   ? LlamaOptimizer::adamw
                                   : word == "moreh" ? LlamaOptimizer::moreh
                                                     : LlamaOptimizer::sgd;
  if (training.engine != Engine::dynamic && optimizer != LlamaOptimizer::sgd) {
    return NotApplicable{"AdamW is told other numbers each step: -a optimizer=sgd"};
  }
  models::ModelOptions options = step_sizes(point);
  options.fused_attention = point[kAttention] == "fused";
  options.composite_rms_norm = point[kRmsNorm] == "composite";
  options.fused_swiglu = point[kSwiglu] == "fused";
  const TrainingTypes types = training_types(backend, point);
  options.parameters = types.parameters;
  options.compute = types.compute;
  return std::make_unique<TrainingCase>(
      box, training, [=](Device& device) { return train_llama(device, options, optimizer); });
}

harness::Presentation llama_presentation() {
  harness::Presentation presentation =
      gpt2_presentation("A training step of a Llama",
                        {"model", "engine", "optimizer", "runner", "batch", "dispatch", "dtype"},
                        {"model", "engine", "optimizer"});
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
          .place = 7,
          .axes = llama_step_axes(Backend::emulated),
          .host_axes = llama_step_axes(Backend::host),
          .timing = {.warmup = 1, .iterations = 3},
          .presentation = llama_presentation(),
          .prepare = [=](Backend backend,
                         const Point& point) { return prepare_llama(*box, backend, point); },
          .what_ifs = [](const Point& point) -> std::vector<harness::WhatIf> {
            return {set_axis<std::string>("attention in one program", point, kAttention, "fused",
                                          "it is one already"),
                    set_axis<std::string>("SwiGLU in one program", point, kSwiglu, "fused",
                                          "it is one already"),
                    set_axis<std::string>("RMS norm of small ops", point, kRmsNorm, "composite",
                                          "it is made of them already"),
                    eth_dispatch(point)};
          }};
}

}  // namespace howard::experiments
