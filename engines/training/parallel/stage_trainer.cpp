// SPDX-License-Identifier: Apache-2.0
#include "engines/training/parallel/stage_trainer.h"

#include <algorithm>
#include <utility>

#include "engines/autograd/host_values.h"
#include "engines/autograd/optimizers/adamw.h"
#include "engines/autograd/steps/step_recorder.h"
#include "engines/autograd/steps/training_step.h"
#include "engines/models/shards.h"
#include "engines/ops/collective/transfer.h"
#include "engines/training/clipped.h"
#include "engines/training/parallel/shared_reader.h"
#include "engines/training/parallel/values_of_ranks.h"
#include "engines/training/recipe_model.h"

namespace howard::training {
namespace {

using autograd::Parameter;

/// Each group of DDP drops other elements, and so does each device that has rows of its own;
/// devices of one group that compute the same drop the same ones.
constexpr std::uint32_t kSeedsOfOneGroup = 0x0800'0000;

/// A block of a Llama draws so many dropouts; so each part draws those that one device would draw.
constexpr std::uint32_t kDropoutsOfOneBlock = 2;

/// The channels of the sockets between stages.
constexpr int kActivations = 1;
constexpr int kGradients = 2;

/// Returns the recipe of one device, whose batch is its share of the sequences.
Recipe local_recipe(Recipe recipe, int ddp) {
  recipe.batch /= ddp;
  return recipe;
}

std::int64_t rounded_vocabulary(const language::Tokenizer& tokenizer, int tp) {
  const std::int64_t rows = kTileSide * tp;
  return ceil_div(tokenizer.tokens(), rows) * rows;
}

/// Returns the parameter that a saved tensor belongs to: "weight" for "weight first moment".
std::string parameter_of(const std::string& tensor) { return tensor.substr(0, tensor.find(' ')); }

}  // namespace

/// A micro-batch between its forward and its backward pass through a chunk.
struct StageTrainer::MicroBatch {
  MicroBatch(Device& device, const autograd::TapeOptions& options) : tape(device, options) {}

  Tape tape;
  std::optional<Value> received;  ///< What the part before has sent.
  Value output;
};

StageTrainer::StageTrainer(Device& device, mesh::Communicator& ranks, const MeshPlan& plan,
                           const Recipe& recipe, const language::Corpus& corpus,
                           RankOptions options)
    : ranks_(ranks),
      device_(device, ranks, options.wait_until),
      queue_(device_.command_queue(0)),
      plan_(plan),
      place_(plan, ranks.rank()),
      recipe_(recipe),
      options_(std::move(options)),
      text_checksum_(corpus.checksum),
      tokenizer_(corpus.tokenizer),
      batches_(corpus.tokens, recipe.batch, recipe.sequence, recipe.seed),
      vocabulary_(rounded_vocabulary(*tokenizer_, plan.tp)),
      layer_group_(device_, 0, plan.tp, place_.column),
      batch_group_(device_, 1, plan.ddp, place_.row) {
  const Recipe local = local_recipe(recipe, plan.ddp);
  if (plan.stages() == 1) {
    model_ = make_model(device_, local, vocabulary_, &layer_group_, plan.sequence_parallel);
  } else {
    auto stage = std::make_unique<StageModel>(
        device_, llama_options(local, vocabulary_, &layer_group_, plan.sequence_parallel),
        mesh::blocks_of_parts(plan.blocks, plan.chunks), place_.stage, plan.stages());
    stage_ = stage.get();
    model_ = std::move(stage);
  }
  make_parameters();
  for (int i = 0; i < recipe.accumulate; ++i) {
    data_.push_back({ops::Tensor(device_, model_->tokens().spec()),
                     ops::Tensor(device_, model_->targets().spec())});
  }
  set_up_optimizer();
  make_step();
  if (options_.held_out.empty()) return;
  validation_.emplace(device_, *model_, std::move(options_.held_out), options_.validated,
                      [this](models::LanguageModel& model, Tape& tape) {
                        const Value loss = window_output(model, tape, Output::loss);
                        return has_output() ? autograd::read_values(queue_, tape.tensor(loss))[0]
                                            : 0.0F;
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
  const int share = plan_.sequence_parallel ? place_.row * plan_.tp + place_.column : place_.row;
  return recipe_.seed + static_cast<std::uint32_t>(batch) * autograd::kSeedsOfOneBatch +
         static_cast<std::uint32_t>(share) * kSeedsOfOneGroup;
}

autograd::TapeOptions StageTrainer::tape_options(int number) const {
  const std::int64_t first = seed_offset_ ? 0 : steps_done_ * recipe_.accumulate;
  return {.calls = {.products = models::kTtmlProducts},
          .compute = recipe_.dtype,
          .seed = seed_of(first + number),
          .seed_offset = seed_offset_};
}

void StageTrainer::make_step() {
  autograd::StepFunction step;
  if (stage_ != nullptr) {
    step = [this](Device& device) { return stage_step(device); };
  } else {
    step = autograd::training_step(
        [this](Tape& tape, int number) {
          const Data& data = data_[static_cast<std::size_t>(number)];
          return model_->loss(tape, data.tokens, data.targets);
        },
        *averaged_, {.tape = tape_options(0), .batches = recipe_.accumulate});
  }
  runner_.emplace(device_, std::move(step), options_.engine, scalars_of(recipe_, options_.engine));
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

Operand StageTrainer::neighbour(int by, int channel) {
  const int size = plan_.ddp * plan_.tp;
  const int all = size * plan_.stages();
  return device_.peer((ranks_.rank() + by * size + all) % all, channel);
}

StageTrainer::Value StageTrainer::forward(Tape& tape, StageModel& model, int chunk,
                                          const Data& data, std::optional<Value>& received,
                                          Output output) {
  models::Llama& part = model.chunk(chunk);
  const autograd::Calls& calls = tape.calls();
  Value x;
  if (is_first_part(chunk)) {
    x = part.embedded(tape, data.tokens);
  } else {
    const ops::Tensor activations = calls.make({part.options().stream(), recipe_.dtype});
    calls.run(ops::receive(previous(kActivations), activations));
    received = x = tape.leaf(activations);
  }
  x = part.blocks(tape, x);
  if (is_last_part(chunk)) {
    return output == Output::loss ? part.loss_of(tape, x, data.targets) : part.logits_of(tape, x);
  }
  calls.run(ops::send(tape.tensor(x), next(kActivations)));
  return x;
}

void StageTrainer::backward(MicroBatch& micro, int chunk) {
  Tape& tape = micro.tape;
  const autograd::Calls& calls = tape.calls();
  if (is_last_part(chunk)) {
    tape.backward(micro.output, 1 / static_cast<float>(recipe_.accumulate));
  } else {
    const ops::Tensor gradient = calls.make(tape.spec(micro.output));
    calls.run(ops::receive(next(kGradients), gradient));
    tape.backward(micro.output, gradient);
  }
  if (micro.received) {
    calls.run(ops::send(tape.gradient(*micro.received), previous(kGradients)));
  }
}

ops::Tensor StageTrainer::stage_step(Device& device) {
  const autograd::Calls calls(device, {.products = models::kTtmlProducts});
  std::map<std::pair<int, int>, std::unique_ptr<MicroBatch>> alive;
  std::optional<ops::Tensor> loss;
  for (const mesh::PipelinePass& pass :
       mesh::passes_of(plan_.order(recipe_.accumulate), place_.stage)) {
    const std::pair key(pass.chunk, pass.micro_batch);
    device.begin_phase(pass.forward ? "forward" : "backward");
    if (!pass.forward) {
      backward(*alive.at(key), pass.chunk);
      alive.erase(key);
      continue;
    }
    autograd::TapeOptions options = tape_options(pass.micro_batch);
    options.seed += kDropoutsOfOneBlock *
                    static_cast<std::uint32_t>(stage_->chunk(pass.chunk).options().first_block);
    auto micro = std::make_unique<MicroBatch>(device, options);
    micro->output = forward(micro->tape, *stage_, pass.chunk,
                            data_[static_cast<std::size_t>(pass.micro_batch)], micro->received);
    if (is_last_part(pass.chunk)) {
      const ops::Tensor one = micro->tape.tensor(micro->output);
      loss = loss ? calls.add(*loss, one) : one;
    }
    alive.emplace(key, std::move(micro));
  }
  device.begin_phase("step");
  averaged_->step(calls);
  if (loss && recipe_.accumulate > 1) {
    return calls.multiply(*loss, 1 / static_cast<float>(recipe_.accumulate));
  }
  return loss ? *loss : no_loss(calls);
}

StageTrainer::Value StageTrainer::window_output(models::LanguageModel& model, Tape& tape,
                                                Output output) {
  const Data data{model.tokens(), model.targets()};
  if (stage_ == nullptr) {
    return output == Output::loss ? model.loss(tape, data.tokens, data.targets)
                                  : model.logits(tape, data.tokens);
  }
  Value result;
  std::optional<Value> received;
  auto& stage = dynamic_cast<StageModel&>(model);
  for (int chunk = 0; chunk < plan_.chunks; ++chunk) {
    result = forward(tape, stage, chunk, data, received, output);
  }
  return result;
}

std::unique_ptr<language::TextReader> StageTrainer::reader() {
  const std::shared_ptr<models::LanguageModel> model = model_->of_one_sequence(device_);
  copy_parameters(queue_, *model_, *model);
  const int last = (plan_.stages() - 1) * plan_.ddp * plan_.tp;
  return std::make_unique<SharedReader>(
      ranks_, last, [this, model](std::span<const std::uint32_t> text) {
        const std::int64_t place = language::write_window(queue_, *model, text);
        Tape tape(device_, {.calls = {.products = models::kTtmlProducts},
                            .compute = recipe_.dtype,
                            .records = false});
        const Value logits = window_output(*model, tape, Output::logits);
        if (!has_output()) return std::vector<float>{};
        return language::logits_at(queue_, tape.tensor(logits), place);
      });
}

MeshStep StageTrainer::step() {
  const SimTime start = device_.now();
  device_.begin_step();
  write_batches();
  write_numbers();
  const float loss = runner_->run();
  queue_.finish();
  const MeshStep own{.loss = has_output() ? double{loss / static_cast<float>(plan_.ddp)} : 0,
                     .time = device_.now() - start};
  ++steps_done_;
  return join_steps(ranks_, own, steps_done_);
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
    std::vector<NamedValues> values;
    for (const SavedTensor& saved : own) {
      values.push_back({saved.name, autograd::read_values(queue_, saved.tensor)});
    }
    send_values(ranks_, 0, values);
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
    for (const NamedValues& share : receive_values(ranks_, rank)) {
      add(place.column, share.name, share.values);
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
      now.tensors.push_back({name, tensors.at(name)});
      require_finite(now.tensors.back(), steps_done_);
    }
  }
  return now;
}

void StageTrainer::restore(const Checkpoint& checkpoint) {
  require_same_run(checkpoint, recipe_, text_checksum_, tokenizer_->characters());
  for (const SavedTensor& saved : saved_tensors(model_->parameters(), *optimizer_)) {
    const ParameterShape& whole = whole_of(saved.name);
    const std::vector<float>& values =
        saved_values(checkpoint, saved.name, whole.rows, whole.columns);
    autograd::write_values(queue_, saved.tensor, share_of(whole, values));
  }
  steps_done_ = checkpoint.step;
  if (auto* const adamw = dynamic_cast<autograd::AdamW*>(optimizer_.get())) {
    adamw->set_next_step(steps_done_ + 1);
  }
  make_step();
}

ImportedWeights StageTrainer::take_weights(std::span<const language::Safetensors> files) {
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
