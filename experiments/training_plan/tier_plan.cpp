// SPDX-License-Identifier: Apache-2.0
#include "experiments/training_plan/tier_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engines/autograd/functions/collective/collectives.h"
#include "engines/autograd/host_values.h"
#include "engines/autograd/steps/step_recorder.h"
#include "engines/autograd/steps/training_step.h"
#include "engines/chip/chip_links.h"
#include "engines/chip/emulated_chip.h"
#include "engines/models/language_model.h"
#include "engines/ops/tensor.h"
#include "engines/training/optimizers.h"
#include "experiments/cases/kernel_account.h"
#include "experiments/training_plan/planned_chip.h"

namespace howard::experiments {
namespace {

using autograd::Parameter;

/// Emulates a chip of one rank of tiers: what TierTrainer does there, without values. A message is
/// a tensor as it lies on the chip, in whole tiles, from each chip of a rank's mesh to that in the
/// same place of the other rank's. Its time between the ranks counts where it is received.
class TierChip {
 public:
  TierChip(const RunSetting& setting, const chip::Profiles& profiles)
      : recipe_(setting.recipe),
        chips_(setting.plan.ddp * setting.plan.tp),
        fabric_(setting.plan.fabric) {
    chip_ = std::make_unique<chip::EmulatedChip>(planned_profiles(setting, profiles),
                                                 chip::DeviceOptions{.dispatch = setting.dispatch});
    chip_->begin_phase("model");
    tensor_.emplace(*chip_, 0, setting.plan.tp, 0);
    data_.emplace(*chip_, 1, setting.plan.ddp, 0);
    recipe_.model.batch /= setting.plan.ddp;
    model_ = models::make_model(*chip_, recipe_.model.with(vocabulary_rows(setting), &*tensor_,
                                                           setting.plan.sequence_parallel));
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
  /// Returns those of the whole model.
  std::int64_t parameters(const RunSetting& setting) const {
    autograd::StepRecorder recorder(*chip_);
    const auto whole = models::make_model(recorder, recipe_.model.with(vocabulary_rows(setting)));
    std::int64_t count = 0;
    for (const Parameter* parameter : whole->parameters()) {
      count += parameter->value.spec().shape.elements();
    }
    return count;
  }
  Bytes bytes_of_parameters() const {
    Bytes sum;
    for (const Parameter* parameter : parameters_) sum += parameter->value.spec().padded_bytes();
    return chips_ * sum;
  }
  Bytes bytes_of_gradients() const {
    Bytes sum;
    for (const Parameter* parameter : parameters_) sum += gradient_of(*parameter).padded_bytes();
    return chips_ * sum;
  }
  /// A rank that sends and receives over links has a ring for what it receives.
  Bytes peak() const { return fabric_ ? peak_of(*chip_) + kFabricRing : peak_of(*chip_); }

  /// Returns the time of all passes of a step; `kernels` gets the part in which kernels run.
  SimTime passes(SimTime& kernels) {
    pass(*chip_);  // programs are planned here, once
    forget();
    const SimTime first = timed([&] { pass(*chip_); });
    const SimTime next = timed([&] { pass(*chip_); });  // it adds to the gradients
    kernels += kernels_of([&](Device& device) { pass(device); }) * recipe_.accumulate;
    return first + next * (recipe_.accumulate - 1);
  }

  SimTime send_gradients() {
    return timed([&] {
      for (Parameter* parameter : parameters_) {
        if (!parameter->gradient) parameter->gradient.emplace(*chip_, gradient_of(*parameter));
        read(*parameter->gradient);
        parameter->gradient.reset();
      }
    });
  }
  SimTime receive_gradients() {
    return timed([&] {
      for (Parameter* parameter : parameters_) {
        parameter->gradient.emplace(*chip_, gradient_of(*parameter));
        receive(*parameter->gradient);
      }
    });
  }
  /// Receives the gradients of another worker and adds them to those that are there.
  SimTime add_gradients() {
    return timed([&] {
      for (Parameter* parameter : parameters_) {
        const ops::Tensor received(*chip_, gradient_of(*parameter));
        receive(received);
        parameter->gradient = autograd::Calls(*chip_).add(*parameter->gradient, received);
      }
    });
  }
  /// Divides the sums by the workers; first they are summed over the aggregator's groups.
  SimTime divide_gradients() {
    return timed([&] {
      for (Parameter* parameter : parameters_) {
        parameter->gradient =
            autograd::all_reduce(autograd::Calls(*chip_), *parameter->gradient, *data_);
        parameter->gradient = autograd::Calls(*chip_).multiply(*parameter->gradient, 0.5F);
      }
    });
  }
  SimTime send_parameters() {
    return timed([&] {
      for (const Parameter* parameter : parameters_) read(parameter->value);
    });
  }
  SimTime receive_parameters() {
    return timed([&] {
      for (const Parameter* parameter : parameters_) receive(parameter->value);
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
    for (const Program& program : recorder.programs()) sum += kernel_time_of(*chip_, program);
    forget();
    return sum;
  }

  void pass(Device& device) {
    const bool runs = &device == chip_.get();
    if (runs) {
      write_data(queue(), model_->tokens());
      write_data(queue(), model_->targets());
    }
    autograd::Tape tape(
        device, {.calls = {.products = models::kTtmlProducts}, .compute = recipe_.model.compute});
    device.begin_phase("forward");
    const autograd::Value loss = model_->loss(tape, model_->tokens(), model_->targets());
    if (runs) read_losses(queue(), tape.tensor(loss), chips_);
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
  /// Reads a tensor from each chip of the mesh, one after the other; a socket over links reads
  /// nothing.
  void read(const ops::Tensor& tensor) {
    queue().finish();
    for (int i = 0; i < chips_ && !fabric_; ++i) {
      queue().read_buffer(tensor.buffer(), scratch_for(tensor));
    }
  }
  /// Receives a tensor as TTML's sockets do: from a ring over a link, or from the other host. Then
  /// it reads what is there for buffers of that size, writes what comes to a new tensor, and copies
  /// that.
  void receive(const ops::Tensor& tensor) {
    read(tensor);
    const chip::Profiles& profiles = chip_->profiles();
    const Bytes size = tensor.spec().padded_bytes();
    if (fabric_) {
      return chip_->pass_host_time(chip::send_time(profiles, size), "message");
    }
    chip_->pass_host_time(transfer_time(chips_ * size, profiles.software.host_message), "message");
    const ops::Tensor arrived(*chip_, tensor.spec());
    for (int i = 0; i < chips_; ++i) queue().write_buffer(arrived.buffer(), scratch_for(arrived));
    queue().enqueue(make_program(eltwise_of(Eltwise::identity), {arrived}, {tensor}));
  }

  training::Recipe recipe_;  ///< Its batch is that of a chip.
  int chips_;                ///< Those of the rank's mesh.
  bool fabric_;
  std::unique_ptr<chip::EmulatedChip> chip_;
  std::optional<autograd::DeviceGroup> tensor_, data_;
  std::unique_ptr<models::LanguageModel> model_;
  std::vector<Parameter*> parameters_;
  std::unique_ptr<autograd::Optimizer> optimizer_;
  std::unique_ptr<std::byte[]> scratch_;
  std::size_t scratch_size_ = 0;
};

/// Returns the time of an update. The first one plans its programs.
SimTime planned_update(TierChip& chip) {
  chip.receive_gradients();
  chip.update();
  chip.receive_gradients();
  return chip.update();
}

/// Adds a rank at the end of the way of a step.
void add_rank(std::string name, std::string share, SimTime working, Bytes peak, RunPlan& plan) {
  plan.parts.push_back({.name = std::move(name),
                        .share = std::move(share),
                        .working = working,
                        .waiting = {},
                        .peak = peak});
  plan.step.time += working;
  plan.peak = std::max(plan.peak, peak);
}

}  // namespace

/// Holds what does not depend on the batch, nor on the number of workers: each time is that of all
/// tensors once.
struct TierPlanner::Handing {
  SimTime send_gradients, receive_gradients, add_gradients, divide_gradients;
  SimTime send_parameters, receive_parameters, update;
  Bytes aggregator, optimizer, both;  ///< The DRAM of these ranks.
  std::int64_t tensors = 0, parameters = 0;
  Bytes gradient_bytes, parameter_bytes;
};

TierPlanner::TierPlanner(const RunSetting& setting, chip::Profiles profiles)
    : profiles_(std::move(profiles)), handing_(std::make_unique<Handing>()) {
  Handing& handing = *handing_;
  RunSetting one = setting;
  one.recipe.model.batch = setting.plan.ddp;
  TierChip aggregator(one, profiles_);
  handing.receive_gradients = aggregator.receive_gradients();
  aggregator.add_gradients();  // programs are planned here, once
  aggregator.divide_gradients();
  handing.add_gradients = aggregator.add_gradients();
  handing.divide_gradients = aggregator.divide_gradients();
  handing.send_gradients = aggregator.send_gradients();
  handing.receive_parameters = aggregator.receive_parameters();
  handing.send_parameters = aggregator.send_parameters();
  handing.aggregator = aggregator.peak();
  handing.tensors = static_cast<std::int64_t>(aggregator.tensors());
  handing.parameters = aggregator.parameters(setting);
  handing.gradient_bytes = aggregator.bytes_of_gradients();
  handing.parameter_bytes = aggregator.bytes_of_parameters();
  TierChip optimizer(one, profiles_);
  optimizer.make_optimizer();
  handing.update = planned_update(optimizer);
  handing.optimizer = optimizer.peak();
  optimizer.receive_gradients();
  optimizer.add_gradients();
  handing.both = optimizer.peak();
}

TierPlanner::~TierPlanner() = default;

std::vector<RunPlan> TierPlanner::plans(const RunSetting& setting,
                                        std::span<const training::MeshPlan> tiers) const {
  TierChip worker(setting, profiles_);
  SimTime kernels;
  const SimTime passes = worker.passes(kernels);
  worker.send_gradients();
  std::vector<RunPlan> plans;
  for (const training::MeshPlan& plan : tiers) {
    plans.push_back(joined(plan, passes, worker.peak()));
    plans.back().step.compute = kernels;
    plans.back() = complete_plan(std::move(plans.back()), setting, profiles_);
    plans.back().setting.plan = plan;
  }
  return plans;
}

RunPlan TierPlanner::joined(const training::MeshPlan& tiers, SimTime passes,
                            Bytes worker_peak) const {
  const Handing& all = *handing_;
  const int workers = tiers.workers;
  RunPlan plan;
  const SimTime sent = all.send_gradients + all.receive_parameters;
  add_rank(workers == 1 ? "worker" : fmt::format("{} workers", workers), "passes", passes + sent,
           worker_peak, plan);
  const SimTime joined =
      all.receive_gradients + all.add_gradients * (workers - 1) + all.send_parameters * workers;
  plan.step.exchange = sent + joined;
  const SimTime aggregating = joined + all.divide_gradients;
  if (tiers.three_tiers) {
    const SimTime passed = all.send_gradients + all.receive_parameters;
    const SimTime taken = all.receive_gradients + all.send_parameters;
    add_rank("aggregator", "means", aggregating + passed, all.aggregator, plan);
    add_rank("optimizer", "update", taken + all.update, all.optimizer, plan);
    plan.step.exchange += passed + taken;
  } else {
    add_rank("aggregator", "means, update", aggregating + all.update, all.both, plan);
  }
  for (PlanPart& part : plan.parts) part.waiting = plan.step.time - part.working;
  plan.parameters = all.parameters;
  const int passes_of_all = workers + (tiers.three_tiers ? 1 : 0);
  plan.messages = 2 * passes_of_all * all.tensors * tiers.ddp * tiers.tp;
  plan.message_bytes = passes_of_all * (all.gradient_bytes + all.parameter_bytes);
  return plan;
}

}  // namespace howard::experiments
