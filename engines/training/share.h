// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/sim_time.h"
#include "engines/autograd/optimizers/optimizer.h"
#include "engines/autograd/steps/training_step.h"
#include "engines/language/text_reader.h"
#include "engines/language/weights/model_weights.h"
#include "engines/models/batch.h"
#include "engines/training/checkpoint.h"
#include "engines/training/optimizers.h"
#include "engines/training/recipe.h"
#include "engines/training/step_runner.h"
#include "engines/training/validation.h"

namespace howard::training {

using models::BatchTensors;

/// The part of each batch that a rank has: one of `count` equal ones.
struct BatchPart {
  int number = 0, count = 1;

  template <class Number>
  std::span<const Number> of(const std::vector<Number>& batch) const {
    const std::size_t own = batch.size() / static_cast<std::size_t>(count);
    return std::span(batch).subspan(static_cast<std::size_t>(number) * own, own);
  }
};

/// The loss and the time of one step.
struct StepOutcome {
  double loss = 0;  ///< The mean over the batches of all devices, from before the update.
  /// The time from the beginning of the step to the end of the last device's update.
  SimTime time;
};

/// What one rank of a training run has of it: the whole run (whole_share), a part of the batch, the
/// layers and the blocks (stage_share), or a role in TTML's tiers (tier_share). It knows how the
/// ranks bring their parts together. All ranks call the same functions in the same order.
class Share {
 public:
  virtual ~Share() = default;

  /// Returns the device on which everything of this share lies.
  virtual Device& device() = 0;
  virtual models::LanguageModel& model() = 0;
  /// Returns the number of values that all ranks train together.
  virtual std::int64_t parameters();
  /// Says whether this rank draws batches.
  virtual bool has_batches() const { return true; }
  /// Says whether this rank has the run's optimizer.
  virtual bool updates() const { return true; }
  /// Says whether this rank is the whole run, so that it can repeat steps alone.
  virtual bool is_whole() const { return false; }

  virtual void write_start_values() = 0;
  /// Is called on all ranks after something but a step has written the parameters of those that
  /// update.
  virtual void spread_parameters() {}

  virtual BatchPart batch_part() const { return {}; }
  /// Has the losses of batches given to `reads`, which must outlive this, by steps made after it.
  void read_losses(LossReads& reads) { loss_reads_ = &reads; }
  /// Makes this rank's part of a step of the batches in `data`. `tape` is that of one device's
  /// first batch, and `optimizer` is null on a rank that does not update. Both must outlive the
  /// function.
  virtual autograd::StepFunction step_function(std::span<const BatchTensors> data,
                                               const autograd::TapeOptions& tape,
                                               autograd::Optimizer* optimizer);
  virtual void begin_step() = 0;
  /// Joins what the ranks say of a step. `number` counts it, and `loss` is what this rank's part
  /// has returned. Throws Error on all ranks of several when the loss is not finite.
  virtual StepOutcome end_step(float loss, std::int64_t number) = 0;

  /// Returns the tensors of the whole run on rank 0, in the order of one device, and nothing on the
  /// others. `own` has this rank's.
  virtual std::vector<NamedValues> gathered(std::span<const SavedTensor> own);
  /// Returns the shape that a tensor of this rank has in the whole run.
  virtual language::ParameterShape whole_shape(const SavedTensor& own) const;
  /// Writes this rank's part of the whole tensor's values.
  virtual void write(const SavedTensor& own, const std::vector<float>& values);
  /// Writes what files of Hugging Face have. Throws Error as import_weights() does.
  virtual language::ImportedWeights take_weights(std::span<const language::Safetensors> files);

  /// Holds tokens out for validation.
  virtual void hold_out(std::vector<std::uint32_t> tokens, std::int64_t sequences);
  /// Returns the mean loss of what is held out, on all ranks.
  virtual double validation_loss() { return double{validation()->loss()}; }
  /// Makes a reader with which all ranks read the same texts together. This must outlive it.
  virtual std::unique_ptr<language::TextReader> reader();

 protected:
  explicit Share(const Recipe& recipe) : recipe_(recipe) {}

  const Recipe& recipe() const { return recipe_; }
  CommandQueue& queue() { return device().command_queue(0); }
  /// Returns the member of a share that holds its validation. Nothing that lies on a device is a
  /// member of this class: a share that owns its device has it destroyed before its base, and so
  /// declares what lies on it behind it.
  virtual std::optional<Validation>& validation() = 0;

 private:
  Recipe recipe_;
  LossReads* loss_reads_ = nullptr;
};

/// Makes the share of a run on one device. `vocabulary` is the number of rows of the token table.
std::unique_ptr<Share> whole_share(Device& device, const Recipe& recipe, std::int64_t vocabulary);

}  // namespace howard::training
