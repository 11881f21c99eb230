// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engines/autograd/optimizer.h"
#include "engines/autograd/static_step.h"
#include "engines/autograd/traced_step.h"
#include "engines/models/language_model.h"
#include "engines/training/checkpoint.h"
#include "engines/training/optimizers.h"
#include "engines/training/recipe.h"
#include "engines/training/text_batches.h"
#include "engines/training/tokenizer.h"

namespace howard::training {

/// Which of the three engines runs the steps; the losses are the same, to the bit.
enum class Engine : std::uint8_t { dynamic, recorded, traced };

/// Trains the model of a recipe on a text.
class Trainer {
 public:
  /// `device` holds values and must outlive this. Error for a recipe that is not valid, a text that
  /// is too short, and an engine that can not do what the recipe asks for: the traced one reads the
  /// numbers of AdamW and the seeds of dropout from the device, where they are written before each
  /// replay, but repeats the rate of SGD: no schedule. Recorded, clipping computes its factor on
  /// the device, where it may differ in the last bit from that of the host. With `memory`, what the
  /// machine can give, also for a run that needs more.
  Trainer(Device& device, const Recipe& recipe, std::string_view text, Engine engine,
          std::optional<Bytes> memory = std::nullopt);
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// One update; gives the mean loss of its batches, before it.
  ///
  /// Error when the loss is not finite, with the step and the op that wrote the first number that
  /// is not: found by repeating the steps since the last checkpoint() op by op. The trainer is of
  /// no use then.
  float step();
  /// The run as it is now. Error as for step() when a parameter is not finite any more.
  const Checkpoint& checkpoint();
  /// Goes on from there, with losses as if the run had never stopped. Error when the checkpoint is
  /// of another model, recipe or text; nothing has changed then. The number of steps may differ.
  void restore(const Checkpoint& checkpoint);

  std::int64_t steps_done() const { return steps_done_; }
  /// Of the next step.
  float learning_rate() const;
  std::int64_t tokens_per_step() const;
  /// Of the recorded step; zero before it is recorded, and for the dynamic engine, which keeps no
  /// programs.
  Flops flops_per_step() const;
  const Recipe& recipe() const { return recipe_; }
  const Tokenizer& tokenizer() const { return tokenizer_; }
  models::LanguageModel& model() { return *model_; }
  /// The number of values that are trained.
  std::int64_t parameters() const;
  /// The programs of the recorded step; none before it is recorded and of the dynamic engine.
  std::span<const Program> programs() const;

 private:
  struct Data {
    ops::Tensor tokens, targets;
  };

  autograd::StepFunction step_function();
  void write_batches();
  std::uint32_t seeds_used() const;
  void prepare_step();
  float run_step();
  std::vector<SavedTensor> saved() { return saved_tensors(model_->parameters(), *optimizer_); }
  void require_same(const Checkpoint& checkpoint);
  void write(const Checkpoint& checkpoint);
  [[noreturn]] void fail_where_not_finite();

  Device& device_;
  CommandQueue& queue_;
  Recipe recipe_;
  Engine engine_;
  std::uint32_t text_checksum_;
  Tokenizer tokenizer_;
  TextBatches batches_;
  std::unique_ptr<models::LanguageModel> model_;
  std::vector<Data> data_;                  ///< Of each batch of a step.
  std::optional<ops::Tensor> seed_offset_;  ///< Of the traced engine with dropout.
  std::unique_ptr<autograd::Optimizer> optimizer_;
  std::unique_ptr<autograd::Optimizer> clipped_;  ///< Around it; null without clipping.
  autograd::StepFunction function_;               ///< From the step that is done next.
  std::unique_ptr<autograd::StaticStep> static_;
  std::unique_ptr<autograd::TracedStep> traced_;
  std::int64_t steps_done_ = 0;
  Checkpoint last_;
};

}  // namespace howard::training
