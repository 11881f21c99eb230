// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engines/chip/emulated_chip.h"
#include "engines/host/host_device.h"
#include "engines/mesh/mesh_member.h"
#include "engines/mesh/thread_ranks.h"
#include "engines/training/trainer.h"

/// Runs of a small model on devices that are threads.
namespace howard::training::mesh_runs {

inline std::string text_of_roses() {
  // More than 32 tokens: two devices round as many up to the same as one.
  std::string text = "ABCDEFGHIJKLMNOP. ";
  for (int i = 0; i < 40; ++i) text += fmt::format("Rose {} is red, violet {} is blue. ", i, 7 * i);
  return text;
}

inline Recipe small_llama() {
  Recipe recipe;
  recipe.model.kind = ModelKind::llama;
  recipe.model.batch = 4;
  recipe.model.sequence = 32;
  recipe.model.width = 64;
  recipe.model.heads = 2;
  recipe.model.groups = 2;
  recipe.model.layers = 4;
  recipe.model.feed_forward = 128;
  recipe.model.dropout = 0;
  recipe.model.compute = DataType::float32;
  recipe.optimizer.kind = OptimizerKind::sgd;
  recipe.optimizer.learning_rate = 0.5F;
  recipe.accumulate = 3;
  recipe.schedule.steps = 100;
  return recipe;
}

struct Outcome {
  std::vector<double> losses;
  std::vector<SimTime> times;
  Checkpoint end;
  mesh::SentMessages sent;   ///< Of all ranks, from the first step to the last.
  mesh::SentMessages start;  ///< Of all ranks before that.
};

inline mesh::WaitUntil wait_until(chip::EmulatedChip* chip) {
  if (chip == nullptr) return {};
  return [chip](SimTime then, Bytes) {
    if (then > chip->now()) chip->pass_host_time(then - chip->now(), "wait");
  };
}

inline Outcome run(const MeshPlan& plan, const Recipe& recipe, int steps,
                   const Checkpoint* from = nullptr, bool emulated = false,
                   Engine engine = Engine::dynamic) {
  Outcome outcome;
  std::mutex mutex;
  mesh::run_as_threads(plan.ranks(), [&](mesh::Communicator& ranks) {
    host::HostDevice host({.threads = 1});
    mesh::MeshMember member(host, ranks, groups_of(plan, ranks.rank()));
    std::unique_ptr<chip::EmulatedChip> chip;
    if (emulated) {
      chip = std::make_unique<chip::EmulatedChip>(chip::load_profiles(),
                                                  chip::DeviceOptions{.values = &member});
    }
    Device& device = chip ? static_cast<Device&>(*chip) : member;
    Trainer trainer(device, ranks, plan, recipe, language::Corpus(text_of_roses()),
                    {.engine = engine}, wait_until(chip.get()));
    if (from != nullptr) trainer.restore(*from);
    const mesh::SentMessages before = ranks.sent();
    for (int i = 0; i < steps; ++i) {
      const StepOutcome step = trainer.step();
      if (ranks.rank() != 0) continue;
      outcome.losses.push_back(step.loss);
      outcome.times.push_back(step.time);
    }
    {
      const std::lock_guard lock(mutex);
      outcome.start.count += before.count;
      outcome.start.bytes += before.bytes;
      outcome.sent.count += ranks.sent().count - before.count;
      outcome.sent.bytes += ranks.sent().bytes - before.bytes;
    }
    if (plan.workers > 0) return;
    const Checkpoint end = trainer.checkpoint();
    if (ranks.rank() == 0) outcome.end = end;
  });
  return outcome;
}

/// The largest distance of a saved tensor from what it should be, as a share of the latter's norm.
inline double distance_of(const Checkpoint& one, const Checkpoint& other) {
  double largest = 0;
  EXPECT_EQ(one.tensors.size(), other.tensors.size());
  for (std::size_t t = 0; t < one.tensors.size(); ++t) {
    EXPECT_EQ(one.tensors[t].name, other.tensors[t].name);
    double difference = 0, norm = 0;
    for (std::size_t i = 0; i < one.tensors[t].values.size(); ++i) {
      const double a = one.tensors[t].values[i];
      difference += std::pow(a - double{other.tensors[t].values[i]}, 2);
      norm += a * a;
    }
    largest = std::max(largest, std::sqrt(difference / norm));
  }
  return largest;
}

}  // namespace howard::training::mesh_runs
