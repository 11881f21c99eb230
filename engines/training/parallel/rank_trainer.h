// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "engines/device/device.h"
#include "engines/mesh/communicator.h"
#include "engines/training/checkpoint.h"
#include "engines/training/parallel/mesh_plan.h"
#include "engines/training/recipe.h"
#include "engines/training/tokens/corpus.h"

namespace howard::training {

/// The loss and the time of one step.
struct MeshStep {
  double loss = 0;  ///< The mean over the batches of all devices, from before the update.
  /// The time on the devices' clocks. On emulated chips it is the virtual time from the beginning
  /// of the step to the end of the last chip's update.
  SimTime time;
};

/// One rank of a training run on several devices, by the dynamic engine. All ranks call the same
/// functions in the same order. It saves and restores the whole model, so a run on any mesh or on
/// one device can continue from its checkpoint.
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

  virtual std::int64_t steps_done() const = 0;
  virtual float learning_rate() const = 0;  ///< The learning rate of the next step.
  /// Returns the number of values that all ranks train together.
  virtual std::int64_t parameters() const = 0;
};

/// Makes this rank's part of a run. `device` is a MeshMember with groups_of(plan, rank), or an
/// emulated chip in front of one, whose clock stands still while it waits for others
/// (`virtual_clock`). `device` and `ranks` must outlive the trainer. Throws Error for a text that
/// is too short and for a plan that does not divide what it shares.
std::unique_ptr<RankTrainer> make_rank_trainer(Device& device, mesh::Communicator& ranks,
                                               const MeshPlan& plan, const Recipe& recipe,
                                               const Corpus& corpus, bool virtual_clock);

}  // namespace howard::training
