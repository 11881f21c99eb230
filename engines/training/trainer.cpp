// SPDX-License-Identifier: Apache-2.0
#include "engines/training/trainer.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/error.h"
#include "engines/autograd/host_values.h"
#include "engines/training/clipped.h"
#include "engines/training/finite_check.h"
#include "engines/training/memory_need.h"
#include "engines/training/parallel/stage_share.h"
#include "engines/training/parallel/tier_share.h"

namespace howard::training {
namespace {

const Recipe& require(const Device& device, const Recipe& recipe) {
  require_valid(recipe);
  if (!device.holds_values()) {
    throw Error({.attempted = "train on " + device.description(),
                 .value = "it keeps no values",
                 .accepted = "a device that computes"});
  }
  return recipe;
}

}  // namespace

Trainer::Trainer(Device& device, const Recipe& recipe, const language::Corpus& corpus,
                 TrainerOptions options, std::optional<Bytes> memory)
    : Trainer(require(device, recipe), corpus, std::move(options), recipe.seed, [&] {
        const std::int64_t vocabulary = corpus.tokenizer->vocabulary();
        if (memory) require_memory(recipe, vocabulary, options.engine != Engine::dynamic, *memory);
        return whole_share(device, recipe, vocabulary);
      }) {}

Trainer::Trainer(Device& device, mesh::Communicator& ranks, const MeshPlan& plan,
                 const Recipe& recipe, const language::Corpus& corpus, TrainerOptions options,
                 mesh::WaitUntil wait_until)
    : Trainer(recipe, corpus, std::move(options),
              recipe.seed + static_cast<std::uint32_t>(
                                plan.workers > 0 ? MeshPlace(plan, ranks.rank()).stage : 0),
              [&] {
                return plan.workers > 0 ? tier_share(device, ranks, plan, recipe, *corpus.tokenizer,
                                                     std::move(wait_until))
                                        : stage_share(device, ranks, plan, recipe,
                                                      *corpus.tokenizer, std::move(wait_until));
              }) {}

Trainer::Trainer(const Recipe& recipe, const language::Corpus& corpus, TrainerOptions options,
                 std::uint32_t data_seed, const MakeShare& make_share)
    : recipe_(recipe),
      engine_(options.engine),
      text_checksum_(corpus.checksum),
      tokenizer_(corpus.tokenizer),
      batches_(corpus.tokens, recipe.model.batch, sample_width(recipe), data_seed, form_of(recipe)),
      share_(make_share()),
      queue_(share_->device().command_queue(0)) {
  Device& device = share_->device();
  models::LanguageModel& model = share_->model();
  share_->write_start_values();
  // The whole model's own inputs are those of the first batch.
  const auto weights = recipe.examples ? models::Weights::given : models::Weights::none;
  if (share_->is_whole()) data_.push_back(models::own_batch(device, model, weights));
  while (share_->has_batches() && std::ssize(data_) < recipe.accumulate) {
    data_.push_back(models::make_batch(device, model, weights));
  }
  if (share_->updates()) {
    device.begin_phase("optimizer");
    plain_ = make_optimizer(recipe, autograd::Calls(device), model.parameters(),
                            engine_ == Engine::traced);
    if (recipe.optimizer.clip > 0) {
      clipped_ = std::make_unique<Clipped>(*plain_, model.parameters(), recipe.optimizer.clip,
                                           engine_ == Engine::dynamic);
    }
    optimizer_ = clipped_ ? clipped_.get() : plain_.get();
  }
  if (share_->has_batches() && engine_ == Engine::traced && recipe.model.dropout > 0) {
    seed_offset_.emplace(device, TensorSpec{{1, 1}, DataType::uint32});
  }
  share_->spread_parameters();
  if (share_->is_whole()) checkpoint();
  if (engine_ == Engine::dynamic) share_->read_losses(loss_reads_.emplace(device));
  make_step();
  if (!options.held_out.empty()) {
    share_->hold_out(std::move(options.held_out), options.validated);
  }
}

Trainer::~Trainer() = default;

std::int64_t Trainer::tokens_per_step() const {
  return recipe_.model.batch * recipe_.model.sequence * recipe_.accumulate;
}

Flops Trainer::flops_per_step() const {
  Flops flops;
  for (const Program& program : programs()) flops += program.flops;
  return flops;
}

std::vector<SavedTensor> Trainer::saved() {
  models::LanguageModel& model = share_->model();
  std::vector<SavedTensor> all = saved_tensors(model.parameters(), optimizer_);
  for (SavedTensor& buffer : saved_tensors(model.buffers(), nullptr)) {
    all.push_back(std::move(buffer));
  }
  return all;
}

void Trainer::make_step() {
  // A replay reads the number of the first batch from the device.
  const std::uint32_t seeds_done = seed_offset_ ? 0 : seeds_used();
  runner_.emplace(share_->device(),
                  share_->step_function(data_,
                                        {.calls = {.products = models::kTtmlProducts},
                                         .compute = recipe_.model.compute,
                                         .seed = recipe_.seed + seeds_done,
                                         .seed_offset = seed_offset_},
                                        optimizer_),
                  engine_, scalars_of(recipe_, engine_), loss_reads_ ? &*loss_reads_ : nullptr);
}

void Trainer::write_batches() {
  for (std::size_t i = 0; i < data_.size(); ++i) {
    const Batch batch =
        batches_.batch(steps_done_ * recipe_.accumulate + static_cast<std::int64_t>(i));
    const BatchPart part = share_->batch_part();
    share_->model().write_tokens(queue_, data_[i].tokens, part.of(batch.tokens));
    autograd::write_indices(queue_, data_[i].targets, part.of(batch.targets));
    if (data_[i].weights) autograd::write_values(queue_, *data_[i].weights, part.of(batch.weights));
  }
}

std::uint32_t Trainer::seeds_used() const {
  return static_cast<std::uint32_t>(steps_done_ * recipe_.accumulate) * autograd::kSeedsOfOneBatch;
}

/// Writes everything that the host hands to a step.
void Trainer::prepare_step() {
  write_batches();
  if (seed_offset_) {
    const std::uint32_t offset = seeds_used();
    autograd::write_indices(queue_, *seed_offset_, std::span(&offset, 1));
  }
  if (optimizer_ == nullptr) return;
  optimizer_->set_numbers(numbers_of(recipe_, steps_done_ + 1));
  optimizer_->write_numbers(queue_);
}

StepOutcome Trainer::step() {
  share_->begin_step();
  prepare_step();
  float loss = 0;
  try {
    loss = runner_->run();
    share_->model().after_update(queue_);
  } catch (const Error&) {
    // Clipping finds a norm that is not finite before the loss shows it.
    if (!clipped_ || !share_->is_whole()) throw;
    ++steps_done_;
    fail_where_not_finite();
  }
  const StepOutcome outcome = share_->end_step(loss, ++steps_done_);
  if (!std::isfinite(outcome.loss)) fail_where_not_finite();
  return outcome;
}

const Checkpoint& Trainer::checkpoint() {
  Checkpoint now{.recipe = recipe_,
                 .step = steps_done_,
                 .text_checksum = text_checksum_,
                 .characters = tokenizer_->characters(),
                 .tensors = share_->gathered(saved())};
  // Only rank 0 has got any.
  if (now.tensors.empty()) return last_;
  for (const NamedValues& tensor : now.tensors) {
    if (share_->is_whole() && !is_finite(tensor)) fail_where_not_finite();
    require_finite(tensor, steps_done_);
  }
  last_ = std::move(now);
  return last_;
}

void Trainer::restore(const Checkpoint& checkpoint) {
  require_same_run(checkpoint, recipe_, text_checksum_, tokenizer_->characters());
  for (const SavedTensor& own : saved()) {
    const language::ParameterShape shape = share_->whole_shape(own);
    static_cast<void>(saved_values(checkpoint, own.name, shape.rows, shape.columns));
  }
  if (share_->is_whole()) {
    last_ = checkpoint;
    last_.recipe = recipe_;
  }
  write(checkpoint);
}

void Trainer::write(const Checkpoint& checkpoint) {
  steps_done_ = checkpoint.step;
  runner_.reset();
  if (share_->updates()) {
    for (const SavedTensor& own : saved()) {
      const language::ParameterShape shape = share_->whole_shape(own);
      share_->write(own, saved_values(checkpoint, own.name, shape.rows, shape.columns));
    }
  }
  share_->spread_parameters();
  make_step();
}

language::ImportedWeights Trainer::take_weights(std::span<const language::Safetensors> files) {
  language::ImportedWeights report = share_->take_weights(files);
  share_->spread_parameters();
  if (share_->is_whole()) checkpoint();
  return report;
}

std::vector<NamedValues> Trainer::weights() {
  return share_->gathered(saved_tensors(share_->model().parameters(), nullptr));
}

void Trainer::fail_where_not_finite() {
  const std::int64_t failed = steps_done_;
  const auto forget_gradients = [this] {
    for (autograd::Parameter* parameter : share_->model().parameters()) parameter->gradient.reset();
  };
  forget_gradients();
  write(last_);
  FiniteCheck check(share_->device());
  while (steps_done_ < failed && !check.found()) {
    prepare_step();
    check.begin_step();
    try {
      static_cast<void>(runner_->function()(check));
      share_->model().after_update(queue_);
    } catch (const Error&) {
      // The norm is not finite; what wrote the first such number has already been found.
      if (!check.found()) throw;
    }
    ++steps_done_;
  }
  forget_gradients();  // they lie on the device that checks
  throw Error(
      {.attempted = "train",
       .value = fmt::format("a number that is not finite in step {}", failed) +
                (check.found() ? fmt::format(", first in step {}: {}", steps_done_, *check.found())
                               : std::string("; op by op the steps are finite")),
       .accepted = "finite losses and parameters",
       .hint = "a smaller learning_rate, use_clip_grad_norm: true or --dtype float32, from the "
               "last checkpoint"});
}

}  // namespace howard::training
