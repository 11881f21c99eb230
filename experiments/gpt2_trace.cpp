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

#include "experiments/cases/gpt2_case.h"
#include "experiments/experiment.h"
#include "experiments/questions/what_ifs.h"

namespace howard::experiments {
namespace {

constexpr harness::VirtualTiming kTraceTiming{.warmup = 3, .iterations = 10};

using harness::Backend;

std::vector<harness::Axis> gpt2_trace_axes(Backend backend) {
  const bool emulated = backend == Backend::emulated;
  using Values = std::vector<std::string>;
  std::vector<harness::Axis> axes{
      gpt2_engine_axis(
          backend, "call by call or a replay",
          emulated ? Values{"static", "traced"} : Values{"static", "traced", "traced_fused"}),
      kVariant.means("gradients of the released code, or summed over batch and positions")
          .with(emulated ? Values{"as_published", "corrected"} : Values{"corrected"}),
      kLayers.means("blocks").with(emulated ? Values{"1", "2", "3", "6"} : Values{"6"}, {"1"}),
      kGpt2Width.means("width, a multiple of 64")
          .with(emulated ? Values{"384", "512"} : Values{"384"}, {"384"}),
      gpt2_batch_axis(backend)};
  add_gpt2_sizes(axes);
  add_training_axes(axes, backend, {"worker", "eth"});
  return axes;
}

std::vector<harness::WhatIf> gpt2_trace_what_ifs(const DevBox& box, const Point& point) {
  std::vector<harness::WhatIf> changes = training_what_ifs(box, point);
  // This changes two things at once, because gradients that are not summed have no other buffers.
  for (harness::WhatIf& change : changes) {
    if (change.what == "in-place outputs" && !change.candidates.empty()) {
      change.what = "gradients summed, in place";
    }
  }
  changes.push_back(pad_count(point, kGpt2Width, kHeadColumns));
  return changes;
}

}  // namespace

Experiment gpt2_trace(const Box& box) {
  return {
      .name = "gpt2_trace",
      .question = "Does a trace help a training step of GPT-2?",
      .axes = gpt2_trace_axes(Backend::emulated),
      .host_axes = gpt2_trace_axes(Backend::host),
      .timing = kTraceTiming,
      .presentation = gpt2_presentation("A training step of GPT-2, called and replayed",
                                        {"engine", "variant", "layers", "dim", "dispatch", "dtype"},
                                        {"engine", "layers", "dispatch"}, kTraceTiming),
      .prepare = [=](Backend backend,
                     const Point& point) { return prepare_gpt2(*box, backend, point); },
      .what_ifs = [=](const Point& point) { return gpt2_trace_what_ifs(*box, point); }};
}

}  // namespace howard::experiments
