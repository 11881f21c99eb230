// SPDX-License-Identifier: Apache-2.0
//
// Training on several devices gives the numbers of one device.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.h"
#include "engines/autograd/host_values.h"
#include "engines/autograd/optimizers/averaged_gradients.h"
#include "engines/autograd/optimizers/sgd.h"
#include "engines/autograd/steps/step_recorder.h"
#include "engines/autograd/steps/training_step.h"
#include "engines/chip/emulated_chip.h"
#include "engines/host/host_device.h"
#include "engines/mesh/mesh_member.h"
#include "engines/mesh/thread_ranks.h"
#include "engines/models/llama.h"
#include "engines/models/nano_gpt.h"
#include "engines/models/shards.h"
#include "tests/error_of.h"

namespace howard::mesh {
namespace {

using autograd::DeviceGroup;
using autograd::Parameter;
using autograd::Tape;
using models::LanguageModel;

struct Mesh {
  int ddp = 1;
  int tp = 1;
};

constexpr std::int64_t kBatch = 4;
constexpr std::int64_t kSequence = 32;
constexpr std::int64_t kVocabulary = 256;

models::ModelOptions llama_of(DataType dtype, std::int64_t batch, const DeviceGroup* group) {
  return {.batch = batch,
          .sequence = kSequence,
          .width = 128,
          .heads = 4,
          .groups = 4,
          .layers = 2,
          .feed_forward = 256,
          .vocabulary = kVocabulary,
          .parameters = dtype,
          .compute = dtype,
          .group = group};
}

using MakeModel = std::function<std::unique_ptr<LanguageModel>(
    Device&, DataType, std::int64_t batch, const DeviceGroup*)>;

std::unique_ptr<LanguageModel> llama(Device& device, DataType dtype, std::int64_t batch,
                                     const DeviceGroup* group) {
  return std::make_unique<models::Llama>(device, llama_of(dtype, batch, group));
}

std::unique_ptr<LanguageModel> sharded_llama(Device& device, DataType dtype, std::int64_t batch,
                                             const DeviceGroup* group) {
  models::ModelOptions options = llama_of(dtype, batch, group);
  options.sharded_loss = true;
  options.memory_efficient = true;
  return std::make_unique<models::Llama>(device, options);
}

std::unique_ptr<LanguageModel> nano_gpt(Device& device, DataType dtype, std::int64_t batch,
                                        const DeviceGroup* group) {
  return std::make_unique<models::NanoGpt>(device, models::ModelOptions{.batch = batch,
                                                                        .sequence = kSequence,
                                                                        .width = 128,
                                                                        .heads = 4,
                                                                        .layers = 2,
                                                                        .vocabulary = kVocabulary,
                                                                        .dropout = 0,
                                                                        .parameters = dtype,
                                                                        .compute = dtype,
                                                                        .group = group});
}

/// Keeps the gradients that it is given, and makes a step of SGD.
class KeepsGradients final : public autograd::Optimizer {
 public:
  explicit KeepsGradients(std::vector<Parameter*> parameters)
      : parameters_(parameters), sgd_(std::move(parameters), 0.1F) {}

  void step(const autograd::Calls& calls) override {
    kept.clear();
    for (const Parameter* parameter : parameters_) {
      ASSERT_TRUE(parameter->gradient) << parameter->name;
      kept[parameter->name] = autograd::read_values(calls.queue(), *parameter->gradient);
    }
    sgd_.step(calls);
  }

  std::map<std::string, std::vector<float>> kept;

 private:
  std::vector<Parameter*> parameters_;
  autograd::Sgd sgd_;
};

struct Trained {
  std::vector<float> losses;
  std::map<std::string, std::vector<float>> gradients;  ///< Of the last step, whole.
};

/// The rows of a batch that one of `ddp` groups has.
std::vector<std::uint32_t> rows_of(int group, int ddp, std::uint32_t shift) {
  const std::int64_t count = kBatch / ddp * kSequence;
  std::vector<std::uint32_t> rows;
  for (std::int64_t i = group * count; i < (group + 1) * count; ++i) {
    const auto place = static_cast<std::uint32_t>(i) + shift;
    rows.push_back((place * place + 3 * place) % 101);
  }
  return rows;
}

Trained train(const Mesh& mesh, const MakeModel& make, DataType dtype = DataType::float32) {
  Trained result;
  std::mutex mutex;
  run_as_threads(mesh.ddp * mesh.tp, [&](Communicator& world) {
    const int row = world.rank() / mesh.tp;
    const int column = world.rank() % mesh.tp;
    std::vector<int> in_row, in_column;
    for (int i = 0; i < mesh.tp; ++i) in_row.push_back(row * mesh.tp + i);
    for (int i = 0; i < mesh.ddp; ++i) in_column.push_back(i * mesh.tp + column);
    host::HostDevice host({.threads = 1});
    MeshMember device(host, world, {in_row, in_column});
    const DeviceGroup tensor(device, 0, mesh.tp, column);
    const DeviceGroup data(device, 1, mesh.ddp, row);
    const auto model = make(device, dtype, kBatch / mesh.ddp, &tensor);
    autograd::StepRecorder recorder(device);
    const auto whole = make(recorder, dtype, kBatch, nullptr);
    CommandQueue& queue = device.command_queue(0);
    models::RandomValues random(7);
    const std::vector<Parameter*> own = model->parameters();
    for (const Parameter* parameter : whole->parameters()) {
      const Shape& shape = parameter->value.spec().shape;
      const std::vector<float> values = random.of(parameter->name, shape.rows(), shape.columns());
      const auto found = std::ranges::find(own, parameter->name, &Parameter::name);
      autograd::write_values(queue, (*found)->value,
                             models::share_of(values, shape.rows(), shape.columns(),
                                              models::split_of(parameter->name), mesh.tp, column));
    }
    autograd::write_indices(queue, model->tokens(), rows_of(row, mesh.ddp, 0));
    autograd::write_indices(queue, model->targets(), rows_of(row, mesh.ddp, 1));
    KeepsGradients optimizer(model->parameters());
    autograd::AveragedGradients averaged(optimizer, model->parameters(), data);
    const autograd::StepFunction step = autograd::training_step(
        [&](Tape& tape, int) { return model->loss(tape, model->tokens(), model->targets()); },
        averaged, {.tape = {.compute = dtype}});
    for (std::size_t i = 0; i < 3; ++i) {
      const float loss = autograd::read_values(queue, step(device))[0];
      const std::lock_guard lock(mutex);
      result.losses.resize(3);
      result.losses[i] += loss / static_cast<float>(mesh.ddp * mesh.tp);
    }
    const std::lock_guard lock(mutex);
    for (const Parameter* parameter : whole->parameters()) {
      const Shape& shape = parameter->value.spec().shape;
      std::vector<float>& joined = result.gradients[parameter->name];
      joined.resize(static_cast<std::size_t>(shape.elements()));
      models::join_share(optimizer.kept.at(parameter->name), shape.rows(), shape.columns(),
                         models::split_of(parameter->name), mesh.tp, column, joined);
    }
  });
  return result;
}

/// The largest distance of a gradient from what it should be, as a share of the latter's norm.
double distance(const Trained& one, const Trained& other) {
  double largest = 0;
  EXPECT_EQ(one.gradients.size(), other.gradients.size());
  for (const auto& [name, values] : one.gradients) {
    const std::vector<float>& theirs = other.gradients.at(name);
    double difference = 0, norm = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      difference += std::pow(double{values[i]} - double{theirs[i]}, 2);
      norm += std::pow(double{values[i]}, 2);
    }
    EXPECT_GT(norm, 0) << name;
    largest = std::max(largest, std::sqrt(difference / norm));
  }
  return largest;
}

TEST(SeveralDevices, GradientsAndLossesAreThoseOfOneDeviceInFloat32) {
  const std::pair<const char*, MakeModel> kinds[] = {
      {"llama", &llama},
      {"llama, sharded loss, blocks twice", &sharded_llama},
      {"gpt2", &nano_gpt}};
  for (const auto& [kind, make] : kinds) {
    const Trained alone = train({}, make);
    EXPECT_LT(alone.losses[2], alone.losses[0]);
    for (const Mesh mesh : {Mesh{.ddp = 2}, {.tp = 2}, {.tp = 4}, {.ddp = 2, .tp = 2}}) {
      const Trained shared = train(mesh, make);
      const std::string where = fmt::format("{}, DDP {} x TP {}", kind, mesh.ddp, mesh.tp);
      EXPECT_LT(distance(alone, shared), 1e-5) << where;
      for (std::size_t i = 0; i < alone.losses.size(); ++i) {
        EXPECT_NEAR(shared.losses[i] / alone.losses[i], 1, 1e-5) << where << ", step " << i;
      }
    }
  }
}

TEST(SeveralDevices, Bfloat16StaysWithinItsRounding) {
  const Trained alone = train({}, &llama, DataType::bfloat16);
  for (const Mesh mesh : {Mesh{.ddp = 2}, {.tp = 2}}) {
    const Trained shared = train(mesh, &llama, DataType::bfloat16);
    // A bfloat16 has 8 bits: sums over other parts round otherwise.
    EXPECT_LT(distance(alone, shared), 0.05);
    EXPECT_NEAR(shared.losses[2] / alone.losses[2], 1, 0.005);
  }
}

/// How often a step of a model on one of two tensor-parallel devices runs each collective, by its
/// name and the columns of the whole tensor.
std::map<std::string, int> collectives_of(models::ModelOptions options) {
  chip::EmulatedChip chip(chip::load_profiles());
  const DeviceGroup group(chip, 0, 2, 0);
  options.group = &group;
  models::Llama model(chip, options);
  KeepsGradients optimizer({});
  const autograd::StepFunction step =
      autograd::training_step([&](Tape& tape, int) { return model.loss(tape); }, optimizer,
                              {.tape = {.compute = options.compute}});
  autograd::StepRecorder recorder(chip);
  static_cast<void>(step(recorder));
  std::map<std::string, int> counts;
  for (const Program& program : recorder.programs()) {
    if (!is_collective(program.attributes)) continue;
    const bool gathers = std::holds_alternative<AllGatherAttributes>(program.attributes);
    const TensorSpec& whole = gathers ? program.outputs[0].spec : program.inputs[0].spec;
    ++counts[fmt::format("{} {}", program.name, whole.shape.columns())];
  }
  for (Parameter* parameter : model.parameters()) parameter->gradient.reset();
  return counts;
}

TEST(SeveralDevices, ALlamaBlockExchangesWhatTtmlExchanges) {
  models::ModelOptions options = llama_of(DataType::bfloat16, 2, nullptr);
  options.layers = 1;
  using Counts = std::map<std::string, int>;
  // Forward 2 sums for a block, backward 4, and one for what goes into the head, whose logits are
  // gathered; each sum is a reduce_scatter and an all_gather.
  EXPECT_EQ(collectives_of(options),
            (Counts{{"all_gather 128", 7}, {"all_gather 256", 1}, {"reduce_scatter 128", 7}}));
  options.layers = 3;
  EXPECT_EQ(collectives_of(options),
            (Counts{{"all_gather 128", 19}, {"all_gather 256", 1}, {"reduce_scatter 128", 19}}));
  options.layers = 1;
  options.memory_efficient = true;  // the forward pass's two once more
  EXPECT_EQ(collectives_of(options),
            (Counts{{"all_gather 128", 9}, {"all_gather 256", 1}, {"reduce_scatter 128", 9}}));
}

TEST(SeveralDevices, WhatADeviceCanNotHaveAShareOfIsRefused) {
  chip::EmulatedChip chip(chip::load_profiles());
  const DeviceGroup group(chip, 0, 3, 0);
  models::ModelOptions options = llama_of(DataType::bfloat16, 1, &group);
  const std::string message = error_of([&] { const models::Llama model(chip, options); });
  EXPECT_NE(message.find("4 heads among 3"), std::string::npos) << message;
  EXPECT_THROW(models::NanoGpt(chip, {.heads = 6, .vocabulary = 128, .group = &group}), Error)
      << "128 tokens among 3";
}

}  // namespace
}  // namespace howard::mesh
