// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engines/autograd/optimizers/optimizer.h"
#include "engines/language/tokens/corpus.h"
#include "engines/models/language_model.h"
#include "engines/training/checkpoint.h"
#include "engines/training/optimizers.h"
#include "engines/training/recipe.h"
#include "engines/training/step_runner.h"
#include "engines/training/text_batches.h"

namespace howard::training {

/// Trains the model of a recipe on a corpus.
class Trainer {
 public:
  /// `device` must hold values and outlive this object. The model's vocabulary is that of the
  /// corpus' tokenizer. Throws Error for an invalid recipe, a text that is too short, and an engine
  /// that cannot do what the recipe asks for. All engines clip: the dynamic one reads the norm
  /// back, as TTML does, and the others keep it on the device. The traced engine reads AdamW's
  /// numbers and dropout's seeds from the device, where they are written before each replay, but it
  /// repeats the rate of SGD, so that SGD can have no schedule with it. `memory` is what the
  /// machine can give; a run that needs more throws Error too.
  Trainer(Device& device, const Recipe& recipe, const language::Corpus& corpus, Engine engine,
          std::optional<Bytes> memory = std::nullopt);
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// Makes one update and returns the mean loss of its batches from before the update.
  ///
  /// Throws Error when the loss is not finite. To name the step and the op that wrote the first
  /// such number, it repeats the steps since the last checkpoint() op by op. The trainer cannot be
  /// used afterwards.
  float step();
  /// Returns the run's present state. Throws Error, as step() does, when a parameter is not finite
  /// any more.
  const Checkpoint& checkpoint();
  /// Sets what checkpoints say about how the device computes products (Checkpoint::product_ways).
  void set_product_ways(std::string ways) { product_ways_ = std::move(ways); }
  /// Continues from `checkpoint`, with the same losses as if the run had never stopped. Throws
  /// Error when the checkpoint belongs to another model, recipe or text; nothing is changed then.
  /// The number of steps may differ.
  void restore(const Checkpoint& checkpoint);

  std::int64_t steps_done() const { return steps_done_; }
  /// Returns the learning rate of the next step.
  float learning_rate() const;
  std::int64_t tokens_per_step() const;
  /// Returns the work of the recorded step. It is zero before the step is recorded, and always for
  /// the dynamic engine, which keeps no programs.
  Flops flops_per_step() const;
  const Recipe& recipe() const { return recipe_; }
  const language::Tokenizer& tokenizer() const { return *tokenizer_; }
  models::LanguageModel& model() { return *model_; }
  /// Returns the number of values that are trained.
  std::int64_t parameters() const;
  /// Returns the programs of the recorded step. There are none before it is recorded, nor with the
  /// dynamic engine.
  std::span<const Program> programs() const { return runner_->programs(); }

 private:
  struct Data {
    ops::Tensor tokens, targets;
  };

  autograd::StepFunction step_function();
  void write_batches();
  std::uint32_t seeds_used() const;
  void prepare_step();
  std::vector<SavedTensor> saved() { return saved_tensors(model_->parameters(), *optimizer_); }
  void require_same(const Checkpoint& checkpoint);
  void write(const Checkpoint& checkpoint);
  [[noreturn]] void fail_where_not_finite();

  Device& device_;
  CommandQueue& queue_;
  Recipe recipe_;
  Engine engine_;
  std::uint32_t text_checksum_;
  std::shared_ptr<const language::Tokenizer> tokenizer_;
  TextBatches batches_;
  std::unique_ptr<models::LanguageModel> model_;
  std::vector<Data> data_;                  ///< One for each batch of a step.
  std::optional<ops::Tensor> seed_offset_;  ///< Only of the traced engine with dropout.
  std::unique_ptr<autograd::Optimizer> optimizer_;
  std::unique_ptr<autograd::Optimizer> clipped_;  ///< Wraps `optimizer_`; null without clipping.
  std::optional<StepRunner> runner_;              ///< Made for the step that is done next.
  std::int64_t steps_done_ = 0;
  std::string product_ways_;
  Checkpoint last_;
};

}  // namespace howard::training
