// SPDX-License-Identifier: Apache-2.0
#include "engines/training/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "engines/autograd/host_values.h"
#include "engines/autograd/optimizers/adamw.h"
#include "engines/autograd/steps/training_step.h"
#include "engines/training/clipped.h"
#include "engines/training/finite_check.h"
#include "engines/training/memory_need.h"
#include "engines/training/recipe_model.h"

namespace howard::training {
namespace {

using autograd::AdamW;
using autograd::AdamWForm;
using autograd::Parameter;

const Recipe& require(const Device& device, const Recipe& recipe) {
  require_valid(recipe);
  if (!device.holds_values()) {
    throw Error({.attempted = "train on " + device.description(),
                 .value = "it keeps no values",
                 .accepted = "a device that computes"});
  }
  return recipe;
}

/// Returns the recipe. Throws Error when it takes more than `memory`.
const Recipe& require_room(const Recipe& recipe, std::int64_t vocabulary, Engine engine,
                           std::optional<Bytes> memory) {
  if (memory) require_memory(recipe, vocabulary, engine != Engine::dynamic, *memory);
  return recipe;
}

bool all_finite(const std::vector<float>& values) {
  return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

}  // namespace

Trainer::Trainer(Device& device, const Recipe& recipe, const language::Corpus& corpus,
                 Engine engine, std::optional<Bytes> memory)
    : device_(device),
      queue_(device.command_queue(0)),
      recipe_(require(device, recipe)),
      engine_(engine),
      text_checksum_(corpus.checksum),
      tokenizer_(corpus.tokenizer),
      batches_(corpus.tokens, recipe.batch, recipe.sequence, recipe.seed),
      model_(make_model(device, require_room(recipe, tokenizer_->vocabulary(), engine, memory),
                        tokenizer_->vocabulary())) {
  models::write_random(queue_, model_->parameters(), recipe.seed);
  data_.push_back({model_->tokens(), model_->targets()});
  for (int i = 1; i < recipe.accumulate; ++i) {
    data_.push_back({ops::Tensor(device, model_->tokens().spec()),
                     ops::Tensor(device, model_->targets().spec())});
  }
  device.begin_phase("optimizer");
  optimizer_ = make_optimizer(recipe, autograd::Calls(device), model_->parameters(),
                              engine == Engine::traced);
  if (recipe.clip > 0) {
    clipped_ = std::make_unique<Clipped>(*optimizer_, model_->parameters(), recipe.clip,
                                         engine == Engine::dynamic);
  }
  if (engine == Engine::traced && recipe.dropout > 0) {
    seed_offset_.emplace(device, TensorSpec{{1, 1}, DataType::uint32});
  }
  write(checkpoint());
}

Trainer::~Trainer() = default;

float Trainer::learning_rate() const { return learning_rate_of(recipe_, steps_done_ + 1); }

std::int64_t Trainer::tokens_per_step() const {
  return recipe_.batch * recipe_.sequence * recipe_.accumulate;
}

Flops Trainer::flops_per_step() const {
  Flops flops;
  for (const Program& program : programs()) flops += program.flops;
  return flops;
}

std::int64_t Trainer::parameters() const {
  std::int64_t count = 0;
  for (const Parameter* parameter : model_->parameters()) {
    count += parameter->value.spec().shape.elements();
  }
  return count;
}

autograd::StepFunction Trainer::step_function() {
  const std::uint32_t seeds_done = seed_offset_ ? 0 : seeds_used();
  return autograd::training_step(
      [this](autograd::Tape& tape, int batch) {
        const Data& data = data_[static_cast<std::size_t>(batch)];
        return model_->loss(tape, data.tokens, data.targets);
      },
      clipped_ ? *clipped_ : *optimizer_,
      {.tape = {.calls = {.products = models::kTtmlProducts},
                .compute = recipe_.dtype,
                .seed = recipe_.seed + seeds_done,
                .seed_offset = seed_offset_},
       .batches = recipe_.accumulate});
}

void Trainer::write_batches() {
  for (int i = 0; i < recipe_.accumulate; ++i) {
    const Batch batch = batches_.batch(steps_done_ * recipe_.accumulate + i);
    const Data& data = data_[static_cast<std::size_t>(i)];
    autograd::write_indices(queue_, data.tokens, batch.tokens);
    autograd::write_indices(queue_, data.targets, batch.targets);
  }
}

std::uint32_t Trainer::seeds_used() const {
  return static_cast<std::uint32_t>(steps_done_ * recipe_.accumulate) * autograd::kSeedsOfOneBatch;
}

/// Writes everything that the host hands to a step.
void Trainer::prepare_step() {
  set_numbers(recipe_, steps_done_ + 1, *optimizer_);
  if (clipped_) clipped_->learning_rate = learning_rate();
  write_batches();
  if (seed_offset_) {
    const std::uint32_t offset = seeds_used();
    autograd::write_indices(queue_, *seed_offset_, std::span(&offset, 1));
  }
  auto* const adamw = dynamic_cast<AdamW*>(optimizer_.get());
  if (adamw != nullptr && engine_ == Engine::traced) adamw->write_numbers(queue_);
}

float Trainer::step() {
  prepare_step();
  float loss = 0;
  try {
    loss = runner_->run();
  } catch (const Error&) {
    // Clipping finds a norm that is not finite before the loss shows it.
    if (!clipped_) throw;
    ++steps_done_;
    fail_where_not_finite();
  }
  ++steps_done_;
  if (!std::isfinite(loss)) fail_where_not_finite();
  return loss;
}

const Checkpoint& Trainer::checkpoint() {
  Checkpoint now{.recipe = recipe_,
                 .step = steps_done_,
                 .text_checksum = text_checksum_,
                 .product_ways = product_ways_,
                 .characters = tokenizer_->characters(),
                 .tensors = {}};
  for (const auto& [name, tensor] : saved()) {
    now.tensors.push_back({name, autograd::read_values(queue_, tensor)});
    if (!all_finite(now.tensors.back().values)) fail_where_not_finite();
  }
  last_ = std::move(now);
  return last_;
}

void Trainer::require_same(const Checkpoint& checkpoint) {
  require_same_run(checkpoint, recipe_, text_checksum_, tokenizer_->characters());
  const std::vector<SavedTensor> mine = saved();
  const bool same =
      std::ranges::equal(mine, checkpoint.tensors, [](const SavedTensor& a, const auto& b) {
        return a.name == b.name &&
               a.tensor.spec().shape.elements() == static_cast<std::int64_t>(b.values.size());
      });
  if (same && checkpoint.step >= 0) return;
  throw Error({.attempted = "resume a training run",
               .value = "tensors of another model",
               .accepted = "those of the model that the checkpoint describes"});
}

void Trainer::restore(const Checkpoint& checkpoint) {
  require_same(checkpoint);
  last_ = checkpoint;
  last_.recipe = recipe_;
  write(last_);
}

void Trainer::write(const Checkpoint& checkpoint) {
  steps_done_ = checkpoint.step;
  runner_.reset();
  const std::vector<SavedTensor> all = saved();
  for (std::size_t i = 0; i < all.size(); ++i) {
    autograd::write_values(queue_, all[i].tensor, checkpoint.tensors[i].values);
  }
  if (auto* const adamw = dynamic_cast<AdamW*>(optimizer_.get())) {
    adamw->set_next_step(steps_done_ + 1);
  }
  runner_.emplace(device_, step_function(), engine_, scalars_of(recipe_, engine_));
}

void Trainer::fail_where_not_finite() {
  const std::int64_t failed = steps_done_;
  for (Parameter* parameter : model_->parameters()) parameter->gradient.reset();
  write(last_);
  FiniteCheck check(device_);
  while (steps_done_ < failed && !check.found()) {
    prepare_step();
    check.begin_step();
    try {
      static_cast<void>(runner_->function()(check));
    } catch (const Error&) {
      // The norm is not finite; what wrote the first such number has already been found.
      if (!check.found()) throw;
    }
    ++steps_done_;
  }
  // The gradients lie on the device that checks.
  for (Parameter* parameter : model_->parameters()) parameter->gradient.reset();
  throw Error(
      {.attempted = "train",
       .value = fmt::format("a number that is not finite in step {}", failed) +
                (check.found() ? fmt::format(", first in step {}: {}", steps_done_, *check.found())
                               : std::string("; op by op the steps are finite")),
       .accepted = "finite losses and parameters",
       .hint = "a smaller --learning-rate, --clip 1 or --dtype float32, from the last "
               "checkpoint"});
}

}  // namespace howard::training
