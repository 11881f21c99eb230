// SPDX-License-Identifier: Apache-2.0
#include "experiments/training_plan/emulated_run.h"

#include <algorithm>
#include <utility>

#include "engines/autograd/host_values.h"
#include "engines/autograd/optimizers/averaged_gradients.h"
#include "engines/autograd/steps/training_step.h"
#include "engines/chip/calibration/bands.h"
#include "engines/chip/kernels/plan/footprint.h"
#include "engines/program/program.h"
#include "engines/training/clipped.h"
#include "engines/training/optimizers.h"
#include "experiments/cases/host_time.h"

namespace howard::experiments {
namespace {

std::size_t elements_of(const ops::Tensor& tensor) {
  return static_cast<std::size_t>(tensor.spec().shape.elements());
}

}  // namespace

/// Notes when the first kernel of each launch begins, and how long the host waits.
class EmulatedRun::Events final : public EventSink {
 public:
  void record(const TimelineEvent& event) override {
    waits_.record(event);
    if (event.category != "kernel" || event.program <= last_) return;
    last_ = event.program;
    starts_.push_back(event.start);
  }
  const std::vector<SimTime>& starts() const { return starts_; }
  SimTime host_waits() const { return waits_.time(); }

 private:
  HostWaits waits_;
  std::uint64_t last_ = 0;
  std::vector<SimTime> starts_;
};

EmulatedRun::EmulatedRun(const RunSetting& setting, const chip::Profiles& profiles,
                         MemorySink* memory)
    : setting_(setting),
      chip_(profiles, {.dispatch = setting.dispatch, .memory = memory}),
      tensor_(chip_, 0, setting.plan.tp, 0),
      copies_(chip_, 1, setting.plan.ddp, 0),
      sharers_(chip_, 2, setting.plan.fsdp, 0) {
  training::Recipe& recipe = setting_.recipe;
  const training::MeshPlan& plan = setting_.plan;
  const bool traced = setting.engine == training::Engine::traced;
  const bool calls = setting.engine == training::Engine::dynamic;
  recipe.model.batch /= plan.batch_shares();
  chip_.begin_phase("model");
  models::ModelOptions own =
      recipe.model.with(vocabulary_rows(setting), &tensor_, plan.sequence_parallel);
  own.sharers = &sharers_;
  own.lazy_parameters = plan.lazy;
  model_ = models::make_model(chip_, own);
  batch_ = models::own_batch(chip_, *model_,
                             recipe.examples ? models::Weights::given : models::Weights::none);
  chip_.begin_phase("optimizer");
  optimizer_ =
      training::make_optimizer(recipe, autograd::Calls(chip_), model_->parameters(), traced);
  if (recipe.optimizer.clip > 0) {
    clipped_ = std::make_unique<training::Clipped>(
        *optimizer_, model_->parameters(), recipe.optimizer.clip, calls && !setting.replayed);
  }
  averaged_ = std::make_unique<autograd::AveragedGradients>(
      clipped_ ? *clipped_ : *optimizer_, model_->parameters(), copies_, &sharers_);
  if (traced && recipe.model.dropout > 0) {
    seed_offset_.emplace(chip_, TensorSpec{{1, 1}, DataType::uint32});
  }
  step_ = autograd::training_step(
      [this](autograd::Tape& tape, int) { return models::batch_loss(tape, *model_, *batch_); },
      *averaged_,
      {.tape = {.calls = {.products = models::kTtmlProducts},
                .compute = recipe.model.compute,
                .seed_offset = seed_offset_},
       .batches = recipe.accumulate,
       .after_forward = [this](Device& device, const ops::Tensor& loss) { read(device, loss); }});
  if (calls) return;
  runner_.emplace(chip_, step_, setting.engine, training::scalars_of(recipe, setting.engine));
}

void EmulatedRun::read(Device& device, const ops::Tensor& loss) {
  if (&device != &chip_ || runner_) return;
  read_losses(chip_.command_queue(0), loss, setting_.plan.devices());
}

void EmulatedRun::write_batch() {
  CommandQueue& queue = chip_.command_queue(0);
  model_->write_tokens(queue, batch_->tokens,
                       std::vector<std::uint32_t>(elements_of(batch_->tokens)));
  write_data(queue, batch_->targets);
  if (!batch_->weights) return;
  autograd::write_values(queue, *batch_->weights, std::vector<float>(elements_of(batch_->targets)));
}

SimTime EmulatedRun::update() {
  start_ = chip_.now();
  for (int i = 0; i < setting_.recipe.accumulate; ++i) write_batch();
  update_alone();
  return chip_.now() - start_;
}

void EmulatedRun::update_alone() {
  CommandQueue& queue = chip_.command_queue(0);
  optimizer_->set_numbers(training::numbers_of(setting_.recipe, ++steps_));
  optimizer_->write_numbers(queue);
  if (seed_offset_) autograd::write_indices(queue, *seed_offset_, std::vector<std::uint32_t>(1));
  if (runner_) {
    static_cast<void>(runner_->run());
  } else if (setting_.replayed) {
    if (!replay_) {
      replay_ = std::make_unique<autograd::TracedStep>(chip_, repeated_.emplace(chip_, step_));
    }
    replay_->run();
    static_cast<void>(autograd::read_values(queue, replay_->loss()));
  } else {
    static_cast<void>(step_(chip_));
    queue.finish();
  }
  model_->after_update(queue);
}

bool EmulatedRun::has_gradients() const {
  return std::ranges::any_of(model_->parameters(), [](const autograd::Parameter* parameter) {
    return parameter->gradient.has_value();
  });
}

Bytes EmulatedRun::peak() const { return peak_of(chip_); }

RunPlan EmulatedRun::planned_update() {
  RunPlan plan;
  Events events;
  chip_.set_trace_sink(&events);
  plan.step.time = update();
  chip_.set_trace_sink(nullptr);
  plan.host = plan.step.time - events.host_waits();
  plan.peak = peak();
  describe(events, plan);
  return plan;
}

/// Says what the programs of an update take and, of one whose launches are all known, its phases.
void EmulatedRun::describe(const Events& events, RunPlan& plan) {
  autograd::StepRecorder recorder(chip_, autograd::StepRecorder::Reads::zeros);
  static_cast<void>(step_(recorder));
  const std::size_t update = recorder.phases().back().first;
  const chip::Profiles& profiles = chip_.profiles();
  std::size_t launches = 0;
  std::vector<std::size_t> launches_before;  // each program
  std::vector<SimTime> exchanged_by;         // each program
  for (const Program& program : recorder.programs()) {
    const bool exchanges = is_collective(program.attributes);
    SimTime time;
    launches_before.push_back(launches);
    for (const chip::PlannedProgram& launch : chip_.launches(program)) {
      ++launches;
      time += launch.kernel.total;
      plan.trace += chip::trace_bytes(launch.footprint, profiles.software);
      (exchanges ? plan.exchanges : plan.kernels)
          .add(launch.name, launch, calibration::band_of(launch, profiles.chip.architecture));
    }
    exchanged_by.push_back(exchanges ? time : SimTime());
    (launches_before.size() <= update ? plan.step.exchange : plan.step.sums) += exchanged_by.back();
    plan.computed += program.flops;
  }
  plan.calls = std::ssize(recorder.programs());
  plan.step.compute = plan.kernels.kernel_time();
  if (setting_.overlapped) {
    hide_sums(recorder, plan);
  } else if (events.starts().size() == launches) {
    const auto& phases = recorder.phases();
    const auto start_of = [&](std::size_t phase) {
      if (phase == 0) return start_;
      const bool ends = phase == phases.size() || phases[phase].first == launches_before.size();
      return ends ? start_ + plan.step.time
                  : events.starts().at(launches_before[phases[phase].first]);
    };
    for (std::size_t phase = 0; phase < phases.size(); ++phase) {
      const std::size_t end =
          phase + 1 < phases.size() ? phases[phase + 1].first : exchanged_by.size();
      SimTime time = start_of(phase + 1) - start_of(phase);
      for (std::size_t i = phases[phase].first; i < end; ++i) time = time - exchanged_by[i];
      const std::string& name = phases[phase].name;
      plan.phases[name == "step" ? "optimizer" : name] += std::max(time, SimTime());
    }
  }
  const auto whole =
      models::make_model(recorder, setting_.recipe.model.with(vocabulary_rows(setting_)));
  for (const autograd::Parameter* parameter : whole->parameters()) {
    plan.parameters += parameter->value.spec().shape.elements();
    if (!parameter->trained) plan.frozen += parameter->value.spec().shape.elements();
  }
}

/// Shortens the step by the sums that its passes hide.
void EmulatedRun::hide_sums(const autograd::StepRecorder& recorder, RunPlan& plan) {
  const std::size_t update = recorder.phases().back().first;
  SimTime passes = plan.step.time - plan.step.sums;
  for (std::size_t i = update; i < recorder.programs().size(); ++i) {
    const Program& program = recorder.programs()[i];
    if (!is_collective(program.attributes)) passes = passes - kernel_time_of(chip_, program);
  }
  const SimTime hidden = hidden_sums(chip_, recorder, update, passes);
  plan.step.time = plan.step.time - hidden;
  plan.step.sums = plan.step.sums - hidden;
}

}  // namespace howard::experiments
