// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engines/device/device.h"
#include "engines/language/text_reader.h"
#include "engines/language/tokens/corpus.h"
#include "engines/mesh/communicator.h"
#include "engines/mesh/sockets.h"
#include "engines/training/checkpoint.h"
#include "engines/training/parallel/mesh_plan.h"
#include "engines/training/recipe.h"
#include "engines/training/step_runner.h"
#include "engines/training/weights/model_weights.h"

namespace howard::training {

/// The loss and the time of one step.
struct MeshStep {
  double loss = 0;  ///< The mean over the batches of all devices, from before the update.
  /// The time from the beginning of the step to the end of the last device's update.
  SimTime time;
};

/// Says how a rank trains and validates.
struct RankOptions {
  mesh::WaitUntil wait_until{};  ///< Of the device, if it is an emulated chip.
  Engine engine = Engine::dynamic;
  std::vector<std::uint32_t> held_out{};  ///< The tokens for validation; none: it is not validated.
  std::int64_t validated = 1;             ///< The number of sequences of a validation.
};

/// One rank of a training run on several devices. All ranks call the same functions in the same
/// order. It saves, restores, takes and hands out the whole model, so a run on any mesh or on one
/// device can continue from its checkpoint.
class RankTrainer {
 public:
  virtual ~RankTrainer() = default;

  /// Makes one update. Throws Error on all ranks when the loss is not finite.
  virtual MeshStep step() = 0;
  /// Returns the run's present state on rank 0, and an empty one on the others. Throws Error when a
  /// number in it is not finite.
  virtual Checkpoint checkpoint() = 0;
  /// Continues from `checkpoint`. Throws Error when it belongs to another model, recipe or text.
  virtual void restore(const Checkpoint& checkpoint) = 0;

  /// Writes what safetensors files of Hugging Face's names have into the parameters; the others
  /// keep their start values. Throws Error as import_weights() does.
  virtual ImportedWeights take_weights(std::span<const language::Safetensors> files) = 0;
  /// Returns the whole model's parameters, in the order of one device, on rank 0, and nothing on
  /// the others.
  virtual std::vector<NamedValues> weights() = 0;
  /// Returns the mean loss of the sequences that are held out. There must be some.
  virtual double validation_loss() = 0;
  /// Makes a reader of the present parameters, with which all ranks read the same texts together.
  /// The trainer must outlive it.
  virtual std::unique_ptr<language::TextReader> reader() = 0;

  virtual std::int64_t steps_done() const = 0;
  virtual float learning_rate() const = 0;  ///< The learning rate of the next step.
  /// Returns the number of values that all ranks train together.
  virtual std::int64_t parameters() const = 0;
};

/// Joins what the ranks say of step `number`: the sum of their losses and the longest time. Throws
/// Error on all ranks when the loss is not finite.
MeshStep join_steps(mesh::Communicator& ranks, const MeshStep& own, std::int64_t number);

/// Makes this rank's part of a run. `device` is a MeshMember with groups_of(plan, rank), or an
/// emulated chip in front of one. `device` and `ranks` must outlive the trainer. Throws Error for a
/// text that is too short, for a plan that does not divide what it shares, and for an engine that
/// cannot do what the recipe asks for.
std::unique_ptr<RankTrainer> make_rank_trainer(Device& device, mesh::Communicator& ranks,
                                               const MeshPlan& plan, const Recipe& recipe,
                                               const language::Corpus& corpus, RankOptions options);

}  // namespace howard::training
