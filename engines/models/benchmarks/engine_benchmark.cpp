// SPDX-License-Identifier: Apache-2.0
//
// Measures what the engines themselves cost for each call of an op, in a training step of the
// report's MLP on a device that does nothing.

#include <benchmark/benchmark.h>

#include "engines/autograd/optimizers/sgd.h"
#include "engines/autograd/steps/published_step.h"
#include "engines/autograd/steps/static_step.h"
#include "engines/autograd/steps/training_step.h"
#include "engines/models/mlp.h"

namespace {

using namespace howard;

class NullDevice final : public Device, private CommandQueue {
 public:
  std::string description() const override { return "null"; }
  bool holds_values() const override { return false; }
  BufferId allocate(const TensorSpec&) override { return BufferId{next_++}; }
  void release(BufferId) override {}
  int command_queues() const override { return 1; }
  CommandQueue& command_queue(int) override { return *this; }
  void release_trace(TraceId) override {}
  void set_sub_devices(std::span<const CoreRange>) override {}
  SimTime now() const override { return {}; }
  void set_trace_sink(EventSink*) override {}
  std::int64_t calls() const { return calls_; }

 private:
  void enqueue(const Program& program) override {
    benchmark::DoNotOptimize(&program);
    ++calls_;
  }
  void write_buffer(BufferId, std::span<const std::byte>) override {}
  void read_buffer(BufferId, std::span<std::byte>) override {}
  void finish() override {}
  EventId record_event() override { return {}; }
  void wait_for_event(EventId) override {}
  void begin_trace_capture() override {}
  TraceId end_trace_capture() override { return {}; }
  void execute_trace(TraceId) override {}

  std::uint64_t next_ = 1;
  std::int64_t calls_ = 0;
};

/// Runs steps and reports the time for each call of an op.
template <class Step>
void run(benchmark::State& state, const NullDevice& device, Step&& step) {
  const std::int64_t before = device.calls();
  for ([[maybe_unused]] auto iteration : state) step();
  state.counters["per_call"] =
      benchmark::Counter(static_cast<double>(device.calls() - before),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

struct Training {
  explicit Training(models::MlpFunctions functions)
      : step(autograd::training_step(
            [this, functions](autograd::Tape& tape, int) { return model.loss(tape, functions); },
            sgd)) {}

  NullDevice device;
  models::Mlp model{device, {}};
  autograd::Sgd sgd{model.parameters(), 0.01F};
  autograd::StepFunction step;
};

void dynamic_by_op(benchmark::State& state) {
  Training training(models::MlpFunctions::by_op);
  run(state, training.device, [&] { training.step(training.device); });
}

void dynamic_by_layer(benchmark::State& state) {
  Training training(models::MlpFunctions::by_layer);
  run(state, training.device, [&] { training.step(training.device); });
}

void static_planned(benchmark::State& state) {
  Training training(models::MlpFunctions::by_layer);
  autograd::StaticStep step(training.device, training.step);
  run(state, training.device, [&] { step.run(); });
}

void static_as_published(benchmark::State& state) {
  Training training(models::MlpFunctions::by_layer);
  autograd::PublishedStep step(training.device, training.step, training.model.parameters());
  run(state, training.device, [&] { step.run(); });
}

}  // namespace

BENCHMARK(dynamic_by_op);
BENCHMARK(dynamic_by_layer);
BENCHMARK(static_planned);
BENCHMARK(static_as_published);
BENCHMARK_MAIN();
