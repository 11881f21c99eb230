// SPDX-License-Identifier: Apache-2.0
//
// Question: what does a training step of one small MLP cost with each engine, and why?
//
// The report (part 1, MLP table; postscript, MLP table) found 9.506 ms from Python, 0.984 ms with a
// C++ graph made anew in each step, 0.673 ms with a graph made once and 0.563 ms with its replayed
// trace, beside 6.237 ms of PyTorch on 32 threads of a CPU: "11x". Its engines do not run the same
// calls: 20 from Python (no biases), 32 and a write in the dynamic engine, 24 in the static and
// traced ones. The first three wait for their host, so they drift with it: the same code took 1.196
// and 0.864 ms in the postscript's session. The replay waits for its kernels.
//
// `as_published` runs these calls. Its static engine allocates the result of each call, and its
// replays read the weights from before the capture: they do not train. `corrected` gives all three
// C++ engines the 24 calls, and gives the static ones buffers that are planned once and updated in
// place.
//
// On the host `traced_fused` replays what the device has made of the captured programs: fewer
// programs, with the same bits.
//
// Timing: batch 1024, width 512. 20 steps warm up and 200 are timed, with one finish at the end;
// the result is the mean.

#include <fmt/format.h>

#include <utility>

#include "experiments/cases/kernel_account.h"
#include "experiments/cases/mlp_case.h"
#include "experiments/cases/python_case.h"
#include "experiments/cases/training_case.h"
#include "experiments/experiment.h"
#include "experiments/questions/what_ifs.h"

namespace howard::experiments {
namespace {

constexpr harness::VirtualTiming kEnginesTiming{.warmup = 20, .iterations = 200};

using harness::Backend;
using harness::CellSource;
using harness::NotApplicable;

/// Prepares a case that runs in a process of its own.
Prepared peer_process(const DevBox& box, const Point& point) {
  const Engine engine = point[kEngine];
  const TrainingTypes types = point[kTrainingTypes];
  if (engine == Engine::python) {
    if (types.parameters != types.compute) {
      return NotApplicable{
          "the report's Python engine keeps its parameters in the type of its products: "
          "-a dtype=pure_bf16"};
    }
    return python_mlp_on_host(
        box, {.batch = point[kBatch], .width = point[kDim], .dtype = types.compute});
  }
  return torch_case(box, {.batch = point[kBatch],
                          .width = point[kDim],
                          .layers = static_cast<int>(point[kLayers]),
                          .numbers = torch_numbers(types),
                          .compiled = engine == Engine::torch_compiled});
}

/// Prepares points of engines that are not this program's.
Prepared mlp_peer(const DevBox& box, Backend backend, const Point& point) {
  if (point[kVariant] == Variant::corrected) {
    return NotApplicable{"the variants differ in the C++ engines only"};
  }
  for (const auto& [axis, is_set] : {std::pair("grid", point.has(kGrid)),
                                     {"fused", point.has(kFused)},
                                     {"queues", point.has(kQueues)}}) {
    if (is_set) {
      return NotApplicable{
          fmt::format("the report's peers are as they are, without axis {}", axis)};
    }
  }
  const Engine engine = point[kEngine];
  if (engine == Engine::python && point[kLayers] != 2) {
    return NotApplicable{"the report's Python benchmark has two layers"};
  }
  if (backend == Backend::host) return peer_process(box, point);
  if (is_torch(engine)) return NotApplicable{"PyTorch runs on the host's CPU"};
  return std::make_unique<TrainingCase>(box, training_options(backend, point), [&](Device& device) {
    return train_python_mlp(device, point[kBatch], point[kDim]);
  });
}

harness::Presentation mlp_presentation() {
  return {.timed = step_timed(kEnginesTiming),
          .timed_on_host = kStepTimedOnHost,
          .columns = {{"engine", CellSource::parameter, "engine"},
                      {"variant", CellSource::parameter, "variant"},
                      {"batch", CellSource::parameter, "batch"},
                      {"dim", CellSource::parameter, "dim"},
                      {"layers", CellSource::parameter, "layers"},
                      {"dispatch", CellSource::parameter, "dispatch"},
                      {"dtype", CellSource::parameter, "dtype"},
                      {"time", CellSource::metric, "time"},
                      expected_error_column(),
                      {"published", CellSource::reference, ""},
                      {"error", CellSource::error, ""},
                      {"calls", CellSource::detail, "calls"},
                      {"launches", CellSource::detail, "launches"},
                      {"kernels", CellSource::metric, "kernel_time"},
                      {"host", CellSource::metric, "host_time"},
                      {"bound by", CellSource::detail, "bound_by"},
                      {"loss", CellSource::detail, "loss"},
                      {"op list", CellSource::detail, "op_list"}},
          .bar_charts = {{.title = "A training step of an MLP by engine",
                          .label = "time",
                          .metric = "time",
                          .bars = {"engine", "variant", "dispatch", "dtype"},
                          .parts = kKernelTimes,
                          .rest = "between kernels"}}};
}

}  // namespace

Experiment mlp_engines(const Box& box) {
  const auto axes_on = [](Backend backend) {
    std::vector<harness::Axis> axes{
        kEngine.of(
            "what makes the calls of a step: PyTorch, Python, or a C++ engine",
            {"torch", "torch_compile", "python", "dynamic", "static", "traced", "traced_fused"},
            {"torch", "python", "dynamic", "static", "traced", "traced_fused"}),
        kVariant.with({"as_published", "corrected"}), kBatch.with({"1024"}), kDim.with({"512"}),
        kLayers.with({"2"})};
    add_training_axes(axes, backend, {"worker", "eth"});
    return axes;
  };
  return {.name = "mlp_engines",
          .question = "What does a training step of an MLP cost with each engine?",
          .axes = axes_on(Backend::emulated),
          .host_axes = axes_on(Backend::host),
          .timing = kEnginesTiming,
          .presentation = mlp_presentation(),
          .prepare = [=](Backend backend, const Point& point) -> Prepared {
            const Engine engine = point[kEngine];
            if (is_torch(engine) || engine == Engine::python) return mlp_peer(*box, backend, point);
            if (engine == Engine::traced_fused && backend == Backend::emulated) {
              return NotApplicable{
                  "programs are fused on the host; the chip runs them as they were captured"};
            }
            if (auto reason = missing_cores(box->profiles().chip, point)) {
              return NotApplicable{std::move(*reason)};
            }
            return mlp_case(*box, backend, point);
          },
          .what_ifs = [=](const Point& point) { return mlp_what_ifs(*box, point); }};
}

}  // namespace howard::experiments
