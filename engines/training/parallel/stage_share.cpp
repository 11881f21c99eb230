// SPDX-License-Identifier: Apache-2.0
#include "engines/training/parallel/stage_share.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engines/autograd/host_values.h"
#include "engines/autograd/optimizers/averaged_gradients.h"
#include "engines/autograd/steps/step_recorder.h"
#include "engines/models/language_model.h"
#include "engines/models/shards.h"
#include "engines/ops/collective.h"
#include "engines/training/parallel/shared_reader.h"
#include "engines/training/parallel/stage_model.h"
#include "engines/training/parallel/values_of_ranks.h"

namespace howard::training {
namespace {

using autograd::Parameter;
using autograd::Tape;
using autograd::Value;

/// Each group of DDP drops other elements, and so does each device that has rows of its own;
/// devices of one group that compute the same drop the same ones.
constexpr std::uint32_t kSeedsOfOneGroup = 0x0800'0000;

/// A block of a Llama draws so many dropouts; so each part draws those that one device would draw.
constexpr std::uint32_t kDropoutsOfOneBlock = 2;

/// The channels of the sockets between stages.
constexpr int kActivations = 1;
constexpr int kGradients = 2;

std::int64_t rounded_vocabulary(const language::Tokenizer& tokenizer, int tp) {
  const std::int64_t rows = kTileSide * tp;
  return ceil_div(tokenizer.tokens(), rows) * rows;
}

/// Returns the parameter that a saved tensor belongs to: "weight" for "weight first moment".
std::string parameter_of(const std::string& tensor) { return tensor.substr(0, tensor.find(' ')); }

class StageShare final : public Share {
 public:
  StageShare(Device& device, mesh::Communicator& ranks, const MeshPlan& plan, const Recipe& recipe,
             const language::Tokenizer& tokenizer, mesh::WaitUntil wait_until);

  Device& device() override { return device_; }
  models::LanguageModel& model() override { return *model_; }
  std::int64_t parameters() override;
  void write_start_values() override;
  std::span<const std::uint32_t> own_rows(std::span<const std::uint32_t> batch) const override;
  autograd::StepFunction step_function(std::span<const BatchTensors> data,
                                       const autograd::TapeOptions& tape,
                                       autograd::Optimizer* optimizer) override;
  void begin_step() override;
  StepOutcome end_step(float loss, std::int64_t number) override;
  std::vector<NamedValues> gathered(std::span<const SavedTensor> own) override;
  language::ParameterShape whole_shape(const SavedTensor& own) const override;
  void write(const SavedTensor& own, const std::vector<float>& values) override;
  language::ImportedWeights take_weights(std::span<const language::Safetensors> files) override;
  void hold_out(std::vector<std::uint32_t> tokens, std::int64_t sequences) override;
  double validation_loss() override;
  std::unique_ptr<language::TextReader> reader() override;

 private:
  struct MicroBatch;

  /// Makes a stage's part of a step on `device`. Returns the loss in the last stage, and 0 in the
  /// others.
  ops::Tensor stage_step(Device& device, std::span<const BatchTensors> data,
                         const autograd::TapeOptions& tape);
  /// What the last part of the model makes.
  enum class Output : std::uint8_t { loss, logits };
  /// Runs a chunk of this stage forward and sends what it makes to the next part. Returns its
  /// output.
  Value forward(Tape& tape, StageModel& model, int chunk, const BatchTensors& data,
                std::optional<Value>& received, Output output = Output::loss);
  void backward(MicroBatch& micro, int chunk);
  /// Runs a window, whose tokens the model of one sequence has, forward. Returns its loss or its
  /// logits, which only a rank that has_output() may read.
  Value window_output(models::LanguageModel& model, Tape& tape, Output output);
  /// Says whether this rank is the one that hands out the loss and the logits of its sequences.
  bool has_output() const { return is_last_stage() && place_.column == 0; }

  bool is_first_part(int chunk) const { return chunk == 0 && place_.stage == 0; }
  bool is_last_part(int chunk) const { return chunk + 1 == plan_.chunks && is_last_stage(); }
  bool is_last_stage() const { return place_.stage + 1 == plan_.stages(); }
  /// Returns the socket to the same place of the next stage or the one before, for activations or
  /// for gradients. Between chunks, the first stage follows the last one.
  Operand next(int channel) { return neighbour(1, channel); }
  Operand previous(int channel) { return neighbour(-1, channel); }
  Operand neighbour(int by, int channel);
  std::map<std::string, std::vector<float>> tensors_of_all(std::span<const SavedTensor> own);
  std::vector<float> share_of(const language::ParameterShape& whole,
                              std::span<const float> values) const;

  mesh::Communicator& ranks_;
  mesh::Sockets device_;
  MeshPlan plan_;
  MeshPlace place_;
  std::int64_t vocabulary_;
  autograd::DeviceGroup layer_group_, batch_group_;
  std::vector<language::ParameterShape> whole_;  ///< The parameters of the whole model.
  std::unique_ptr<models::LanguageModel> model_;
  StageModel* stage_ = nullptr;  ///< model_, if it has only some of the blocks.
  std::optional<autograd::AveragedGradients> averaged_;
  SimTime start_;  ///< When the present step began.
};

/// A micro-batch between its forward and its backward pass through a chunk.
struct StageShare::MicroBatch {
  MicroBatch(Device& device, const autograd::TapeOptions& options) : tape(device, options) {}

  Tape tape;
  std::optional<Value> received;  ///< What the part before has sent.
  Value output;
};

StageShare::StageShare(Device& device, mesh::Communicator& ranks, const MeshPlan& plan,
                       const Recipe& recipe, const language::Tokenizer& tokenizer,
                       mesh::WaitUntil wait_until)
    : Share(recipe),
      ranks_(ranks),
      device_(device, ranks, std::move(wait_until)),
      plan_(plan),
      place_(plan, ranks.rank()),
      vocabulary_(rounded_vocabulary(tokenizer, plan.tp)),
      layer_group_(device_, 0, plan.tp, place_.column),
      batch_group_(device_, 1, plan.ddp, place_.row) {
  models::ModelOptions local =
      recipe.model.with(vocabulary_, &layer_group_, plan.sequence_parallel);
  local.batch /= plan.ddp;
  if (plan.stages() == 1) {
    model_ = models::make_model(device_, local);
  } else {
    auto stage = std::make_unique<StageModel>(device_, local,
                                              mesh::blocks_of_parts(plan.blocks, plan.chunks),
                                              place_.stage, plan.stages());
    stage_ = stage.get();
    model_ = std::move(stage);
  }
}

/// Draws the same numbers as one device would draw.
void StageShare::write_start_values() {
  models::ModelOptions shapes = recipe().model.with(vocabulary_);
  shapes.batch = 1;
  autograd::StepRecorder recorder(device_);
  const auto whole = models::make_model(recorder, shapes);
  models::write_random_shares(queue(), model_->parameters(), whole->parameters(), recipe().seed,
                              plan_.tp, place_.column);
  for (const Parameter* parameter : whole->parameters()) {
    const Shape& shape = parameter->value.spec().shape;
    whole_.push_back({parameter->name, shape.rows(), shape.columns()});
  }
}

std::int64_t StageShare::parameters() {
  std::int64_t count = 0;
  for (const language::ParameterShape& parameter : whole_)
    count += parameter.rows * parameter.columns;
  return count;
}

std::span<const std::uint32_t> StageShare::own_rows(std::span<const std::uint32_t> batch) const {
  const std::size_t values = batch.size() / static_cast<std::size_t>(plan_.ddp);
  return batch.subspan(static_cast<std::size_t>(place_.row) * values, values);
}

autograd::StepFunction StageShare::step_function(std::span<const BatchTensors> data,
                                                 const autograd::TapeOptions& tape,
                                                 autograd::Optimizer* optimizer) {
  averaged_.emplace(*optimizer, model_->parameters(), batch_group_);
  autograd::TapeOptions own = tape;
  const int share = plan_.sequence_parallel ? place_.row * plan_.tp + place_.column : place_.row;
  own.seed += static_cast<std::uint32_t>(share) * kSeedsOfOneGroup;
  if (stage_ == nullptr) return Share::step_function(data, own, &*averaged_);
  return [this, data, own](Device& on) mutable {
    const ops::Tensor loss = stage_step(on, data, own);
    // A replay reads the number of the first batch from the device.
    if (!own.seed_offset) {
      own.seed += static_cast<std::uint32_t>(recipe().accumulate) * autograd::kSeedsOfOneBatch;
    }
    return loss;
  };
}

Operand StageShare::neighbour(int by, int channel) {
  const int size = plan_.ddp * plan_.tp;
  const int all = size * plan_.stages();
  return device_.peer((ranks_.rank() + by * size + all) % all, channel);
}

Value StageShare::forward(Tape& tape, StageModel& model, int chunk, const BatchTensors& data,
                          std::optional<Value>& received, Output output) {
  models::Llama& part = model.chunk(chunk);
  const autograd::Calls& calls = tape.calls();
  Value x;
  if (is_first_part(chunk)) {
    x = part.embedded(tape, data.tokens);
  } else {
    const ops::Tensor activations = calls.make({part.options().stream(), recipe().model.compute});
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

void StageShare::backward(MicroBatch& micro, int chunk) {
  Tape& tape = micro.tape;
  const autograd::Calls& calls = tape.calls();
  if (is_last_part(chunk)) {
    tape.backward(micro.output, 1 / static_cast<float>(recipe().accumulate));
  } else {
    const ops::Tensor gradient = calls.make(tape.spec(micro.output));
    calls.run(ops::receive(next(kGradients), gradient));
    tape.backward(micro.output, gradient);
  }
  if (micro.received) {
    calls.run(ops::send(tape.gradient(*micro.received), previous(kGradients)));
  }
}

ops::Tensor StageShare::stage_step(Device& device, std::span<const BatchTensors> data,
                                   const autograd::TapeOptions& tape) {
  const autograd::Calls calls(device, {.products = models::kTtmlProducts});
  std::map<std::pair<int, int>, std::unique_ptr<MicroBatch>> alive;
  std::optional<ops::Tensor> loss;
  for (const mesh::PipelinePass& pass :
       mesh::passes_of(plan_.order(recipe().accumulate), place_.stage)) {
    const std::pair key(pass.chunk, pass.micro_batch);
    device.begin_phase(pass.forward ? "forward" : "backward");
    if (!pass.forward) {
      backward(*alive.at(key), pass.chunk);
      alive.erase(key);
      continue;
    }
    autograd::TapeOptions options = tape;
    options.seed += static_cast<std::uint32_t>(pass.micro_batch) * autograd::kSeedsOfOneBatch;
    options.seed += kDropoutsOfOneBlock *
                    static_cast<std::uint32_t>(stage_->chunk(pass.chunk).options().first_block);
    auto micro = std::make_unique<MicroBatch>(device, options);
    micro->output = forward(micro->tape, *stage_, pass.chunk,
                            data[static_cast<std::size_t>(pass.micro_batch)], micro->received);
    if (is_last_part(pass.chunk)) {
      const ops::Tensor one = micro->tape.tensor(micro->output);
      loss = loss ? calls.add(*loss, one) : one;
    }
    alive.emplace(key, std::move(micro));
  }
  device.begin_phase("step");
  averaged_->step(calls);
  if (loss && recipe().accumulate > 1) {
    return calls.multiply(*loss, 1 / static_cast<float>(recipe().accumulate));
  }
  return loss ? *loss : no_loss(calls);
}

Value StageShare::window_output(models::LanguageModel& model, Tape& tape, Output output) {
  const BatchTensors data{model.tokens(), model.targets()};
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

std::unique_ptr<language::TextReader> StageShare::reader() {
  const std::shared_ptr<models::LanguageModel> model = model_->of_one_sequence(device_);
  copy_parameters(queue(), *model_, *model);
  const int last = (plan_.stages() - 1) * plan_.ddp * plan_.tp;
  return std::make_unique<SharedReader>(
      ranks_, last, [this, model](std::span<const std::uint32_t> text) {
        const std::int64_t place = language::write_window(queue(), *model, text);
        Tape tape(device_, {.calls = {.products = models::kTtmlProducts},
                            .compute = recipe().model.compute,
                            .records = false});
        const Value logits = window_output(*model, tape, Output::logits);
        if (!has_output()) return std::vector<float>{};
        return language::logits_at(queue(), tape.tensor(logits), place);
      });
}

void StageShare::begin_step() {
  start_ = device_.now();
  device_.begin_step();
}

StepOutcome StageShare::end_step(float loss, std::int64_t number) {
  queue().finish();
  return join_steps(ranks_,
                    {.loss = has_output() ? double{loss / static_cast<float>(plan_.ddp)} : 0,
                     .time = device_.now() - start_},
                    number);
}

language::ParameterShape StageShare::whole_shape(const SavedTensor& own) const {
  return *std::ranges::find(whole_, parameter_of(own.name), &language::ParameterShape::name);
}

void StageShare::write(const SavedTensor& own, const std::vector<float>& values) {
  autograd::write_values(queue(), own.tensor, share_of(whole_shape(own), values));
}

std::vector<float> StageShare::share_of(const language::ParameterShape& whole,
                                        std::span<const float> values) const {
  return models::share_of(values, whole.rows, whole.columns, models::split_of(whole.name), plan_.tp,
                          place_.column);
}

/// Returns, on rank 0, the whole tensors that ranks have shares of, by name. It asks one group of
/// DDP only, because all have the same.
std::map<std::string, std::vector<float>> StageShare::tensors_of_all(
    std::span<const SavedTensor> own) {
  std::map<std::string, std::vector<float>> tensors;
  if (ranks_.rank() != 0) {
    if (place_.row != 0) return tensors;
    std::vector<NamedValues> values;
    for (const SavedTensor& saved : own) {
      values.push_back({saved.name, autograd::read_values(queue(), saved.tensor)});
    }
    send_values(ranks_, 0, values);
    return tensors;
  }
  const auto add = [&](int column, const std::string& name, std::span<const float> share) {
    const language::ParameterShape whole = whole_shape({name, own.front().tensor});
    std::vector<float>& values = tensors[name];
    values.resize(static_cast<std::size_t>(whole.rows * whole.columns));
    models::join_share(share, whole.rows, whole.columns, models::split_of(whole.name), plan_.tp,
                       column, values);
  };
  for (const SavedTensor& saved : own) {
    add(0, saved.name, autograd::read_values(queue(), saved.tensor));
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

std::vector<NamedValues> StageShare::gathered(std::span<const SavedTensor> own) {
  std::map<std::string, std::vector<float>> tensors = tensors_of_all(own);
  std::vector<NamedValues> all;
  if (ranks_.rank() != 0) return all;
  // One device saves each parameter followed by what the optimizer keeps of it.
  std::vector<std::string> kept;
  const std::string& first = whole_.front().name;
  for (const SavedTensor& saved : own) {
    if (parameter_of(saved.name) == first) kept.push_back(saved.name.substr(first.size()));
  }
  for (const language::ParameterShape& parameter : whole_) {
    for (const std::string& suffix : kept) {
      const std::string name = parameter.name + suffix;
      all.push_back({name, std::move(tensors.at(name))});
    }
  }
  return all;
}

language::ImportedWeights StageShare::take_weights(std::span<const language::Safetensors> files) {
  const std::vector<Parameter*> own = model_->parameters();
  return language::import_weights(
      whole_, recipe().model, files,
      [&](const language::ParameterShape& whole, std::span<const float> values) {
        const auto found = std::ranges::find(own, whole.name, &Parameter::name);
        if (found == own.end()) return;  // it is another stage's
        const auto size = static_cast<std::size_t>(whole.rows * whole.columns);
        std::vector<float> all(values.begin(), values.end());
        std::vector<float> given(values.size(), 1);
        all.resize(size);
        given.resize(size);
        const std::vector<float> taken = share_of(whole, given);
        const std::vector<float> share = share_of(whole, all);
        std::vector<float> now = autograd::read_values(queue(), (*found)->value);
        for (std::size_t i = 0; i < now.size(); ++i) {
          if (taken[i] != 0) now[i] = share[i];
        }
        autograd::write_values(queue(), (*found)->value, now);
      });
}

void StageShare::hold_out(std::vector<std::uint32_t> tokens, std::int64_t sequences) {
  validation_.emplace(device_, *model_, std::move(tokens), sequences,
                      [this](models::LanguageModel& model, Tape& tape) {
                        const Value loss = window_output(model, tape, Output::loss);
                        return has_output() ? autograd::read_values(queue(), tape.tensor(loss))[0]
                                            : 0.0F;
                      });
}

double StageShare::validation_loss() {
  return join_numbers<float, double>(ranks_, validation_->loss(place_.row, plan_.ddp),
                                     [](std::span<const float> all) {
                                       double sum = 0;
                                       for (const float loss : all) sum += double{loss};
                                       return sum;
                                     });
}

}  // namespace

std::unique_ptr<Share> stage_share(Device& device, mesh::Communicator& ranks, const MeshPlan& plan,
                                   const Recipe& recipe, const language::Tokenizer& tokenizer,
                                   mesh::WaitUntil wait_until) {
  require_chunks(plan, recipe.accumulate);
  return std::make_unique<StageShare>(device, ranks, plan, recipe, tokenizer,
                                      std::move(wait_until));
}

}  // namespace howard::training
