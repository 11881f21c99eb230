// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/fit/tier_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "engines/autograd/host_values.h"
#include "engines/autograd/steps/step_recorder.h"
#include "engines/autograd/steps/training_step.h"
#include "engines/chip/emulated_chip.h"
#include "engines/models/language_model.h"
#include "engines/training/optimizers.h"

namespace howard::cli {
namespace {

using autograd::Parameter;

/// This is more than any rank takes, so that its need is known even where it does not fit.
constexpr Bytes kDramOfTiers{std::int64_t{1} << 56};

/// Emulates the chip of one rank of tiers: what TierTrainer does there, without values. Messages
/// between hosts take no time of their own; the chip's reads and writes do.
class TierChip {
 public:
  TierChip(const RunSetting& setting, chip::Profiles profiles) : recipe_(setting.recipe) {
    profiles.chip.dram_capacity = kDramOfTiers;
    chip_ = std::make_unique<chip::EmulatedChip>(profiles);
    chip_->begin_phase("model");
    model_ = models::make_model(*chip_, recipe_.model.with(setting.vocabulary));
    parameters_ = model_->parameters();
    Bytes largest;
    for (const Parameter* parameter : parameters_) {
      largest = std::max(largest, parameter->value.spec().host_bytes());
      largest = std::max(largest, gradient_of(*parameter).host_bytes());
    }
    // Nobody reads or writes it: the chip has no values.
    scratch_size_ = static_cast<std::size_t>(largest.value());
    scratch_ = std::make_unique_for_overwrite<std::byte[]>(scratch_size_);
  }

  std::size_t tensors() const { return parameters_.size(); }
  std::int64_t parameters() const {
    std::int64_t count = 0;
    for (const Parameter* parameter : parameters_) {
      count += parameter->value.spec().shape.elements();
    }
    return count;
  }
  Bytes bytes_of_parameters() const {
    Bytes sum;
    for (const Parameter* parameter : parameters_) sum += parameter->value.spec().host_bytes();
    return sum;
  }
  Bytes bytes_of_gradients() const {
    Bytes sum;
    for (const Parameter* parameter : parameters_) sum += gradient_of(*parameter).host_bytes();
    return sum;
  }
  Bytes peak() const {
    Bytes most;
    for (const MemoryPhase& phase : chip_->memory_phases()) most = std::max(most, phase.peak);
    return most;
  }

  /// Returns the time of all passes of a step; `kernels` gets the part in which kernels run.
  SimTime passes(SimTime& kernels) {
    pass(*chip_);  // programs are planned here, once
    forget();
    const SimTime first = timed([&] { pass(*chip_); });
    const SimTime next = timed([&] { pass(*chip_); });  // it adds to the gradients
    kernels += kernels_of([&](Device& device) { pass(device); }) * recipe_.accumulate;
    return first + next * (recipe_.accumulate - 1);
  }

  SimTime read_gradients() {
    return timed([&] {
      for (Parameter* parameter : parameters_) {
        if (!parameter->gradient) parameter->gradient.emplace(*chip_, gradient_of(*parameter));
        read(*parameter->gradient);
        parameter->gradient.reset();
      }
    });
  }
  SimTime write_gradients() {
    return timed([&] {
      for (Parameter* parameter : parameters_) {
        parameter->gradient.emplace(*chip_, gradient_of(*parameter));
        write(*parameter->gradient);
      }
    });
  }
  /// Writes the gradients of another worker and adds them to those that are there.
  SimTime add_gradients() {
    return timed([&] {
      for (Parameter* parameter : parameters_) {
        const ops::Tensor received(*chip_, gradient_of(*parameter));
        write(received);
        parameter->gradient = autograd::Calls(*chip_).add(*parameter->gradient, received);
      }
    });
  }
  SimTime divide_gradients() {
    return timed([&] {
      for (Parameter* parameter : parameters_) {
        parameter->gradient = autograd::Calls(*chip_).multiply(*parameter->gradient, 0.5F);
      }
    });
  }
  SimTime read_parameters() {
    return timed([&] {
      for (const Parameter* parameter : parameters_) read(parameter->value);
    });
  }
  SimTime write_parameters() {
    return timed([&] {
      for (const Parameter* parameter : parameters_) write(parameter->value);
    });
  }

  void make_optimizer() {
    chip_->begin_phase("optimizer");
    optimizer_ = training::make_optimizer(recipe_, autograd::Calls(*chip_), parameters_, false);
  }
  /// The gradients must be there.
  SimTime update() {
    return timed([&] { optimizer_->step(autograd::Calls(*chip_)); });
  }

 private:
  TensorSpec gradient_of(const Parameter& parameter) const {
    return {parameter.value.spec().shape, recipe_.model.compute};
  }

  template <class Work>
  SimTime timed(const Work& work) {
    queue().finish();
    const SimTime start = chip_->now();
    work();
    queue().finish();
    return chip_->now() - start;
  }

  template <class Work>
  SimTime kernels_of(const Work& work) {
    forget();
    autograd::StepRecorder recorder(*chip_);
    work(recorder);
    SimTime sum;
    for (const Program& program : recorder.programs()) {
      for (const chip::PlannedProgram& launch : chip_->launches(program)) {
        sum += launch.kernel.total;
      }
    }
    forget();
    return sum;
  }

  void pass(Device& device) {
    if (&device == chip_.get()) {
      const std::vector<std::uint32_t> data(
          static_cast<std::size_t>(recipe_.model.batch * recipe_.model.sequence));
      autograd::write_indices(queue(), model_->tokens(), data);
      autograd::write_indices(queue(), model_->targets(), data);
    }
    autograd::Tape tape(
        device, {.calls = {.products = models::kTtmlProducts}, .compute = recipe_.model.compute});
    device.begin_phase("forward");
    const autograd::Value loss = model_->loss(tape, model_->tokens(), model_->targets());
    if (&device == chip_.get()) {
      static_cast<void>(autograd::read_values(queue(), tape.tensor(loss)));
    }
    device.begin_phase("backward");
    tape.backward(loss);
  }

  void forget() {
    for (Parameter* parameter : parameters_) parameter->gradient.reset();
  }
  CommandQueue& queue() { return chip_->command_queue(0); }
  std::span<std::byte> scratch_for(const ops::Tensor& tensor) {
    return std::span(scratch_.get(), scratch_size_)
        .first(static_cast<std::size_t>(tensor.spec().host_bytes().value()));
  }
  void read(const ops::Tensor& tensor) {
    queue().read_buffer(tensor.buffer(), scratch_for(tensor));
  }
  void write(const ops::Tensor& tensor) {
    queue().write_buffer(tensor.buffer(), scratch_for(tensor));
  }

  training::Recipe recipe_;
  std::unique_ptr<chip::EmulatedChip> chip_;
  std::unique_ptr<models::LanguageModel> model_;
  std::vector<Parameter*> parameters_;
  std::unique_ptr<autograd::Optimizer> optimizer_;
  std::unique_ptr<std::byte[]> scratch_;
  std::size_t scratch_size_ = 0;
};

/// Returns the time of an update. The first one plans its programs.
SimTime planned_update(TierChip& chip) {
  chip.write_gradients();
  chip.update();
  chip.write_gradients();
  return chip.update();
}

/// Adds a rank at the end of the way of a step.
void add_rank(std::string name, std::string share, SimTime working, Bytes peak, RunPlan& plan) {
  plan.parts.push_back({.name = std::move(name),
                        .share = std::move(share),
                        .working = working,
                        .waiting = {},
                        .peak = peak});
  plan.step += working;
  plan.peak = std::max(plan.peak, peak);
}

}  // namespace

/// Holds what does not depend on the batch, nor on the number of workers: each time is that of all
/// tensors once.
struct TierPlanner::Handing {
  SimTime read_gradients, write_gradients, add_gradients, divide_gradients;
  SimTime read_parameters, write_parameters, update;
  Bytes aggregator, optimizer, both;  ///< The DRAM of these ranks.
  std::int64_t tensors = 0, parameters = 0;
  Bytes gradient_bytes, parameter_bytes;
};

TierPlanner::TierPlanner(const RunSetting& setting, chip::Profiles profiles)
    : profiles_(std::move(profiles)), handing_(std::make_unique<Handing>()) {
  Handing& handing = *handing_;
  RunSetting one = setting;
  one.recipe.model.batch = 1;
  TierChip aggregator(one, profiles_);
  handing.write_gradients = aggregator.write_gradients();
  aggregator.add_gradients();  // programs are planned here, once
  aggregator.divide_gradients();
  handing.add_gradients = aggregator.add_gradients();
  handing.divide_gradients = aggregator.divide_gradients();
  handing.read_gradients = aggregator.read_gradients();
  handing.write_parameters = aggregator.write_parameters();
  handing.read_parameters = aggregator.read_parameters();
  handing.aggregator = aggregator.peak();
  handing.tensors = static_cast<std::int64_t>(aggregator.tensors());
  handing.parameters = aggregator.parameters();
  handing.gradient_bytes = aggregator.bytes_of_gradients();
  handing.parameter_bytes = aggregator.bytes_of_parameters();
  TierChip optimizer(one, profiles_);
  optimizer.make_optimizer();
  handing.update = planned_update(optimizer);
  handing.optimizer = optimizer.peak();
  optimizer.write_gradients();
  optimizer.add_gradients();
  handing.both = optimizer.peak();
}

TierPlanner::~TierPlanner() = default;

std::vector<RunPlan> TierPlanner::plans(const RunSetting& setting,
                                        std::span<const training::MeshPlan> tiers) const {
  TierChip worker(setting, profiles_);
  SimTime kernels;
  const SimTime passes = worker.passes(kernels);
  worker.read_gradients();
  std::vector<RunPlan> plans;
  for (const training::MeshPlan& plan : tiers) {
    plans.push_back(joined(plan, passes, worker.peak()));
    plans.back().kernels = kernels;
    complete_plan(setting, profiles_, plans.back());
    plans.back().setting.plan = plan;
  }
  return plans;
}

RunPlan TierPlanner::joined(const training::MeshPlan& tiers, SimTime passes,
                            Bytes worker_peak) const {
  const Handing& all = *handing_;
  const int workers = tiers.workers;
  RunPlan plan;
  const SimTime sent = all.read_gradients + all.write_parameters;
  add_rank(workers == 1 ? "worker" : fmt::format("{} workers", workers), "passes", passes + sent,
           worker_peak, plan);
  const SimTime joined =
      all.write_gradients + all.add_gradients * (workers - 1) + all.read_parameters * workers;
  plan.exchanges = sent + joined;
  const SimTime aggregating = joined + all.divide_gradients;
  if (tiers.three_tiers) {
    const SimTime passed = all.read_gradients + all.write_parameters;
    const SimTime taken = all.write_gradients + all.read_parameters;
    add_rank("aggregator", "means", aggregating + passed, all.aggregator, plan);
    add_rank("optimizer", "update", taken + all.update, all.optimizer, plan);
    plan.exchanges += passed + taken;
  } else {
    add_rank("aggregator", "means, update", aggregating + all.update, all.both, plan);
  }
  for (PlanPart& part : plan.parts) part.waiting = plan.step - part.working;
  plan.parameters = all.parameters;
  const int passes_of_all = workers + (tiers.three_tiers ? 1 : 0);
  plan.messages = 2 * passes_of_all * all.tensors;
  plan.message_bytes = passes_of_all * (all.gradient_bytes + all.parameter_bytes);
  return plan;
}

}  // namespace howard::cli
