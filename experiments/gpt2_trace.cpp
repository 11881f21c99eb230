// SPDX-License-Identifier: Apache-2.0
//
// Question: does a trace help a whole model, and does ETH dispatch?
//
// The report (part 2, trace table; postscript, GPT-2 exception) found 323.05 ms static and 323.09
// ms traced for 6 layers of width 384, and 325.6 ms with ETH dispatch. It concluded that each op
// takes "50+ ms" and that the model is bound by arithmetic. But a step is 975 launches, so an op
// takes a third of a millisecond; it reaches 1.8 TFLOPS and 76 GB/s, far from both roofs. Static
// equals traced because the host makes its 900 calls in less time than the kernels take. `kernels`
// says what those are bound by: kinds of op by their time, and each kind's longest stage.
//
// As published, gradients of weights are not summed over the batch: with the first update each
// weight becomes 32 and each bias 256, and all timed steps run with these. `corrected` sums them.
//
// Timing: batch 32, 256 tokens. 3 steps warm up and 10 are timed, with one finish at the end; the
// result is the mean.

#include <utility>

#include "experiments/axes/axes.h"
#include "experiments/cases/gpt2_case.h"
#include "experiments/laboratory/experiment_list.h"
#include "experiments/questions/what_ifs.h"

namespace howard::experiments {
namespace {

using harness::Backend;
using harness::Parameters;

class Gpt2Trace final : public harness::Experiment {
 public:
  explicit Gpt2Trace(std::shared_ptr<const DevBox> box) : box_(std::move(box)) {}

  std::string_view name() const override { return "gpt2_trace"; }
  std::string_view question() const override {
    return "Does a trace help a training step of GPT-2?";
  }

  std::vector<harness::Axis> axes(Backend backend) const override {
    const bool emulated = backend == Backend::emulated;
    using Values = std::vector<std::string>;
    std::vector<harness::Axis> axes{
        gpt2_engine_axis(
            backend, "call by call or a replay",
            emulated ? Values{"static", "traced"} : Values{"static", "traced", "traced_fused"}),
        variant_axis("gradients of the released code, or summed over batch and positions",
                     emulated ? Values{"as_published", "corrected"} : Values{"corrected"}),
        count_axis("layers", "blocks", emulated ? Values{"1", "2", "3", "6"} : Values{"6"}, {"1"}),
        count_axis("dim", "width, a multiple of 64",
                   emulated ? Values{"384", "512"} : Values{"384"}, {"384"}),
        gpt2_batch_axis(backend)};
    add_gpt2_sizes(axes);
    add_training_axes(axes, backend, {"worker", "eth"});
    return axes;
  }

  std::vector<harness::WhatIf> what_ifs(const Parameters& parameters) const override {
    std::vector<harness::WhatIf> changes = training_what_ifs(*box_, parameters);
    // This changes two things at once, because gradients that are not summed have no other buffers.
    for (harness::WhatIf& change : changes) {
      if (change.what == "in-place outputs" && !change.candidates.empty()) {
        change.what = "gradients summed, in place";
      }
    }
    changes.push_back(pad_count(parameters, "dim", kHeadColumns));
    return changes;
  }

  harness::VirtualTiming timing() const override { return {.warmup = 3, .iterations = 10}; }

  harness::Presentation presentation() const override {
    return gpt2_presentation("A training step of GPT-2, called and replayed",
                             {"engine", "variant", "layers", "dim", "dispatch", "dtype"},
                             {"engine", "layers", "dispatch"});
  }

  std::variant<std::unique_ptr<harness::Case>, harness::NotApplicable> prepare(
      Backend backend, const Parameters& parameters) const override {
    return prepare_gpt2(*box_, backend, parameters);
  }

 private:
  std::shared_ptr<const DevBox> box_;
};

}  // namespace

std::unique_ptr<harness::Experiment> gpt2_trace(std::shared_ptr<const DevBox> box) {
  return std::make_unique<Gpt2Trace>(std::move(box));
}

}  // namespace howard::experiments
