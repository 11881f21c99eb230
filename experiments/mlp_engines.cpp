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

#include <utility>

#include "experiments/axes/axes.h"
#include "experiments/cases/known_time.h"
#include "experiments/cases/mlp_case.h"
#include "experiments/cases/python_case.h"
#include "experiments/cases/training_case.h"
#include "experiments/laboratory/devbox.h"
#include "experiments/laboratory/experiment_list.h"
#include "experiments/questions/what_ifs.h"

namespace howard::experiments {
namespace {

using harness::Backend;
using harness::CellSource;
using harness::find_parameter;
using harness::NotApplicable;
using harness::Parameters;

class MlpEngines final : public harness::Experiment {
 public:
  explicit MlpEngines(std::shared_ptr<const DevBox> box) : box_(std::move(box)) {}

  std::string_view name() const override { return "mlp_engines"; }
  std::string_view question() const override {
    return "What does a training step of an MLP cost with each engine?";
  }

  std::vector<harness::Axis> axes(Backend backend) const override {
    std::vector<harness::Axis> axes{
        harness::word_axis(
            "engine", "what makes the calls of a step: PyTorch, Python, or a C++ engine",
            {"torch", "torch_compile", "python", "dynamic", "static", "traced", "traced_fused"},
            {"torch", "python", "dynamic", "static", "traced", "traced_fused"}),
        variant_axis("the calls and buffers of the released code, or the same for all engines",
                     {"as_published", "corrected"}),
        count_axis("batch", "rows of the input", {"1024"}, {"1024"}),
        count_axis("dim", "width of all layers", {"512"}, {"512"}),
        count_axis("layers", "linear layers", {"2"}, {"2"})};
    add_training_axes(axes, backend, {"worker", "eth"});
    return axes;
  }

  std::vector<harness::WhatIf> what_ifs(const Parameters& parameters) const override {
    return mlp_what_ifs(*box_, parameters);
  }

  harness::VirtualTiming timing() const override { return {.warmup = 20, .iterations = 200}; }

  harness::Presentation presentation() const override {
    return {.timed = kStepTimed,
            .timed_on_host = kStepTimedOnHost,
            .columns = {{"engine", CellSource::parameter, "engine"},
                        {"variant", CellSource::parameter, "variant"},
                        {"batch", CellSource::parameter, "batch"},
                        {"dim", CellSource::parameter, "dim"},
                        {"layers", CellSource::parameter, "layers"},
                        {"dispatch", CellSource::parameter, "dispatch"},
                        {"dtype", CellSource::parameter, "dtype"},
                        {"time", CellSource::metric, "time"},
                        mean_error_column(),
                        {"published", CellSource::reference, ""},
                        {"error", CellSource::error, ""},
                        {"calls", CellSource::detail, "calls"},
                        {"launches", CellSource::detail, "launches"},
                        {"kernels", CellSource::metric, "kernel_time"},
                        {"host", CellSource::metric, "host_time"},
                        {"bound by", CellSource::detail, "bound_by"},
                        {"loss", CellSource::detail, "loss"},
                        {"op list", CellSource::detail, "op_list"}},
            .plots = {},
            .bar_charts = {{.title = "A training step of an MLP by engine",
                            .label = "time",
                            .metric = "time",
                            .bars = {"engine", "variant", "dispatch", "dtype"},
                            .parts = kKernelTimes,
                            .rest = "between kernels"}}};
  }

  std::variant<std::unique_ptr<harness::Case>, NotApplicable> prepare(
      Backend backend, const Parameters& parameters) const override {
    const std::string_view engine = *find_parameter(parameters, "engine");
    if (is_torch(engine) || engine == "python") return peer(backend, engine, parameters);
    if (engine == "traced_fused" && backend == Backend::emulated) {
      return NotApplicable{
          "programs are fused on the host; the chip runs them as they were captured"};
    }
    if (auto reason = missing_cores(box_->profiles().chip, parameters)) {
      return NotApplicable{std::move(*reason)};
    }
    return mlp_case(*box_, backend, parameters);
  }

 private:
  /// Prepares points of engines that are not this program's.
  std::variant<std::unique_ptr<harness::Case>, NotApplicable> peer(
      Backend backend, std::string_view engine, const Parameters& parameters) const {
    if (*find_parameter(parameters, "variant") == "corrected") {
      return NotApplicable{"the variants differ in the C++ engines only"};
    }
    for (const std::string_view axis : {"grid", "fused", "queues"}) {
      if (find_parameter(parameters, axis)) {
        return NotApplicable{"the report's peers are as they are, without axis " +
                             std::string(axis)};
      }
    }
    if (engine == "python" && count_of(parameters, "layers") != 2) {
      return NotApplicable{"the report's Python benchmark has two layers"};
    }
    if (backend == Backend::host) return peer_process(engine, parameters);
    if (is_torch(engine)) return NotApplicable{"PyTorch runs on the host's CPU"};
    return std::make_unique<TrainingCase>(
        *box_, training_options(backend, parameters), [&](Device& device) {
          return train_python_mlp(device, count_of(parameters, "batch"),
                                  count_of(parameters, "dim"));
        });
  }

  /// Prepares a case that runs in a process of its own.
  PreparedCase peer_process(std::string_view engine, const Parameters& parameters) const {
    const std::string_view dtype = *find_parameter(parameters, "dtype");
    const std::int64_t batch = count_of(parameters, "batch");
    const std::int64_t width = count_of(parameters, "dim");
    if (engine == "python") {
      const TrainingTypes types = parse_training_types(dtype);
      if (types.parameters != types.compute) {
        return NotApplicable{
            "the report's Python engine keeps its parameters in the type of its products: "
            "-a dtype=pure_bf16"};
      }
      return python_mlp_on_host(*box_, {.batch = batch, .width = width, .dtype = types.compute});
    }
    return torch_case(*box_, {.batch = batch,
                              .width = width,
                              .layers = static_cast<int>(count_of(parameters, "layers")),
                              .numbers = parse_torch_numbers(dtype),
                              .compiled = engine == kCompiledTorch});
  }

  std::shared_ptr<const DevBox> box_;
};

}  // namespace

std::unique_ptr<harness::Experiment> mlp_engines(std::shared_ptr<const DevBox> box) {
  return std::make_unique<MlpEngines>(std::move(box));
}

}  // namespace howard::experiments
