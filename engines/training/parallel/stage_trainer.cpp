// SPDX-License-Identifier: Apache-2.0
#include "engines/training/parallel/stage_trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "engines/autograd/host_values.h"
#include "engines/autograd/optimizers/adamw.h"
#include "engines/autograd/steps/step_recorder.h"
#include "engines/autograd/steps/training_step.h"
#include "engines/models/shards.h"
#include "engines/training/clipped.h"
#include "engines/training/parallel/values_of_ranks.h"
#include "engines/training/recipe_model.h"

namespace howard::training {
namespace {

using autograd::Parameter;

/// Each group of DDP drops other elements; the devices of one group, which all compute the same,
/// drop the same ones.
constexpr std::uint32_t kSeedsOfOneGroup = 0x1000'0000;

/// Returns the recipe of one device, whose batch is its share of the sequences.
Recipe local_recipe(Recipe recipe, int ddp) {
  recipe.batch /= ddp;
  return recipe;
}

std::int64_t rounded_vocabulary(const Tokenizer& tokenizer, int tp) {
  const std::int64_t rows = kTileSide * tp;
  return ceil_div(tokenizer.tokens(), rows) * rows;
}

/// Returns the parameter that a saved tensor belongs to: "weight" for "weight first moment".
std::string parameter_of(const std::string& tensor) { return tensor.substr(0, tensor.find(' ')); }

/// Throws Error when one of `values` is not finite.
const std::vector<float>& require_finite(const std::string& name, const std::vector<float>& values,
                                         std::int64_t step) {
  const bool finite = std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
  if (finite) return values;
  throw Error({.attempted = "train",
               .value = fmt::format("a number of {} that is not finite after step {}", name, step),
               .accepted = "finite losses and parameters",
               .hint = "a smaller learning rate, from the last checkpoint"});
}

}  // namespace

/// A micro-batch between its forward and its backward pass.
struct StageTrainer::MicroBatch {
  MicroBatch(Device& device, const autograd::TapeOptions& options) : tape(device, options) {}

  Tape tape;
  std::optional<Value> received;  ///< What the stage before has sent.
  Value output;
};

StageTrainer::StageTrainer(Device& device, mesh::Communicator& ranks, const MeshPlan& plan,
                           const Recipe& recipe, const Corpus& corpus, RankOptions options)
    : device_(device),
      queue_(device.command_queue(0)),
      ranks_(ranks),
      plan_(plan),
      place_(plan, ranks.rank()),
      recipe_(recipe),
      options_(std::move(options)),
      text_checksum_(corpus.checksum),
      tokenizer_(corpus.tokenizer),
      batches_(corpus.tokens, recipe.batch, recipe.sequence, recipe.seed),
      vocabulary_(rounded_vocabulary(*tokenizer_, plan.tp)),
      layer_group_(device, 0, plan.tp, place_.column),
      batch_group_(device, 1, plan.ddp, place_.row) {
  const Recipe local = local_recipe(recipe, plan.ddp);
  if (plan.stages() == 1) {
    model_ = make_model(device, local, vocabulary_, &layer_group_);
  } else {
    models::LlamaOptions sizes = llama_options(local, vocabulary_, &layer_group_);
    const auto stage = plan.blocks.begin() + place_.stage;
    sizes.first_block = std::accumulate(plan.blocks.begin(), stage, 0);
    sizes.end_block = sizes.first_block + *stage;
    auto llama = std::make_unique<models::Llama>(device, sizes);
    stage_ = llama.get();
    model_ = std::move(llama);
  }
  make_parameters();
  for (int i = 0; i < recipe.accumulate; ++i) {
    data_.push_back({ops::Tensor(device, model_->tokens().spec()),
                     ops::Tensor(device, model_->targets().spec())});
  }
  set_up_optimizer();
  make_step();
  if (options_.held_out.empty()) return;
  validation_.emplace(
      device, *model_, std::move(options_.held_out), options_.validated,
      [this](models::LanguageModel& model, Tape& tape) {
        std::optional<Value> received;
        const Value output = output_of(tape, model, {model.tokens(), model.targets()}, received);
        if (is_last_stage() && place_.column == 0) {
          return autograd::read_values(queue_, tape.tensor(output))[0];
        }
        if (!is_last_stage()) {
          send_tensor(queue_, ranks_, neighbour(1), tape.tensor(output));
        }
        return 0.0F;
      });
}

StageTrainer::~StageTrainer() = default;

void StageTrainer::set_up_optimizer() {
  device_.begin_phase("optimizer");
  const bool traced = options_.engine == Engine::traced;
  optimizer_ = make_optimizer(recipe_, autograd::Calls(device_), model_->parameters(), traced);
  if (recipe_.clip > 0) {
    clipped_ = std::make_unique<Clipped>(*optimizer_, model_->parameters(), recipe_.clip,
                                         options_.engine == Engine::dynamic);
  }
  averaged_.emplace(clipped_ ? *clipped_ : *optimizer_, model_->parameters(), batch_group_);
  if (traced && recipe_.dropout > 0) {
    seed_offset_.emplace(device_, TensorSpec{{1, 1}, DataType::uint32});
  }
}

std::uint32_t StageTrainer::seed_of(std::int64_t batch) const {
  return recipe_.seed + static_cast<std::uint32_t>(batch) * autograd::kSeedsOfOneBatch +
         static_cast<std::uint32_t>(place_.row) * kSeedsOfOneGroup;
}

void StageTrainer::make_step() {
  if (stage_ != nullptr) return;
  runner_.emplace(
      device_,
      autograd::training_step(
          [this](Tape& tape, int number) {
            const Data& data = data_[static_cast<std::size_t>(number)];
            return model_->loss(tape, data.tokens, data.targets);
          },
          *averaged_,
          {.tape = {.calls = {.products = models::kTtmlProducts},
                    .compute = recipe_.dtype,
                    .seed = seed_of(seed_offset_ ? 0 : steps_done_ * recipe_.accumulate),
                    .seed_offset = seed_offset_},
           .batches = recipe_.accumulate}),
      options_.engine, scalars_of(recipe_, options_.engine));
}

/// Draws the same numbers as one device would draw.
void StageTrainer::make_parameters() {
  Recipe shapes = recipe_;
  shapes.batch = 1;
  autograd::StepRecorder recorder(device_);
  const auto whole = make_model(recorder, shapes, vocabulary_);
  models::write_random_shares(queue_, model_->parameters(), whole->parameters(), recipe_.seed,
                              plan_.tp, place_.column);
  for (const Parameter* parameter : whole->parameters()) {
    const Shape& shape = parameter->value.spec().shape;
    whole_.push_back({parameter->name, shape.rows(), shape.columns()});
  }
}

float StageTrainer::learning_rate() const { return learning_rate_of(recipe_, steps_done_ + 1); }

std::int64_t StageTrainer::parameters() const {
  std::int64_t count = 0;
  for (const ParameterShape& parameter : whole_) count += parameter.rows * parameter.columns;
  return count;
}

void StageTrainer::write_batches() {
  const std::int64_t values = recipe_.batch / plan_.ddp * recipe_.sequence;
  for (int i = 0; i < recipe_.accumulate; ++i) {
    const Batch batch = batches_.batch(steps_done_ * recipe_.accumulate + i);
    const Data& data = data_[static_cast<std::size_t>(i)];
    const auto own = [&](const std::vector<std::uint32_t>& all) {
      return std::span(all).subspan(static_cast<std::size_t>(place_.row * values),
                                    static_cast<std::size_t>(values));
    };
    autograd::write_indices(queue_, data.tokens, own(batch.tokens));
    autograd::write_indices(queue_, data.targets, own(batch.targets));
  }
}

void StageTrainer::write_numbers() {
  set_numbers(recipe_, steps_done_ + 1, *optimizer_);
  averaged_->learning_rate = learning_rate();
  if (seed_offset_) {
    const std::uint32_t offset =
        static_cast<std::uint32_t>(steps_done_ * recipe_.accumulate) * autograd::kSeedsOfOneBatch;
    autograd::write_indices(queue_, *seed_offset_, std::span(&offset, 1));
  }
  auto* const adamw = dynamic_cast<autograd::AdamW*>(optimizer_.get());
  if (adamw != nullptr && options_.engine == Engine::traced) adamw->write_numbers(queue_);
}

StageTrainer::Value StageTrainer::output_of(Tape& tape, models::LanguageModel& model,
                                            const Data& data, std::optional<Value>& received) {
  if (stage_ == nullptr) return model.loss(tape, data.tokens, data.targets);
  auto& stage = dynamic_cast<models::Llama&>(model);
  Value x;
  if (place_.stage == 0) {
    x = stage.embedded(tape, data.tokens);
  } else {
    const models::LlamaOptions& sizes = stage.options();
    const ops::Tensor activations(device_,
                                  {{sizes.batch, 1, sizes.sequence, sizes.width}, recipe_.dtype});
    receive_tensor(queue_, ranks_, neighbour(-1), activations);
    received = x = tape.leaf(activations);
  }
  x = stage.blocks(tape, x);
  return is_last_stage() ? stage.loss_of(tape, x, data.targets) : x;
}

void StageTrainer::forward(int number) {
  const autograd::TapeOptions options{.calls = {.products = models::kTtmlProducts},
                                      .compute = recipe_.dtype,
                                      .seed = seed_of(steps_done_ * recipe_.accumulate + number)};
  const auto [entry, added] =
      alive_.emplace(number, std::make_unique<MicroBatch>(device_, options));
  MicroBatch& micro = *entry->second;
  device_.begin_phase("forward");
  micro.output =
      output_of(micro.tape, *model_, data_[static_cast<std::size_t>(number)], micro.received);
  if (is_last_stage()) {
    loss_ += autograd::read_values(queue_, micro.tape.tensor(micro.output))[0];
  } else {
    send_tensor(queue_, ranks_, neighbour(1), micro.tape.tensor(micro.output));
  }
}

void StageTrainer::backward(int number) {
  const std::unique_ptr<MicroBatch> micro = std::move(alive_.at(number));
  alive_.erase(number);
  device_.begin_phase("backward");
  if (is_last_stage()) {
    micro->tape.backward(micro->output, 1 / static_cast<float>(recipe_.accumulate));
  } else {
    const ops::Tensor gradient(device_, micro->tape.spec(micro->output));
    receive_tensor(queue_, ranks_, neighbour(1), gradient);
    micro->tape.backward(micro->output, gradient);
  }
  if (micro->received) {
    send_tensor(queue_, ranks_, neighbour(-1), micro->tape.gradient(*micro->received));
  } else {
    queue_.finish();
  }
}

/// It leaves the mean loss of this rank's sequences in the last stage.
void StageTrainer::run_passes(Clocks& own) {
  loss_ = 0;
  for (const mesh::PipelinePass& pass :
       mesh::passes_of(plan_.schedule, plan_.stages(), place_.stage, recipe_.accumulate)) {
    const SimTime before = device_.now();
    pass.forward ? forward(pass.micro_batch) : backward(pass.micro_batch);
    (pass.forward ? own.forward : own.backward) += device_.now() - before;
  }
  const SimTime before = device_.now();
  device_.begin_phase("step");
  averaged_->step(autograd::Calls(device_, {.products = models::kTtmlProducts}));
  queue_.finish();
  own.update = device_.now() - before;
  loss_ *= 1 / static_cast<float>(recipe_.accumulate);
}

MeshStep StageTrainer::step() {
  const SimTime start = device_.now();
  write_batches();
  write_numbers();
  Clocks own;
  if (runner_) {
    loss_ = runner_->run();
    queue_.finish();
  } else {
    run_passes(own);
  }
  own.whole = device_.now() - start;
  const bool counts = is_last_stage() && place_.column == 0;
  own.loss = counts ? loss_ / static_cast<float>(plan_.ddp) : 0;
  ++steps_done_;
  const MeshStep joined = join(own);
  if (std::isfinite(joined.loss)) return joined;
  throw Error({.attempted = "train",
               .value = fmt::format("a loss that is not finite in step {}", steps_done_),
               .accepted = "finite losses and parameters",
               .hint = "a smaller learning rate, from the last checkpoint"});
}

/// Joins the ranks' losses and times to those of the step. A virtual clock stands still while its
/// chip waits for another stage, so a step of a pipeline is played from the times of its passes.
MeshStep StageTrainer::join(const Clocks& own) {
  return join_numbers<Clocks, MeshStep>(ranks_, own, [&](std::span<const Clocks> all) {
    MeshStep step;
    for (const Clocks& clocks : all) {
      step.loss += double{clocks.loss};
      step.time = std::max(step.time, clocks.whole);
    }
    if (plan_.stages() == 1 || !options_.virtual_clock) return step;
    std::vector<mesh::StageTimes> stages;
    std::vector<SimTime> updates;
    for (std::size_t rank = 0; rank < all.size();
         rank += static_cast<std::size_t>(plan_.ddp * plan_.tp)) {
      const auto mean = [&](SimTime sum) {
        return SimTime::picoseconds(sum.ps() / recipe_.accumulate);
      };
      stages.push_back({mean(all[rank].forward), mean(all[rank].backward), {}});
      updates.push_back(all[rank].update);
    }
    const auto accounts = mesh::run_pipeline(plan_.schedule, stages, recipe_.accumulate);
    step.time = {};
    for (std::size_t i = 0; i < accounts.size(); ++i) {
      step.time = std::max(step.time, accounts[i].end + updates[i]);
    }
    return step;
  });
}

const ParameterShape& StageTrainer::whole_of(const std::string& tensor) const {
  return *std::ranges::find(whole_, parameter_of(tensor), &ParameterShape::name);
}

std::vector<float> StageTrainer::share_of(const ParameterShape& whole,
                                          std::span<const float> values) const {
  return models::share_of(values, whole.rows, whole.columns, models::split_of(whole.name), plan_.tp,
                          place_.column);
}

/// Returns, on rank 0, the whole tensors that ranks have shares of, by name. It asks one group of
/// DDP only, because all have the same.
std::map<std::string, std::vector<float>> StageTrainer::gathered(
    const std::vector<SavedTensor>& own) {
  std::map<std::string, std::vector<float>> tensors;
  if (ranks_.rank() != 0) {
    if (place_.row != 0) return tensors;
    send_number(ranks_, 0, own.size());
    for (const SavedTensor& saved : own) {
      ranks_.send(0, std::as_bytes(std::span(saved.name)));
      const std::vector<float> values = autograd::read_values(queue_, saved.tensor);
      ranks_.send(0, std::as_bytes(std::span(values)));
    }
    return tensors;
  }
  const auto add = [&](int column, const std::string& name, std::span<const float> share) {
    const ParameterShape& whole = whole_of(name);
    std::vector<float>& values = tensors[name];
    values.resize(static_cast<std::size_t>(whole.rows * whole.columns));
    models::join_share(share, whole.rows, whole.columns, models::split_of(whole.name), plan_.tp,
                       column, values);
  };
  for (const SavedTensor& saved : own) {
    add(0, saved.name, autograd::read_values(queue_, saved.tensor));
  }
  for (int rank = 1; rank < ranks_.size(); ++rank) {
    const MeshPlace place(plan_, rank);
    if (place.row != 0) continue;
    const auto count = receive_number<std::size_t>(ranks_, rank);
    for (std::size_t i = 0; i < count; ++i) {
      const std::vector<std::byte> name = ranks_.receive(rank);
      const std::vector<std::byte> bytes = ranks_.receive(rank);
      std::vector<float> values(bytes.size() / sizeof(float));
      std::memcpy(values.data(), bytes.data(), bytes.size());
      add(place.column, std::string(reinterpret_cast<const char*>(name.data()), name.size()),
          values);
    }
  }
  return tensors;
}

Checkpoint StageTrainer::checkpoint() {
  const std::vector<SavedTensor> own = saved_tensors(model_->parameters(), *optimizer_);
  const std::map<std::string, std::vector<float>> tensors = gathered(own);
  if (ranks_.rank() != 0) return {};
  Checkpoint now{.recipe = recipe_,
                 .step = steps_done_,
                 .text_checksum = text_checksum_,
                 .product_ways = "",
                 .characters = tokenizer_->characters(),
                 .tensors = {}};
  // One device saves each parameter followed by what the optimizer keeps of it.
  std::vector<std::string> kept;
  const std::string& first = whole_.front().name;
  for (const SavedTensor& saved : own) {
    if (parameter_of(saved.name) == first) kept.push_back(saved.name.substr(first.size()));
  }
  for (const ParameterShape& parameter : whole_) {
    for (const std::string& suffix : kept) {
      const std::string name = parameter.name + suffix;
      now.tensors.push_back({name, require_finite(name, tensors.at(name), steps_done_)});
    }
  }
  return now;
}

void StageTrainer::restore(const Checkpoint& checkpoint) {
  require_same_run(checkpoint, recipe_, text_checksum_, tokenizer_->characters());
  for (const SavedTensor& saved : saved_tensors(model_->parameters(), *optimizer_)) {
    const ParameterShape& whole = whole_of(saved.name);
    const auto found = std::ranges::find(checkpoint.tensors, saved.name, &NamedValues::name);
    if (found == checkpoint.tensors.end() ||
        std::ssize(found->values) != whole.rows * whole.columns) {
      throw Error({.attempted = "resume a training run",
                   .value = fmt::format("no {} of {}x{}", saved.name, whole.rows, whole.columns),
                   .accepted = "the tensors of this model, on a mesh that rounds the vocabulary up "
                               "to the same",
                   .hint = ""});
    }
    autograd::write_values(queue_, saved.tensor, share_of(whole, found->values));
  }
  steps_done_ = checkpoint.step;
  if (auto* const adamw = dynamic_cast<autograd::AdamW*>(optimizer_.get())) {
    adamw->set_next_step(steps_done_ + 1);
  }
  make_step();
}

ImportedWeights StageTrainer::take_weights(std::span<const Safetensors> files) {
  const std::vector<Parameter*> own = model_->parameters();
  return import_weights(whole_, recipe_, files,
                        [&](const ParameterShape& whole, std::span<const float> values) {
                          const auto found = std::ranges::find(own, whole.name, &Parameter::name);
                          if (found == own.end()) return;  // it is another stage's
                          const auto size = static_cast<std::size_t>(whole.rows * whole.columns);
                          std::vector<float> all(values.begin(), values.end());
                          std::vector<float> given(values.size(), 1);
                          all.resize(size);
                          given.resize(size);
                          const std::vector<float> taken = share_of(whole, given);
                          const std::vector<float> share = share_of(whole, all);
                          std::vector<float> now = autograd::read_values(queue_, (*found)->value);
                          for (std::size_t i = 0; i < now.size(); ++i) {
                            if (taken[i] != 0) now[i] = share[i];
                          }
                          autograd::write_values(queue_, (*found)->value, now);
                        });
}

std::vector<NamedValues> StageTrainer::weights() {
  std::vector<SavedTensor> own;
  for (const Parameter* parameter : model_->parameters()) {
    own.push_back({parameter->name, parameter->value});
  }
  std::map<std::string, std::vector<float>> tensors = gathered(own);
  std::vector<NamedValues> weights;
  if (ranks_.rank() != 0) return weights;
  for (const ParameterShape& parameter : whole_) {
    weights.push_back({parameter.name, std::move(tensors.at(parameter.name))});
  }
  return weights;
}

double StageTrainer::validation_loss() {
  return join_numbers<float, double>(ranks_, validation_->loss(place_.row, plan_.ddp),
                                     [](std::span<const float> all) {
                                       double sum = 0;
                                       for (const float loss : all) sum += double{loss};
                                       return sum;
                                     });
}

}  // namespace howard::training
