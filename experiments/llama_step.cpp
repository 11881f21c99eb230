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

#include "experiments/axes/axes.h"
#include "experiments/cases/gpt2_case.h"
#include "experiments/cases/llama_training.h"
#include "experiments/cases/mlp_case.h"
#include "experiments/cases/python_case.h"
#include "experiments/cases/training_case.h"
#include "experiments/laboratory/experiment_list.h"
#include "experiments/questions/what_ifs.h"

namespace howard::experiments {
namespace {

using harness::Backend;
using harness::find_parameter;
using harness::NotApplicable;
using harness::Parameters;

class LlamaStep final : public harness::Experiment {
 public:
  explicit LlamaStep(std::shared_ptr<const DevBox> box) : box_(std::move(box)) {}

  std::string_view name() const override { return "llama_step"; }
  std::string_view question() const override {
    return "What does a training step of TTML's Llama models spend its time on, on one chip?";
  }

  std::vector<harness::Axis> axes(Backend backend) const override {
    const bool emulated = backend == Backend::emulated;
    using Values = std::vector<std::string>;
    const auto words = [](std::string name, std::string meaning, Values all, Values values,
                          Values quick) {
      harness::Axis axis = harness::word_axis(std::move(name), std::move(meaning), std::move(all),
                                              std::move(values));
      axis.quick_values = std::move(quick);
      return axis;
    };
    std::vector<harness::Axis> axes{
        words("model", "of TTML's configuration files",
              {"nanollama3", "tinyllama", "llama3_2_1b", "llama8b"},
              emulated ? Values{"nanollama3", "tinyllama", "llama3_2_1b"} : Values{"nanollama3"},
              {"nanollama3"}),
        emulated ? words("engine", "who makes the calls", {"dynamic", "static", "traced"},
                         {"dynamic", "static", "traced"}, {"dynamic"})
                 : words("engine", "who makes the calls, or PyTorch",
                         {"torch", "torch_compile", "dynamic", "static", "traced"},
                         {"torch", "dynamic"}, {"dynamic"}),
        words("optimizer", "composite AdamW, MorehAdamW or SGD", {"adamw", "moreh", "sgd"},
              emulated ? Values{"adamw", "moreh", "sgd"} : Values{"adamw", "moreh"},
              emulated ? Values{"adamw", "moreh"} : Values{"adamw"}),
        words("runner", "whether blocks run forward once more",
              {"file", "default", "memory_efficient"}, {"file"}, {"file"}),
        count_axis("batch", "sequences: of 256 tokens for nanollama3, of 2048 for the others",
                   {"1"}, {"1"})};
    const auto form = [&](std::string name, std::string meaning) {
      axes.push_back(harness::optional_axis(
          harness::word_axis(std::move(name), std::move(meaning), {"composite", "fused"}, {})));
    };
    form("attention",
         "TTML's attention, of products and a softmax, or its kernels of 2026; not set: composite");
    form("rmsnorm", "TTML's RMS norm, of small ops, or one program each way; not set: fused");
    form("swiglu",
         "TTML's feed-forward part, of products and small ops, or one program forward; not set: "
         "composite");
    axes.push_back(emulated ? dispatch_axis({"worker"}) : training_dtype_axis());
    return axes;
  }

  std::vector<harness::WhatIf> what_ifs(const Parameters& parameters) const override {
    return {
        set_axis("attention in one program", parameters, "attention", "fused", "it is one already"),
        set_axis("SwiGLU in one program", parameters, "swiglu", "fused", "it is one already"),
        set_axis("RMS norm of small ops", parameters, "rmsnorm", "composite",
                 "it is made of them already"),
        eth_dispatch(parameters)};
  }

  harness::VirtualTiming timing() const override { return {.warmup = 1, .iterations = 3}; }

  harness::Presentation presentation() const override {
    return gpt2_presentation(
        "A training step of a Llama",
        {"model", "engine", "optimizer", "runner", "batch", "dispatch", "dtype"},
        {"model", "engine", "optimizer"});
  }

  std::variant<std::unique_ptr<harness::Case>, NotApplicable> prepare(
      Backend backend, const Parameters& parameters) const override {
    const std::string_view engine = *find_parameter(parameters, "engine");
    if (is_torch(engine)) return torch(engine, parameters);
    TrainingOptions training = training_options(backend, parameters);
    training.as_published = false;
    const std::string_view word = *find_parameter(parameters, "optimizer");
    const LlamaOptimizer optimizer = word == "adamw"   ? LlamaOptimizer::adamw
                                     : word == "moreh" ? LlamaOptimizer::moreh
                                                       : LlamaOptimizer::sgd;
    if (training.engine != Engine::dynamic && optimizer != LlamaOptimizer::sgd) {
      return NotApplicable{"AdamW is told other numbers each step: -a optimizer=sgd"};
    }
    models::ModelOptions options = sizes_of(parameters);
    options.fused_attention = find_parameter(parameters, "attention") == "fused";
    options.composite_rms_norm = find_parameter(parameters, "rmsnorm") == "composite";
    options.fused_swiglu = find_parameter(parameters, "swiglu") == "fused";
    const TrainingTypes types = training_types(backend, parameters);
    options.parameters = types.parameters;
    options.compute = types.compute;
    return std::make_unique<TrainingCase>(
        *box_, training, [=](Device& device) { return train_llama(device, options, optimizer); });
  }

 private:
  static models::ModelOptions sizes_of(const Parameters& parameters) {
    models::ModelOptions options = llama_sizes_of(*find_parameter(parameters, "model"));
    options.batch = count_of(parameters, "batch");
    const std::string_view runner = *find_parameter(parameters, "runner");
    if (runner != "file") options.memory_efficient = runner == "memory_efficient";
    return options;
  }

  /// Prepares the step of the same model, loss and optimizer in PyTorch.
  PreparedCase torch(std::string_view engine, const Parameters& parameters) const {
    const models::ModelOptions options = sizes_of(parameters);
    const std::string_view optimizer = *find_parameter(parameters, "optimizer");
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
        *box_,
        {.model = TorchModel::llama,
         .batch = options.batch,
         .width = options.width,
         .layers = options.layers,
         .numbers = parse_torch_numbers(*find_parameter(parameters, "dtype")),
         .compiled = engine == kCompiledTorch,
         .arguments = {
             fmt::format("--heads={}", options.heads), fmt::format("--groups={}", options.groups),
             fmt::format("--feed-forward={}", wide), fmt::format("--sequence={}", options.sequence),
             fmt::format("--vocabulary={}", options.vocabulary),
             fmt::format("--theta={}", options.theta), fmt::format("--optimizer={}", optimizer)}});
  }

  std::shared_ptr<const DevBox> box_;
};

}  // namespace

std::unique_ptr<harness::Experiment> llama_step(std::shared_ptr<const DevBox> box) {
  return std::make_unique<LlamaStep>(std::move(box));
}

}  // namespace howard::experiments
