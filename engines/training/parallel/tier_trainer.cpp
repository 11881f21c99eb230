// SPDX-License-Identifier: Apache-2.0
#include "engines/training/parallel/tier_trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "engines/autograd/host_values.h"
#include "engines/autograd/optimizers/adamw.h"
#include "engines/autograd/steps/training_step.h"
#include "engines/training/parallel/stage_trainer.h"
#include "engines/training/parallel/values_of_ranks.h"
#include "engines/training/recipe_model.h"

namespace howard::training {
namespace {

[[noreturn]] void refuse_to_save() {
  throw Error({.attempted = "save or resume a training run in tiers",
               .value = "they save nothing, as in TTML",
               .accepted = "a mesh or a pipeline",
               .hint = ""});
}

}  // namespace

using autograd::Parameter;
using autograd::Tape;
using autograd::Value;

TierTrainer::TierTrainer(Device& device, mesh::Communicator& ranks, const MeshPlan& plan,
                         const Recipe& recipe, const Corpus& corpus, RankOptions options)
    : device_(device),
      queue_(device.command_queue(0)),
      ranks_(ranks),
      plan_(plan),
      recipe_(recipe),
      options_(std::move(options)),
      batches_(corpus.tokens, recipe.batch, recipe.sequence,
               recipe.seed + static_cast<std::uint32_t>(ranks.rank())),
      model_(make_model(device, recipe, corpus.tokenizer->vocabulary())),
      sorted_(model_->parameters()) {
  std::ranges::sort(sorted_, {}, &Parameter::name);
  if (is_optimizer()) {
    models::write_random(queue_, model_->parameters(), recipe.seed);
    device.begin_phase("optimizer");
    optimizer_ = make_optimizer(recipe, autograd::Calls(device), model_->parameters(), false);
  }
  share_parameters();
  if (ranks.rank() == 0 && !options_.held_out.empty()) {
    validation_.emplace(device, *model_, std::move(options_.held_out), options_.validated);
  }
}

std::int64_t TierTrainer::parameters() const {
  std::int64_t count = 0;
  for (const Parameter* parameter : sorted_) count += parameter->value.spec().shape.elements();
  return count;
}

float TierTrainer::pass() {
  float loss = 0;
  const float share = 1 / static_cast<float>(recipe_.accumulate);
  for (int i = 0; i < recipe_.accumulate; ++i) {
    const std::int64_t number = steps_done_ * recipe_.accumulate + i;
    const Batch batch = batches_.batch(number);
    autograd::write_indices(queue_, model_->tokens(), batch.tokens);
    autograd::write_indices(queue_, model_->targets(), batch.targets);
    Tape tape(device_, {.calls = {.products = models::kTtmlProducts},
                        .compute = recipe_.dtype,
                        .seed = recipe_.seed + static_cast<std::uint32_t>(ranks_.rank()) +
                                static_cast<std::uint32_t>(number) * autograd::kSeedsOfOneBatch});
    device_.begin_phase("forward");
    const Value value = model_->loss(tape, model_->tokens(), model_->targets());
    loss += autograd::read_values(queue_, tape.tensor(value))[0];
    device_.begin_phase("backward");
    tape.backward(value, share);
  }
  return loss * share;
}

void TierTrainer::send_gradients() {
  for (Parameter* parameter : sorted_) {
    send_tensor(queue_, ranks_, aggregator(), *parameter->gradient);
    parameter->gradient.reset();
  }
}

void TierTrainer::average() {
  const autograd::Calls calls(device_);
  const float share = 1 / static_cast<float>(plan_.workers);
  for (int worker = 0; worker < plan_.workers; ++worker) {
    for (Parameter* parameter : sorted_) {
      const ops::Tensor received(device_, {parameter->value.spec().shape, recipe_.dtype});
      receive_tensor(queue_, ranks_, worker, received);
      parameter->gradient = worker == 0 ? received : calls.add(*parameter->gradient, received);
    }
  }
  for (Parameter* parameter : sorted_) {
    parameter->gradient = calls.multiply(*parameter->gradient, share);
    if (is_optimizer()) continue;
    send_tensor(queue_, ranks_, ranks_.size() - 1, *parameter->gradient);
    parameter->gradient.reset();
  }
}

void TierTrainer::share_parameters() {
  for (const Parameter* parameter : sorted_) {
    if (is_worker()) {
      receive_tensor(queue_, ranks_, aggregator(), parameter->value);
      continue;
    }
    if (is_aggregator()) {
      if (!is_optimizer()) receive_tensor(queue_, ranks_, ranks_.size() - 1, parameter->value);
      for (int worker = 0; worker < plan_.workers; ++worker) {
        send_tensor(queue_, ranks_, worker, parameter->value);
      }
    } else {
      send_tensor(queue_, ranks_, aggregator(), parameter->value);
    }
  }
}

MeshStep TierTrainer::step() {
  const SimTime start = device_.now();
  float loss = 0;
  if (is_worker()) {
    loss = pass() / static_cast<float>(plan_.workers);
    send_gradients();
  }
  if (is_aggregator()) average();
  if (is_optimizer()) {
    if (!is_aggregator()) {
      for (Parameter* parameter : sorted_) {
        parameter->gradient.emplace(device_,
                                    TensorSpec{parameter->value.spec().shape, recipe_.dtype});
        receive_tensor(queue_, ranks_, aggregator(), *parameter->gradient);
      }
    }
    device_.begin_phase("step");
    optimizer_->step(autograd::Calls(device_));
  }
  share_parameters();
  queue_.finish();
  ++steps_done_;
  const MeshStep own{.loss = double{loss}, .time = device_.now() - start};
  const auto joined =
      join_numbers<MeshStep, MeshStep>(ranks_, own, [&](std::span<const MeshStep> all) {
        MeshStep sum;
        for (std::size_t rank = 0; rank < all.size(); ++rank) {
          sum.loss += all[rank].loss;
          // Tiers work one after the other, and a virtual clock stands still while its chip waits.
          const bool follows = options_.virtual_clock && static_cast<int>(rank) >= plan_.workers;
          sum.time = follows ? sum.time + all[rank].time : std::max(sum.time, all[rank].time);
        }
        return sum;
      });
  if (std::isfinite(joined.loss)) return joined;
  throw Error({.attempted = "train",
               .value = fmt::format("a loss that is not finite in step {}", steps_done_),
               .accepted = "finite losses and parameters",
               .hint = "a smaller learning rate"});
}

Checkpoint TierTrainer::checkpoint() { refuse_to_save(); }

void TierTrainer::restore(const Checkpoint& /*checkpoint*/) { refuse_to_save(); }

/// The files' numbers go to the optimizer's rank and from there to all others.
ImportedWeights TierTrainer::take_weights(std::span<const Safetensors> files) {
  ImportedWeights report = import_weights(queue_, *model_, recipe_, files);
  share_parameters();
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

double TierTrainer::validation_loss() {
  return join_numbers<float, double>(ranks_, validation_ ? validation_->loss() : 0.0F,
                                     [](std::span<const float> all) { return double{all[0]}; });
}

std::unique_ptr<RankTrainer> make_rank_trainer(Device& device, mesh::Communicator& ranks,
                                               const MeshPlan& plan, const Recipe& recipe,
                                               const Corpus& corpus, RankOptions options) {
  if (options.engine != Engine::dynamic && (plan.workers > 0 || plan.stages() > 1)) {
    throw Error({.attempted = "train by the static or the traced engine",
                 .value = plan.workers > 0 ? "workers of tiers" : "stages of a pipeline",
                 .accepted = "one device, or a mesh with enable_ddp and enable_tp",
                 .hint = "--engine dynamic"});
  }
  if (plan.workers > 0) {
    return std::make_unique<TierTrainer>(device, ranks, plan, recipe, corpus, std::move(options));
  }
  return std::make_unique<StageTrainer>(device, ranks, plan, recipe, corpus, std::move(options));
}

}  // namespace howard::training
