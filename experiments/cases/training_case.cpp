// SPDX-License-Identifier: Apache-2.0
#include "experiments/cases/training_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "engines/autograd/host_values.h"
#include "engines/autograd/steps/published_step.h"
#include "engines/autograd/steps/static_step.h"
#include "engines/autograd/steps/traced_step.h"
#include "experiments/cases/host_time.h"
#include "experiments/cases/training_loss.h"

namespace howard::experiments {
namespace {

class DynamicStep final : public autograd::Step {
 public:
  DynamicStep(Device& device, autograd::StepFunction function)
      : device_(device), function_(std::move(function)) {}

  void run() override { loss_ = function_(device_); }
  ops::Tensor loss() const override { return *loss_; }
  bool is_fixed() const override { return false; }

 private:
  Device& device_;
  autograd::StepFunction function_;
  std::optional<ops::Tensor> loss_;
};

std::string op_list_of(std::span<const Program> programs) {
  std::vector<std::pair<std::string_view, int>> counts;
  for (const Program& program : programs) {
    auto found = std::ranges::find(counts, program.name, [](const auto& one) { return one.first; });
    if (found == counts.end()) found = counts.insert(found, {program.name, 0});
    ++found->second;
  }
  std::string text;
  for (const auto& [name, count] : counts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, count);
  }
  return text;
}

/// With a core grid ttnn takes LoFi if nobody asks for HiFi2, which is its choice without a grid.
MatmulAttributes products_of(const Point& point) {
  const auto grid = point[kGrid];
  const auto config = point[kConfig];
  if (!grid && !config) return {};
  return {.core_grid = grid, .compute = {.fidelity = MathFidelity::hifi2}, .config = config};
}

/// Returns which of the three ways to make calls an engine has.
Engine calls_of(Engine engine) {
  if (engine == Engine::traced_fused) return Engine::traced;
  const bool keeps = engine == Engine::static_step || engine == Engine::traced;
  return keeps ? engine : Engine::dynamic;
}

}  // namespace

std::string step_timed(const harness::VirtualTiming& timing) {
  return fmt::format("a training step, one finish after all {}", timing.iterations);
}

TrainingOptions training_options(harness::Backend backend, const Point& point) {
  const Engine engine = point[kEngine];
  return {.backend = backend,
          .dispatch = point[kDispatch],
          .engine = calls_of(engine),
          .as_published = point[kVariant] == Variant::as_published,
          .products = products_of(point),
          .fused = point[kFused],
          .queues = point[kQueues],
          .fuses_traces = engine == Engine::traced_fused};
}

TrainingTypes training_types(harness::Backend backend, const Point& point) {
  const bool chip = backend == harness::Backend::emulated;
  return point.get(kTrainingTypes,
                   {chip ? DataType::bfloat16 : DataType::float32, DataType::bfloat16});
}

TrainingCase::TrainingCase(const DevBox& box, const TrainingOptions& options,
                           const std::function<Training(Device&)>& make)
    : options_(options) {
  if (options.backend == harness::Backend::emulated) {
    auto chip = box.open_chip({.dispatch = options.dispatch, .profiled = options.profiled});
    chip_ = chip.get();
    peak_ = box.profiles().chip.peak_flops(chip->compute_grid().cores(), MathFidelity::hifi2);
    device_ = std::move(chip);
  } else {
    device_ = box.host(options.fuses_traces);
  }
  training_ = make(*device_);
  make_step();
  run();
  finish();
  if (chip_ != nullptr) {
    host_time_ = host_time(*device_, [&] { step_->run(); });
  } else {
    first_loss_ = loss();
  }
}

void TrainingCase::make_step() {
  // Weights that grow, as those of the released GPT-2 do, grow in their first step.
  if (options_.as_published) static_cast<void>(training_.step(*device_));
  {
    autograd::StepRecorder recorder(*device_);
    const ops::Tensor loss = training_.step(recorder);
    for (const Program& program : recorder.programs()) flops_ += program.flops;
    if (chip_ != nullptr) count(recorder.programs());
  }
  if (options_.engine == Engine::dynamic) {
    eager_ = std::make_unique<DynamicStep>(*device_, training_.step);
  } else if (options_.as_published) {
    eager_ =
        std::make_unique<autograd::PublishedStep>(*device_, training_.step, training_.parameters);
  } else {
    eager_ = std::make_unique<autograd::StaticStep>(*device_, training_.step);
  }
  step_ = eager_.get();
  if (options_.engine != Engine::traced) return;
  eager_->run();
  finish();
  traced_ = std::make_unique<autograd::TracedStep>(*device_, *eager_);
  step_ = traced_.get();
}

void TrainingCase::count(std::span<const Program> programs) {
  calls_ = programs.size();
  op_list_ = op_list_of(programs);
  for (const Program& program : programs) kernels_.add(program.name, *chip_, program);
}

void TrainingCase::run() {
  step_->run();
  if (options_.reads_loss) static_cast<void>(loss());
  // On the wall clock each iteration is timed by itself.
  if (chip_ == nullptr) finish();
}

float TrainingCase::loss() const {
  return autograd::read_values(device_->command_queue(0), step_->loss()).front();
}

void TrainingCase::describe(double seconds, harness::PointResult& point) const {
  if (flops_ > Flops()) {  // a relu or a transpose has no rate, which is not a rate of 0
    point.metrics.push_back({.name = "throughput",
                             .value = static_cast<double>(flops_.value()) / seconds,
                             .unit = "FLOP/s",
                             .better = harness::Better::higher});
  }
  if (chip_ != nullptr) {
    describe_chip(seconds, point);
  } else {
    describe_loss(first_loss_, loss(), point);
  }
  if (options_.engine == Engine::traced && options_.as_published) {
    point.warnings.emplace_back(
        "replays read the weights from before the capture: the step is timed, but does not train");
  }
}

void TrainingCase::describe_chip(double seconds, harness::PointResult& point) const {
  if (flops_ > Flops()) {
    point.metrics.push_back({.name = "share_of_peak",
                             .value = static_cast<double>(flops_.value()) / seconds / peak_,
                             .unit = "1",
                             .better = harness::Better::higher});
  }
  point.details.emplace_back("calls", std::to_string(calls_));
  point.details.emplace_back("launches", std::to_string(kernels_.launches()));
  point.details.emplace_back("op_list", op_list_);
  kernels_.describe(seconds, host_time_, point);
  if (!kernels_.slowest_product().empty()) {
    point.add(harness::kSlowestProduct, kernels_.slowest_product());
  }
  const double kernel = kernels_.kernel_time().seconds();
  point.details.emplace_back(
      "why", fmt::format("{} launches: kernels {:.3f} ms, between them {:.3f} ms; the host takes "
                         "{:.3f} ms for {}",
                         kernels_.launches(), 1e3 * kernel, 1e3 * (seconds - kernel),
                         1e3 * host_time_.seconds(),
                         options_.engine == Engine::traced ? std::string("one replay")
                                                           : fmt::format("{} calls", calls_)));
}

}  // namespace howard::experiments
