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
#include "engines/models/language_model.h"
#include "engines/ops/tensor.h"
#include "engines/training/parallel/divided_model.h"
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

class StageShare final : public Share {
 public:
  StageShare(Device& device, mesh::Communicator& ranks, const MeshPlan& plan, const Recipe& recipe,
             const language::Tokenizer& tokenizer, mesh::WaitUntil wait_until);

  Device& device() override { return device_; }
  models::LanguageModel& model() override { return *model_; }
  std::int64_t parameters() override { return divided_.parameters(); }
  void write_start_values() override {
    divided_.write_start_values(queue(), model_->parameters(), recipe().seed);
  }
  BatchPart batch_part() const override { return {batch_share(), plan_.batch_shares()}; }
  autograd::StepFunction step_function(std::span<const BatchTensors> data,
                                       const autograd::TapeOptions& tape,
                                       autograd::Optimizer* optimizer) override;
  void begin_step() override;
  StepOutcome end_step(float loss, std::int64_t number) override;
  std::vector<NamedValues> gathered(std::span<const SavedTensor> own) override {
    return divided_.gathered(ranks_, queue(), own);
  }
  language::ParameterShape whole_shape(const SavedTensor& own) const override {
    return divided_.whole_of(own.name);
  }
  void write(const SavedTensor& own, const std::vector<float>& values) override;
  language::ImportedWeights take_weights(std::span<const language::Safetensors> files) override {
    return divided_.take_weights(queue(), model_->parameters(), recipe().model, files);
  }
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
  /// Runs a window with the model of one sequence forward. Returns its loss or its logits, which
  /// only a rank that has_output() may read.
  Value window_output(models::LanguageModel& model, Tape& tape, const BatchTensors& data,
                      Output output);
  /// Says whether this rank is the one that hands out the loss and the logits of its sequences.
  bool has_output() const { return is_last_stage() && place_.column == 0; }
  /// Returns the place of this rank's sequences in a batch.
  int batch_share() const { return place_.row * plan_.fsdp + place_.shard; }

  bool is_first_part(int chunk) const { return chunk == 0 && place_.stage == 0; }
  bool is_last_part(int chunk) const { return chunk + 1 == plan_.chunks && is_last_stage(); }
  bool is_last_stage() const { return place_.stage + 1 == plan_.stages(); }
  /// Returns the socket to the same place of the next stage or the one before, for activations or
  /// for gradients. Between chunks, the first stage follows the last one.
  Operand next(int channel) { return neighbour(1, channel); }
  Operand previous(int channel) { return neighbour(-1, channel); }
  Operand neighbour(int by, int channel);
  std::optional<Validation>& validation() override { return validation_; }

  mesh::Communicator& ranks_;
  mesh::Sockets device_;
  MeshPlan plan_;
  MeshPlace place_;
  autograd::DeviceGroup layer_group_, copy_group_, share_group_;
  DividedModel divided_;
  std::unique_ptr<models::LanguageModel> model_;
  std::optional<Validation> validation_;
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
      layer_group_(device_, 0, plan.tp, place_.column),
      copy_group_(device_, 1, plan.ddp, place_.row),
      share_group_(device_, 2, plan.fsdp, place_.shard),
      divided_(device_, recipe, plan, ranks.rank(),
               rounded_vocabulary(tokenizer.tokens(), plan.tp)) {
  models::ModelOptions local = recipe.model.with(rounded_vocabulary(tokenizer.tokens(), plan.tp),
                                                 &layer_group_, plan.sequence_parallel);
  local.batch /= plan.batch_shares();
  local.sharers = &share_group_;
  local.lazy_parameters = plan.lazy;
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

autograd::StepFunction StageShare::step_function(std::span<const BatchTensors> data,
                                                 const autograd::TapeOptions& tape,
                                                 autograd::Optimizer* optimizer) {
  averaged_.emplace(*optimizer, model_->parameters(), copy_group_, &share_group_);
  autograd::TapeOptions own = tape;
  const int share =
      plan_.sequence_parallel ? batch_share() * plan_.tp + place_.column : batch_share();
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
  const int size = plan_.devices();
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
    calls.run(make_program(ReceiveAttributes{}, {previous(kActivations)}, {activations}));
    received = x = tape.leaf(activations);
  }
  x = part.blocks(tape, x);
  if (is_last_part(chunk)) {
    return output == Output::loss ? part.loss_of(tape, x, data.targets) : part.logits_of(tape, x);
  }
  calls.run(make_program(SendAttributes{}, {tape.tensor(x)}, {next(kActivations)}));
  return x;
}

void StageShare::backward(MicroBatch& micro, int chunk) {
  Tape& tape = micro.tape;
  const autograd::Calls& calls = tape.calls();
  if (is_last_part(chunk)) {
    tape.backward(micro.output, 1 / static_cast<float>(recipe().accumulate));
  } else {
    const ops::Tensor gradient = calls.make(tape.spec(micro.output));
    calls.run(make_program(ReceiveAttributes{}, {next(kGradients)}, {gradient}));
    tape.backward(micro.output, gradient);
  }
  if (micro.received) {
    calls.run(
        make_program(SendAttributes{}, {tape.gradient(*micro.received)}, {previous(kGradients)}));
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

Value StageShare::window_output(models::LanguageModel& model, Tape& tape, const BatchTensors& data,
                                Output output) {
  if (stage_ == nullptr) {
    return output == Output::loss ? models::batch_loss(tape, model, data)
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
  const int last = (plan_.stages() - 1) * plan_.devices();
  return std::make_unique<SharedReader>(
      ranks_, last, [this, model](std::span<const std::uint32_t> text) {
        const std::int64_t place = language::write_window(queue(), *model, text);
        Tape tape(device_, {.calls = {.products = models::kTtmlProducts},
                            .compute = recipe().model.compute,
                            .records = false});
        const Value logits =
            window_output(*model, tape, {model->tokens(), model->targets(), {}}, Output::logits);
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
  return join_steps(
      ranks_,
      {.loss = has_output() ? double{loss / static_cast<float>(plan_.batch_shares())} : 0,
       .time = device_.now() - start_},
      number);
}

void StageShare::write(const SavedTensor& own, const std::vector<float>& values) {
  autograd::write_values(queue(), own.tensor, divided_.share_of(whole_shape(own), values));
}

void StageShare::hold_out(std::vector<std::uint32_t> tokens, std::int64_t sequences) {
  validation_.emplace(device_, *model_, std::move(tokens), sequences, form_of(recipe()),
                      [this](models::LanguageModel& model, Tape& tape, const BatchTensors& data) {
                        const Value loss = window_output(model, tape, data, Output::loss);
                        // Devices that divide parameters run the same windows together.
                        return has_output() && place_.shard == 0
                                   ? autograd::read_values(queue(), tape.tensor(loss))[0]
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
