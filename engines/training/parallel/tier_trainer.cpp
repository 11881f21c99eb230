// SPDX-License-Identifier: Apache-2.0
#include "engines/training/parallel/tier_trainer.h"

#include <algorithm>
#include <utility>

#include "engines/autograd/host_values.h"
#include "engines/autograd/optimizers/adamw.h"
#include "engines/autograd/steps/training_step.h"
#include "engines/ops/collective/transfer.h"
#include "engines/training/parallel/shared_reader.h"
#include "engines/training/parallel/values_of_ranks.h"
#include "engines/training/recipe_model.h"

namespace howard::training {

using autograd::Parameter;
using autograd::Tape;
using autograd::Value;

/// A worker's optimizer: it sends the gradients away and receives the parameters.
class TierTrainer::RemoteOptimizer final : public autograd::Optimizer {
 public:
  explicit RemoteOptimizer(TierTrainer& worker) : worker_(worker) {}

  void step(const autograd::Calls& calls) override {
    for (Parameter* parameter : worker_.sorted_) {
      calls.run(ops::send(*parameter->gradient, worker_.device_.peer(worker_.aggregator())));
      parameter->gradient.reset();
    }
    worker_.share_parameters(calls);
  }

 private:
  TierTrainer& worker_;
};

TierTrainer::TierTrainer(Device& device, mesh::Communicator& ranks, const MeshPlan& plan,
                         const Recipe& recipe, const language::Corpus& corpus, RankOptions options)
    : ranks_(ranks),
      device_(device, ranks, options.wait_until),
      queue_(device_.command_queue(0)),
      plan_(plan),
      recipe_(recipe),
      options_(std::move(options)),
      text_checksum_(corpus.checksum),
      tokenizer_(corpus.tokenizer),
      batches_(corpus.tokens, recipe.batch, recipe.sequence,
               recipe.seed + static_cast<std::uint32_t>(ranks.rank())),
      model_(make_model(device_, recipe, corpus.tokenizer->vocabulary())),
      sorted_(model_->parameters()) {
  std::ranges::sort(sorted_, {}, &Parameter::name);
  if (is_worker()) set_up_worker();
  if (is_optimizer()) {
    models::write_random(queue_, model_->parameters(), recipe.seed);
    device_.begin_phase("optimizer");
    optimizer_ = make_optimizer(recipe, autograd::Calls(device_), model_->parameters(),
                                options_.engine == Engine::traced);
  }
  share_parameters(autograd::Calls(device_));
  make_step();
  if (ranks.rank() == 0 && !options_.held_out.empty()) {
    validation_.emplace(device_, *model_, std::move(options_.held_out), options_.validated);
  }
}

TierTrainer::~TierTrainer() = default;

void TierTrainer::make_step() {
  runner_.emplace(device_, step_function(), options_.engine, scalars_of(recipe_, options_.engine));
}

void TierTrainer::set_up_worker() {
  for (int i = 0; i < recipe_.accumulate; ++i) {
    data_.push_back({ops::Tensor(device_, model_->tokens().spec()),
                     ops::Tensor(device_, model_->targets().spec())});
  }
  if (options_.engine == Engine::traced && recipe_.dropout > 0) {
    seed_offset_.emplace(device_, TensorSpec{{1, 1}, DataType::uint32});
  }
  optimizer_ = std::make_unique<RemoteOptimizer>(*this);
}

std::int64_t TierTrainer::parameters() const {
  std::int64_t count = 0;
  for (const Parameter* parameter : sorted_) count += parameter->value.spec().shape.elements();
  return count;
}

autograd::StepFunction TierTrainer::step_function() {
  if (is_worker()) {
    // A replay reads the number of the first batch from the device.
    const std::int64_t first = seed_offset_ ? 0 : steps_done_ * recipe_.accumulate;
    return autograd::training_step(
        [this](Tape& tape, int number) {
          const Data& data = data_[static_cast<std::size_t>(number)];
          return model_->loss(tape, data.tokens, data.targets);
        },
        *optimizer_,
        {.tape = {.calls = {.products = models::kTtmlProducts},
                  .compute = recipe_.dtype,
                  .seed = recipe_.seed + static_cast<std::uint32_t>(ranks_.rank()) +
                          static_cast<std::uint32_t>(first) * autograd::kSeedsOfOneBatch,
                  .seed_offset = seed_offset_},
         .batches = recipe_.accumulate});
  }
  return [this](Device& device) {
    const autograd::Calls calls(device);
    if (is_aggregator()) average(calls);
    if (is_optimizer()) update(calls);
    share_parameters(calls);
    return no_loss(calls);
  };
}

void TierTrainer::average(const autograd::Calls& calls) {
  const float share = 1 / static_cast<float>(plan_.workers);
  for (int worker = 0; worker < plan_.workers; ++worker) {
    for (Parameter* parameter : sorted_) {
      const ops::Tensor received = calls.make({parameter->value.spec().shape, recipe_.dtype});
      calls.run(ops::receive(device_.peer(worker), received));
      parameter->gradient = worker == 0 ? received : calls.add(*parameter->gradient, received);
    }
  }
  for (Parameter* parameter : sorted_) {
    parameter->gradient = calls.multiply(*parameter->gradient, share);
    if (is_optimizer()) continue;
    calls.run(ops::send(*parameter->gradient, device_.peer(ranks_.size() - 1)));
    parameter->gradient.reset();
  }
}

void TierTrainer::update(const autograd::Calls& calls) {
  if (!is_aggregator()) {
    for (Parameter* parameter : sorted_) {
      parameter->gradient = calls.make({parameter->value.spec().shape, recipe_.dtype});
      calls.run(ops::receive(device_.peer(aggregator()), *parameter->gradient));
    }
  }
  calls.device().begin_phase("step");
  optimizer_->step(calls);
}

void TierTrainer::share_parameters(const autograd::Calls& calls) {
  for (const Parameter* parameter : sorted_) {
    if (is_worker()) {
      calls.run(ops::receive(device_.peer(aggregator()), parameter->value));
      continue;
    }
    if (is_aggregator()) {
      if (!is_optimizer()) {
        calls.run(ops::receive(device_.peer(ranks_.size() - 1), parameter->value));
      }
      for (int worker = 0; worker < plan_.workers; ++worker) {
        calls.run(ops::send(parameter->value, device_.peer(worker)));
      }
    } else {
      calls.run(ops::send(parameter->value, device_.peer(aggregator())));
    }
  }
}

void TierTrainer::write_batches() {
  for (std::size_t i = 0; i < data_.size(); ++i) {
    const Batch batch =
        batches_.batch(steps_done_ * recipe_.accumulate + static_cast<std::int64_t>(i));
    autograd::write_indices(queue_, data_[i].tokens, batch.tokens);
    autograd::write_indices(queue_, data_[i].targets, batch.targets);
  }
  if (!seed_offset_) return;
  const std::uint32_t offset =
      static_cast<std::uint32_t>(steps_done_ * recipe_.accumulate) * autograd::kSeedsOfOneBatch;
  autograd::write_indices(queue_, *seed_offset_, std::span(&offset, 1));
}

MeshStep TierTrainer::step() {
  const SimTime start = device_.now();
  device_.begin_step();
  write_batches();
  if (auto* const adamw = dynamic_cast<autograd::AdamW*>(optimizer_.get())) {
    set_numbers(recipe_, steps_done_ + 1, *adamw);
    if (options_.engine == Engine::traced) adamw->write_numbers(queue_);
  }
  const float loss = runner_->run();
  queue_.finish();
  const MeshStep own{.loss = double{loss / static_cast<float>(plan_.workers)},
                     .time = device_.now() - start};
  ++steps_done_;
  return join_steps(ranks_, own, steps_done_);
}

/// Only the optimizer's rank has what the optimizer keeps.
Checkpoint TierTrainer::checkpoint() {
  std::vector<NamedValues> tensors;
  if (is_optimizer()) {
    for (const SavedTensor& saved : saved_tensors(model_->parameters(), *optimizer_)) {
      tensors.push_back({saved.name, autograd::read_values(queue_, saved.tensor)});
      require_finite(tensors.back(), steps_done_);
    }
    send_values(ranks_, 0, tensors);
  }
  if (ranks_.rank() != 0) return {};
  return {.recipe = recipe_,
          .step = steps_done_,
          .text_checksum = text_checksum_,
          .product_ways = "",
          .characters = tokenizer_->characters(),
          .tensors = receive_values(ranks_, ranks_.size() - 1)};
}

/// The optimizer's rank takes the numbers and hands the parameters to all others.
void TierTrainer::restore(const Checkpoint& checkpoint) {
  require_same_run(checkpoint, recipe_, text_checksum_, tokenizer_->characters());
  if (is_optimizer()) {
    for (const SavedTensor& saved : saved_tensors(model_->parameters(), *optimizer_)) {
      autograd::write_values(queue_, saved.tensor,
                             saved_values(checkpoint, saved.name, saved.tensor.spec().shape.rows(),
                                          saved.tensor.spec().shape.columns()));
    }
  }
  share_parameters(autograd::Calls(device_));
  steps_done_ = checkpoint.step;
  if (auto* const adamw = dynamic_cast<autograd::AdamW*>(optimizer_.get())) {
    adamw->set_next_step(steps_done_ + 1);
  }
  make_step();
}

/// The files' numbers go to the optimizer's rank and from there to all others.
ImportedWeights TierTrainer::take_weights(std::span<const language::Safetensors> files) {
  ImportedWeights report = import_weights(queue_, *model_, recipe_, files);
  share_parameters(autograd::Calls(device_));
  return report;
}

std::vector<NamedValues> TierTrainer::weights() {
  std::vector<NamedValues> weights;
  if (ranks_.rank() != 0) return weights;
  for (const Parameter* parameter : model_->parameters()) {
    weights.push_back({parameter->name, autograd::read_values(queue_, parameter->value)});
  }
  return weights;
}

std::unique_ptr<language::TextReader> TierTrainer::reader() {
  // The first worker has the whole model.
  const std::shared_ptr<language::TextReader> own =
      ranks_.rank() == 0 ? language::window_reader(device_, *model_) : nullptr;
  return std::make_unique<SharedReader>(ranks_, 0, [own](std::span<const std::uint32_t> text) {
    return own ? own->logits(text) : std::vector<float>{};
  });
}

double TierTrainer::validation_loss() {
  return join_numbers<float, double>(ranks_, validation_ ? validation_->loss() : 0.0F,
                                     [](std::span<const float> all) { return double{all[0]}; });
}

}  // namespace howard::training
