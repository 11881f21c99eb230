// SPDX-License-Identifier: Apache-2.0
#include "experiments/training_plan/stage_chip.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engines/program/program.h"
#include "engines/training/optimizers.h"
#include "experiments/cases/kernel_account.h"
#include "experiments/training_plan/planned_chip.h"

namespace howard::experiments {
namespace {

using autograd::Tape;
using autograd::Value;
using profiler::StepTimes;

models::ModelOptions share_of_stage(const RunSetting& setting, int first_block, int end_block,
                                    const autograd::DeviceGroup& tensor) {
  models::ModelOptions options =
      setting.recipe.model.with(vocabulary_rows(setting), &tensor, setting.plan.sequence_parallel);
  options.batch /= setting.plan.ddp;
  options.first_block = first_block;
  options.end_block = end_block;
  return options;
}

std::unique_ptr<chip::EmulatedChip> open_chip(const RunSetting& setting,
                                              const chip::Profiles& profiles,
                                              MemorySink* listener) {
  auto chip = std::make_unique<chip::EmulatedChip>(
      planned_profiles(setting, profiles),
      chip::DeviceOptions{.dispatch = setting.dispatch, .memory = listener});
  chip->begin_phase("step");
  return chip;
}

}  // namespace

StageChip::StageChip(const RunSetting& setting, const chip::Profiles& profiles, int first_block,
                     int end_block, MemorySink* listener)
    : repeats_(setting.recipe.accumulate > 1),
      replayed_(setting.replayed),
      overlapped_(setting.overlapped),
      chips_(setting.plan.devices()),
      chip_(open_chip(setting, profiles, listener)),
      tensor_(*chip_, 0, setting.plan.tp, 0),
      data_(*chip_, 1, setting.plan.ddp, 0),
      model_(*chip_, share_of_stage(setting, first_block, end_block, tensor_)),
      optimizer_(training::make_optimizer(setting.recipe, autograd::Calls(*chip_),
                                          model_.parameters(), false)),
      averaged_(*optimizer_, model_.parameters(), data_),
      activations_(*chip_, {model_.options().stream(), model_.options().compute}) {}

autograd::TapeOptions StageChip::tape_options() const {
  return {.calls = {.products = models::kTtmlProducts}, .compute = model_.options().compute};
}

Value StageChip::forward_on(Tape& tape) {
  const Value input = model_.options().has_input() ? model_.embedded(tape, model_.tokens())
                                                   : tape.leaf(activations_);
  const Value x = model_.blocks(tape, input);
  return model_.options().has_output() ? model_.loss_of(tape, x, model_.targets()) : x;
}

/// The gradient of what was sent on has the shape of the activations.
void StageChip::backward_on(Tape& tape, Value output) {
  if (model_.options().has_output()) {
    tape.backward(output);
  } else {
    tape.backward(output, activations_);
  }
}

std::size_t StageChip::pass(Device& device) {
  Tape tape(device, tape_options());
  const Value output = forward_on(tape);
  const auto* const recorder = dynamic_cast<const autograd::StepRecorder*>(&device);
  const std::size_t programs = recorder == nullptr ? 0 : recorder->programs().size();
  backward_on(tape, output);
  return programs;
}

autograd::StepFunction StageChip::step_of(int micro_batches) {
  return [this, micro_batches](Device& device) {
    std::optional<ops::Tensor> output;
    for (int i = 0; i < micro_batches; ++i) {
      Tape tape(device, tape_options());
      const Value value = forward_on(tape);
      output = tape.tensor(value);
      backward_on(tape, value);
    }
    device.begin_phase("step");
    averaged_.step(autograd::Calls(device, tape_options().calls));
    return *output;
  };
}

StageWork StageChip::run() {
  StageWork work = passes();
  work.update = update();
  work.activations = activations_.spec().padded_bytes();
  if (replayed_) replay(work);
  return work;
}

StageWork StageChip::passes() {
  pass(*chip_);
  if (!repeats_) forget_gradients();
  finish();
  StageWork work;
  SimTime forward, backward;
  {
    work.resting = used();
    const SimTime start = chip_->now();
    CommandQueue& queue = chip_->command_queue(0);
    if (model_.options().has_input()) write_data(queue, model_.tokens());
    if (model_.options().has_output()) write_data(queue, model_.targets());
    Tape tape(*chip_, tape_options());
    const Value output = forward_on(tape);
    if (model_.options().has_output()) read_losses(queue, tape.tensor(output), chips_);
    finish();
    const SimTime middle = chip_->now();
    work.kept = used() - work.resting;
    backward_on(tape, output);
    finish();
    forward = middle - start;
    backward = chip_->now() - middle;
  }
  if (!repeats_) forget_gradients();  // the recorded pass is like the one that was timed
  autograd::StepRecorder recorder(*chip_);
  const std::size_t middle = pass(recorder);
  forget_gradients();
  work.forward = with_kernels(forward, recorder, 0, middle);
  work.backward = with_kernels(backward, recorder, middle, recorder.programs().size());
  return work;
}

StepTimes StageChip::update() {
  const SimTime begin = chip_->now();
  pass(*chip_);
  finish();
  const SimTime start = chip_->now();
  averaged_.step(autograd::Calls(*chip_));
  finish();
  const SimTime time = chip_->now() - start;
  autograd::StepRecorder recorder(*chip_);
  pass(recorder);
  const std::size_t first = recorder.programs().size();
  averaged_.step(autograd::Calls(recorder));
  StepTimes update = with_kernels(time, recorder, first, recorder.programs().size());
  if (!overlapped_) return update;
  const SimTime hidden = hidden_sums(*chip_, recorder, first, start - begin);
  update.time = update.time - hidden;
  update.exchange = update.exchange - hidden;
  return update;
}

void StageChip::replay(StageWork& work) {
  // A replay has no gaps between its parts. The second micro-batch of a step is a pass, and what
  // the first one takes beyond that is the update.
  const SimTime one = replay_time(*chip_, step_of(1));
  const SimTime pass = replay_time(*chip_, step_of(2)) - one;
  const auto sum = [](const StepTimes& part) { return part.compute + part.exchange; };
  const double both = (sum(work.forward) + sum(work.backward)).seconds();
  work.forward.time = scaled(pass, sum(work.forward).seconds() / both);
  work.backward.time = pass - work.forward.time;
  work.update.time = std::max(one - pass, sum(work.update));
}

Bytes StageChip::peak() const { return peak_of(*chip_); }

StepTimes StageChip::with_kernels(SimTime time, const autograd::StepRecorder& recorder,
                                  std::size_t first, std::size_t end) {
  StepTimes times{.time = time};
  for (std::size_t i = first; i < end; ++i) {
    const Program& program = recorder.programs()[i];
    (is_collective(program.attributes) ? times.exchange : times.compute) +=
        kernel_time_of(*chip_, program);
  }
  return times;
}

void StageChip::forget_gradients() {
  for (autograd::Parameter* parameter : model_.parameters()) parameter->gradient.reset();
}

}  // namespace howard::experiments
