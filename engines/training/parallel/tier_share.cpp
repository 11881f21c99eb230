// SPDX-License-Identifier: Apache-2.0
#include "engines/training/parallel/tier_share.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engines/autograd/functions/collective/collectives.h"
#include "engines/autograd/host_values.h"
#include "engines/models/language_model.h"
#include "engines/ops/tensor.h"
#include "engines/training/parallel/divided_model.h"
#include "engines/training/parallel/shared_reader.h"
#include "engines/training/parallel/values_of_ranks.h"

namespace howard::training {

namespace {

using autograd::Parameter;

class TierShare final : public Share {
 public:
  TierShare(Device& device, mesh::Communicator& ranks, const MeshPlan& plan, const Recipe& recipe,
            const language::Tokenizer& tokenizer, mesh::WaitUntil wait_until)
      : Share(recipe),
        ranks_(ranks),
        device_(device, ranks, std::move(wait_until)),
        plan_(plan),
        place_(plan, ranks.rank()),
        layer_group_(device_, 0, plan.tp, place_.column),
        copy_group_(device_, 1, plan.ddp, place_.row),
        divided_(device_, recipe, plan, ranks.rank(),
                 rounded_vocabulary(tokenizer.tokens(), plan.tp)) {
    models::ModelOptions local = recipe.model.with(rounded_vocabulary(tokenizer.tokens(), plan.tp),
                                                   &layer_group_, plan.sequence_parallel);
    local.batch /= plan.ddp;
    model_ = models::make_model(device_, local);
    sorted_ = model_->parameters();
    std::ranges::sort(sorted_, {}, &Parameter::name);
  }

  Device& device() override { return device_; }
  models::LanguageModel& model() override { return *model_; }
  bool has_batches() const override { return is_worker(); }
  bool updates() const override { return is_optimizer(); }
  std::int64_t parameters() override { return divided_.parameters(); }
  void write_start_values() override {
    if (is_optimizer()) {
      divided_.write_start_values(queue(), model_->parameters(), recipe().seed);
    }
  }
  BatchPart batch_part() const override { return {place_.row, plan_.ddp}; }
  void spread_parameters() override { share_parameters(autograd::Calls(device_)); }
  autograd::StepFunction step_function(std::span<const BatchTensors> data,
                                       const autograd::TapeOptions& tape,
                                       autograd::Optimizer* optimizer) override;
  void begin_step() override {
    start_ = device_.now();
    device_.begin_step();
  }
  StepOutcome end_step(float loss, std::int64_t number) override;
  std::vector<NamedValues> gathered(std::span<const SavedTensor> own) override {
    return divided_.gathered(ranks_, queue(), own);
  }
  language::ParameterShape whole_shape(const SavedTensor& own) const override {
    return divided_.whole_of(own.name);
  }
  void write(const SavedTensor& own, const std::vector<float>& values) override {
    autograd::write_values(queue(), own.tensor, divided_.share_of(whole_shape(own), values));
  }
  language::ImportedWeights take_weights(std::span<const language::Safetensors> files) override {
    return divided_.take_weights(queue(), model_->parameters(), recipe().model, files);
  }
  void hold_out(std::vector<std::uint32_t> tokens, std::int64_t sequences) override {
    if (place_.stage == 0) Share::hold_out(std::move(tokens), sequences);
  }
  double validation_loss() override;
  std::unique_ptr<language::TextReader> reader() override;

 private:
  /// A worker's optimizer: it sends the gradients away and receives the parameters.
  class RemoteOptimizer final : public autograd::Optimizer {
   public:
    explicit RemoteOptimizer(TierShare& worker) : worker_(worker) {}

    void step(const autograd::Calls& calls) override {
      for (Parameter* parameter : worker_.sorted_) {
        calls.run(make_program(SendAttributes{}, {*parameter->gradient},
                               {worker_.peer(worker_.aggregator())}));
        parameter->gradient.reset();
      }
      worker_.share_parameters(calls);
    }

   private:
    TierShare& worker_;
  };

  // The hosts are workers, then the aggregator, then the optimizer; each is a mesh of devices.
  bool is_worker() const { return place_.stage < plan_.workers; }
  bool is_aggregator() const { return place_.stage == aggregator(); }
  bool is_optimizer() const { return place_.stage == optimizer_host(); }
  int aggregator() const { return plan_.workers; }
  int optimizer_host() const { return plan_.hosts() - 1; }
  /// Returns the socket to the same place of a host's mesh.
  Operand peer(int host) {
    return device_.peer((host - place_.stage) * plan_.devices() + ranks_.rank());
  }

  /// Does the aggregator's part: the parameters' gradients become the means.
  void average(const autograd::Calls& calls);
  /// Does the optimizer's part.
  void update(const autograd::Calls& calls, autograd::Optimizer& optimizer);
  /// Brings the parameters from the optimizer's rank to the workers.
  void share_parameters(const autograd::Calls& calls);

  std::optional<Validation>& validation() override { return validation_; }

  mesh::Communicator& ranks_;
  mesh::Sockets device_;
  MeshPlan plan_;
  MeshPlace place_;
  autograd::DeviceGroup layer_group_, copy_group_;
  DividedModel divided_;
  std::unique_ptr<models::LanguageModel> model_;
  std::optional<Validation> validation_;
  std::vector<Parameter*> sorted_;  ///< The parameters by name.
  RemoteOptimizer remote_{*this};
  SimTime start_;  ///< When the present step began.
};

autograd::StepFunction TierShare::step_function(std::span<const BatchTensors> data,
                                                const autograd::TapeOptions& tape,
                                                autograd::Optimizer* optimizer) {
  if (is_worker()) {
    autograd::TapeOptions own = tape;
    own.seed += static_cast<std::uint32_t>(place_.stage * plan_.ddp + place_.row);
    return Share::step_function(data, own, &remote_);
  }
  return [this, optimizer](Device& on) {
    const autograd::Calls calls(on);
    if (is_aggregator()) average(calls);
    if (is_optimizer()) update(calls, *optimizer);
    share_parameters(calls);
    return no_loss(calls);
  };
}

void TierShare::average(const autograd::Calls& calls) {
  // A worker's devices do not sum their gradients: the aggregator's do, over the same links.
  const float share = 1 / static_cast<float>(plan_.workers * plan_.ddp);
  for (int worker = 0; worker < plan_.workers; ++worker) {
    for (Parameter* parameter : sorted_) {
      const ops::Tensor received =
          calls.make({parameter->value.spec().shape, recipe().model.compute});
      calls.run(make_program(ReceiveAttributes{}, {peer(worker)}, {received}));
      parameter->gradient = worker == 0 ? received : calls.add(*parameter->gradient, received);
    }
  }
  for (Parameter* parameter : sorted_) {
    parameter->gradient =
        calls.multiply(autograd::all_reduce(calls, *parameter->gradient, copy_group_), share);
    if (is_optimizer()) continue;
    calls.run(make_program(SendAttributes{}, {*parameter->gradient}, {peer(optimizer_host())}));
    parameter->gradient.reset();
  }
}

void TierShare::update(const autograd::Calls& calls, autograd::Optimizer& optimizer) {
  if (!is_aggregator()) {
    for (Parameter* parameter : sorted_) {
      parameter->gradient = calls.make({parameter->value.spec().shape, recipe().model.compute});
      calls.run(make_program(ReceiveAttributes{}, {peer(aggregator())}, {*parameter->gradient}));
    }
  }
  calls.device().begin_phase("step");
  optimizer.step(calls);
}

void TierShare::share_parameters(const autograd::Calls& calls) {
  for (const Parameter* parameter : sorted_) {
    if (is_worker()) {
      calls.run(make_program(ReceiveAttributes{}, {peer(aggregator())}, {parameter->value}));
      continue;
    }
    if (is_aggregator()) {
      if (!is_optimizer()) {
        calls.run(make_program(ReceiveAttributes{}, {peer(optimizer_host())}, {parameter->value}));
      }
      for (int worker = 0; worker < plan_.workers; ++worker) {
        calls.run(make_program(SendAttributes{}, {parameter->value}, {peer(worker)}));
      }
    } else {
      calls.run(make_program(SendAttributes{}, {parameter->value}, {peer(aggregator())}));
    }
  }
}

StepOutcome TierShare::end_step(float loss, std::int64_t number) {
  queue().finish();
  return join_steps(
      ranks_,
      {.loss =
           place_.column == 0 ? double{loss / static_cast<float>(plan_.workers * plan_.ddp)} : 0,
       .time = device_.now() - start_},
      number);
}

std::unique_ptr<language::TextReader> TierShare::reader() {
  // The first worker has the whole model.
  const std::shared_ptr<language::TextReader> own =
      place_.stage == 0 ? language::window_reader(device_, *model_) : nullptr;
  return std::make_unique<SharedReader>(ranks_, 0, [own](std::span<const std::uint32_t> text) {
    return own ? own->logits(text) : std::vector<float>{};
  });
}

double TierShare::validation_loss() {
  return join_numbers<float, double>(ranks_, validation_ ? validation_->loss() : 0.0F,
                                     [](std::span<const float> all) { return double{all[0]}; });
}

}  // namespace

std::unique_ptr<Share> tier_share(Device& device, mesh::Communicator& ranks, const MeshPlan& plan,
                                  const Recipe& recipe, const language::Tokenizer& tokenizer,
                                  mesh::WaitUntil wait_until) {
  return std::make_unique<TierShare>(device, ranks, plan, recipe, tokenizer, std::move(wait_until));
}

}  // namespace howard::training
