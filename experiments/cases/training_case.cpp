// SPDX-License-Identifier: Apache-2.0
#include "experiments/cases/training_case.h"

#include <fmt/format.h>

#include <utility>

#include "engines/autograd/host_values.h"
#include "engines/autograd/steps/published_step.h"
#include "engines/autograd/steps/static_step.h"
#include "engines/autograd/steps/traced_step.h"
#include "experiments/cases/known_time.h"
#include "experiments/cases/training_loss.h"
#include "profiler/bound.h"
#include "profiler/timeline.h"

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

/// Measures the time for which the host waited for the device: for the issue queue, or in a
/// transfer.
class HostWaits final : public EventSink {
 public:
  void record(const TimelineEvent& event) override {
    const bool waits = event.category == profiler::category::kQueueFull ||
                       event.category == profiler::category::kTransfer;
    if (waits) time_ += event.end - event.start;
  }
  SimTime time() const { return time_; }

 private:
  SimTime time_;
};

void add_time(harness::PointResult& point, std::string name, SimTime time) {
  point.metrics.push_back(
      {.name = std::move(name), .value = time.seconds(), .unit = "s", .virtual_time = time});
}

}  // namespace

std::string step_timed(const harness::VirtualTiming& timing) {
  return fmt::format("a training step, one finish after all {}", timing.iterations);
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
    host_time_ = time_host();
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
    if (chip_ != nullptr) work_ = work_of(*chip_, recorder.programs());
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

void TrainingCase::run() {
  step_->run();
  if (options_.reads_loss) static_cast<void>(loss());
  // On the wall clock each iteration is timed by itself.
  if (chip_ == nullptr) finish();
}

float TrainingCase::loss() const {
  return autograd::read_values(device_->command_queue(0), step_->loss()).front();
}

/// Returns what the host takes to issue a step if nothing holds it up.
SimTime TrainingCase::time_host() {
  HostWaits waits;
  device_->set_trace_sink(&waits);
  const SimTime start = now();
  step_->run();
  const SimTime issued = now();
  finish();
  device_->set_trace_sink(nullptr);
  return issued - start - waits.time();
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
  point.details.emplace_back("calls", std::to_string(work_->calls));
  point.details.emplace_back("launches", std::to_string(work_->launches));
  point.details.emplace_back("op_list", work_->op_list);
  add_time(point, "kernel_time", work_->kernel);
  for (const OpKindWork& kind : work_->kinds) {
    add_time(point, kKernelTimes + std::string(kind.name), kind.kernel);
  }
  add_time(point, "host_time", host_time_);
  const double kernel = work_->kernel.seconds();
  describe_expected_error(seconds, work_->known,
                          host_time_.seconds() >= profiler::kSetsThePace * seconds, point);
  const std::string longest =
      work_->kinds.empty() ? "" : fmt::format("kernels: {}", work_->kinds.front().name);
  point.details.emplace_back("bound_by", profiler::bound_by({.whole = seconds,
                                                             .kernels = kernel,
                                                             .host = host_time_.seconds(),
                                                             .kernel_word = longest}));
  point.details.emplace_back("kernels", work_->text(4));
  if (!work_->slowest_product.empty()) {
    point.details.emplace_back("slowest_product", work_->slowest_product);
  }
  point.details.emplace_back(
      "why",
      fmt::format("{} launches: kernels {:.3f} ms, between them {:.3f} ms; the host takes "
                  "{:.3f} ms for {}",
                  work_->launches, 1e3 * kernel, 1e3 * (seconds - kernel),
                  1e3 * host_time_.seconds(),
                  options_.engine == Engine::traced ? std::string("one replay")
                                                    : fmt::format("{} calls", work_->calls)));
}

}  // namespace howard::experiments
