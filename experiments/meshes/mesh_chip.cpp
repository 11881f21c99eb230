// SPDX-License-Identifier: Apache-2.0
#include "experiments/meshes/mesh_chip.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "engines/autograd/optimizers/adamw.h"
#include "engines/autograd/steps/static_step.h"
#include "engines/autograd/steps/training_step.h"
#include "engines/chip/chip_links.h"
#include "engines/program/program.h"
#include "experiments/cases/kernel_account.h"

namespace howard::experiments {
namespace {

using autograd::Tape;
using autograd::Value;
using profiler::StepTimes;

/// This is more than any step takes, so that its need is known even where it does not fit.
constexpr Bytes kDramOfMeshChip{std::int64_t{1} << 56};

models::ModelOptions share_of_mesh(const MeshJob& job, int first_block, int end_block,
                                   const autograd::DeviceGroup& tensor) {
  models::ModelOptions options = job.model;
  options.batch /= job.mesh.ddp;
  options.vocabulary = vocabulary_of(job);
  options.first_block = first_block;
  options.end_block = end_block;
  options.group = &tensor;
  return options;
}

std::unique_ptr<chip::EmulatedChip> open_mesh_chip(const DevBox& box, const MeshJob& job) {
  chip::Profiles profiles = box.profiles();
  profiles.chip.dram_capacity = kDramOfMeshChip;
  if (!job.traced) profiles = chip::of_mesh(profiles, job.mesh.ddp * job.mesh.tp);
  auto chip = box.with(profiles)->open_chip({.dispatch = job.dispatch});
  chip->begin_phase("step");
  return chip;
}

std::unique_ptr<autograd::Optimizer> optimizer_of(const MeshJob& job, const autograd::Calls& calls,
                                                  std::vector<autograd::Parameter*> parameters) {
  if (job.make_optimizer) return job.make_optimizer(calls, std::move(parameters));
  return std::make_unique<autograd::AdamW>(calls, std::move(parameters), AdamWAttributes{},
                                           autograd::AdamWForm::fused);
}

SimTime scaled(SimTime time, double factor) {
  return SimTime::picoseconds(std::llround(static_cast<double>(time.ps()) * factor));
}

/// The sum of one gradient over chips.
struct GradientSum {
  SimTime ready, time;
};

}  // namespace

MeshChip::MeshChip(const DevBox& box, const MeshJob& job, int first_block, int end_block)
    : repeats_(job.micro_batches > 1),
      traced_(job.traced),
      overlapped_(job.overlapped),
      chip_(open_mesh_chip(box, job)),
      tensor_(*chip_, 0, job.mesh.tp, 0),
      data_(*chip_, 1, job.mesh.ddp, 0),
      model_(*chip_, share_of_mesh(job, first_block, end_block, tensor_)),
      optimizer_(optimizer_of(job, autograd::Calls(*chip_), model_.parameters())),
      averaged_(*optimizer_, model_.parameters(), data_),
      activations_(*chip_, {model_.options().stream(), model_.options().compute}) {}

autograd::TapeOptions MeshChip::tape_options() const {
  return {.calls = {.products = models::kTtmlProducts}, .compute = model_.options().compute};
}

Value MeshChip::forward_on(Tape& tape) {
  const Value input = model_.options().has_input() ? model_.embedded(tape, model_.tokens())
                                                   : tape.leaf(activations_);
  const Value x = model_.blocks(tape, input);
  return model_.options().has_output() ? model_.loss_of(tape, x, model_.targets()) : x;
}

/// The gradient of what was sent on has the shape of the activations.
void MeshChip::backward_on(Tape& tape, Value output) {
  if (model_.options().has_output()) {
    tape.backward(output);
  } else {
    tape.backward(output, activations_);
  }
}

std::size_t MeshChip::pass(Device& device) {
  Tape tape(device, tape_options());
  const Value output = forward_on(tape);
  const auto* const recorder = dynamic_cast<const autograd::StepRecorder*>(&device);
  const std::size_t programs = recorder == nullptr ? 0 : recorder->programs().size();
  backward_on(tape, output);
  return programs;
}

autograd::StepFunction MeshChip::step_of(int micro_batches) {
  if (model_.options().has_input() && model_.options().has_output()) {
    return autograd::training_step([this](Tape& tape, int) { return model_.loss(tape); }, averaged_,
                                   {.tape = tape_options(), .batches = micro_batches});
  }
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

SimTime MeshChip::dynamic_step(const autograd::StepFunction& step) {
  static_cast<void>(step(*chip_));  // programs are planned here, once
  finish();
  const SimTime start = chip_->now();
  static_cast<void>(step(*chip_));
  finish();
  return chip_->now() - start;
}

SimTime MeshChip::traced_step(const autograd::StepFunction& step) {
  autograd::StaticStep planned(*chip_, step, autograd::Scalars::change_each_step);
  planned.run();
  // A replay repeats the numbers of AdamW; it takes the time of one that reads them.
  CommandQueue& queue = chip_->command_queue(0);
  queue.begin_trace_capture();
  for (const Program& program : planned.programs()) queue.enqueue(program);
  const TraceId trace = queue.end_trace_capture();
  finish();
  const SimTime start = chip_->now();
  queue.execute_trace(trace);
  finish();
  const SimTime time = chip_->now() - start;
  chip_->release_trace(trace);
  return time;
}

StepTimes MeshChip::whole_step(int micro_batches) {
  const autograd::StepFunction function = step_of(micro_batches);
  const SimTime time = traced_ ? traced_step(function) : dynamic_step(function);
  autograd::StepRecorder recorder(*chip_);
  static_cast<void>(function(recorder));
  const std::size_t end = recorder.programs().size();
  StepTimes step = with_kernels(time, recorder, 0, end);
  if (!overlapped_) return step;
  const std::size_t update = recorder.phases().back().first;
  const StepTimes last = with_kernels({}, recorder, update, end);
  const SimTime hidden = hidden_sums(recorder, update, time - last.compute - last.exchange);
  step.time = step.time - hidden;
  step.exchange = step.exchange - hidden;
  return step;
}

StageWork MeshChip::stage() {
  StageWork work = passes();
  work.update = update();
  work.activations = activations_.spec().padded_bytes();
  if (traced_) replay(work);
  return work;
}

StageWork MeshChip::passes() {
  pass(*chip_);
  if (!repeats_) forget_gradients();
  finish();
  StageWork work;
  SimTime forward, backward;
  {
    work.resting = used();
    const SimTime start = chip_->now();
    Tape tape(*chip_, tape_options());
    const Value output = forward_on(tape);
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

StepTimes MeshChip::update() {
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
  const SimTime hidden = hidden_sums(recorder, first, start - begin);
  update.time = update.time - hidden;
  update.exchange = update.exchange - hidden;
  return update;
}

void MeshChip::replay(StageWork& work) {
  // A replay has no gaps between its parts. The second micro-batch of a step is a pass, and what
  // the first one takes beyond that is the update.
  const SimTime one = traced_step(step_of(1));
  const SimTime pass = traced_step(step_of(2)) - one;
  const auto sum = [](const StepTimes& part) { return part.compute + part.exchange; };
  const double both = (sum(work.forward) + sum(work.backward)).seconds();
  work.forward.time = scaled(pass, sum(work.forward).seconds() / both);
  work.backward.time = pass - work.forward.time;
  work.update.time = std::max(one - pass, sum(work.update));
}

Bytes MeshChip::peak() const {
  Bytes most;
  for (const MemoryPhase& phase : chip_->memory_phases()) most = std::max(most, phase.peak);
  return most;
}

StepTimes MeshChip::with_kernels(SimTime time, const autograd::StepRecorder& recorder,
                                 std::size_t first, std::size_t end) {
  StepTimes times{.time = time};
  for (std::size_t i = first; i < end; ++i) {
    const Program& program = recorder.programs()[i];
    (is_collective(program.attributes) ? times.exchange : times.compute) +=
        kernel_time_of(*chip_, program);
  }
  return times;
}

SimTime MeshChip::hidden_sums(const autograd::StepRecorder& recorder, std::size_t update,
                              SimTime elapsed) {
  const std::vector<Program>& programs = recorder.programs();
  std::map<BufferId, SimTime> written;  // when the passes write each buffer last, in kernel time
  SimTime kernels;
  for (std::size_t i = 0; i < update; ++i) {
    kernels += kernel_time_of(*chip_, programs[i]);
    for (const Operand& output : programs[i].outputs) written[output.buffer] = kernels;
  }
  std::vector<GradientSum> sums;
  SimTime all;
  for (std::size_t i = update; i < programs.size(); ++i) {
    if (!is_collective(programs[i].attributes)) continue;
    const SimTime time = kernel_time_of(*chip_, programs[i]);
    all += time;
    // The first collective of a sum reads the gradient, and the second one what the first one made.
    const auto gradient = written.find(programs[i].inputs[0].buffer);
    if (gradient != written.end()) {
      sums.push_back({gradient->second, time});
    } else if (!sums.empty()) {
      sums.back().time += time;
    }
  }
  if (kernels == SimTime() || sums.empty()) return {};
  std::ranges::stable_sort(sums, {}, &GradientSum::ready);
  const double stretch = elapsed.seconds() / kernels.seconds();
  SimTime end;
  for (const GradientSum& sum : sums) end = std::max(end, scaled(sum.ready, stretch)) + sum.time;
  return all - std::max(end - elapsed, SimTime());
}

void MeshChip::forget_gradients() {
  for (autograd::Parameter* parameter : model_.parameters()) parameter->gradient.reset();
}

}  // namespace howard::experiments
