// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engines/language/tokens/corpus.h"
#include "engines/mesh/communicator.h"
#include "engines/mesh/sockets.h"
#include "engines/training/checkpoint.h"
#include "engines/training/parallel/mesh_plan.h"
#include "engines/training/recipe.h"
#include "engines/training/share.h"
#include "engines/training/step_runner.h"
#include "engines/training/text_batches.h"

namespace howard::training {

/// Says how a recipe is trained.
struct TrainerOptions {
  Engine engine = Engine::dynamic;
  std::vector<std::uint32_t> held_out{};  ///< The tokens for validation; none: it is not validated.
  std::int64_t validated = 1;             ///< The number of sequences of a validation.
};

/// Trains the model of a recipe on a corpus, alone or as one rank of several. All ranks call the
/// same functions in the same order. A trainer saves, restores, takes and hands out the whole
/// model, so a run on any mesh or on one device can continue from the checkpoint of another.
class Trainer {
 public:
  /// Makes a run on one device. `device` must hold values and outlive this object. The model's
  /// vocabulary is that of the corpus' tokenizer. Throws Error for an invalid recipe, a text that
  /// is too short, and an engine that cannot do what the recipe asks for. All engines clip: the
  /// dynamic one reads the norm back, as TTML does, and the others keep it on the device. The
  /// traced engine reads AdamW's numbers and dropout's seeds from the device, where they are
  /// written before each replay, but it repeats the rate of SGD, so that SGD can have no schedule
  /// with it. `memory` is what the machine can give; a run that needs more throws Error too.
  Trainer(Device& device, const Recipe& recipe, const language::Corpus& corpus,
          TrainerOptions options, std::optional<Bytes> memory = std::nullopt);
  /// Makes one rank's part of a run. `device` is a MeshMember with groups_of(plan, rank), or an
  /// emulated chip in front of one, which `wait_until` is for. `device` and `ranks` must outlive
  /// this object. Throws Error, besides, for a plan that does not divide what it shares.
  Trainer(Device& device, mesh::Communicator& ranks, const MeshPlan& plan, const Recipe& recipe,
          const language::Corpus& corpus, TrainerOptions options, mesh::WaitUntil wait_until = {});
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// Makes one update.
  ///
  /// Throws Error, on all ranks, when the loss is not finite. A run on one device names the step
  /// and the op that wrote the first such number: it repeats the steps since the last checkpoint()
  /// op by op. The trainer cannot be used afterwards.
  StepOutcome step();
  /// Returns the run's present state on rank 0, and an empty one on the others. Throws Error, as
  /// step() does, when a number in it is not finite.
  const Checkpoint& checkpoint();
  /// Continues from `checkpoint`, with the same losses as if the run had never stopped. Throws
  /// Error when the checkpoint belongs to another model, recipe or text; nothing is changed then.
  /// The number of steps may differ.
  void restore(const Checkpoint& checkpoint);

  /// Writes what safetensors files of Hugging Face's names have into the parameters; the others
  /// keep their start values. Throws Error as import_weights() does.
  language::ImportedWeights take_weights(std::span<const language::Safetensors> files);
  /// Returns the whole model's parameters, in the order of one device, on rank 0, and nothing on
  /// the others.
  std::vector<NamedValues> weights();
  /// Returns the mean loss of the sequences that are held out. There must be some.
  double validation_loss() { return share_->validation_loss(); }
  /// Makes a reader of the present parameters, with which all ranks read the same texts together.
  /// The trainer must outlive it.
  std::unique_ptr<language::TextReader> reader() { return share_->reader(); }

  std::int64_t steps_done() const { return steps_done_; }
  /// Returns the learning rate of the next step.
  float learning_rate() const { return learning_rate_of(recipe_, steps_done_ + 1); }
  std::int64_t tokens_per_step() const;
  /// Returns the work of the recorded step. It is zero before the step is recorded, and always for
  /// the dynamic engine, which keeps no programs.
  Flops flops_per_step() const;
  const language::Tokenizer& tokenizer() const { return *tokenizer_; }
  models::LanguageModel& model() { return share_->model(); }
  /// Returns the number of values that all ranks train together.
  std::int64_t parameters() const { return share_->parameters(); }
  /// Returns the programs of the recorded step. There are none before it is recorded, nor with the
  /// dynamic engine.
  std::span<const Program> programs() const { return runner_->programs(); }

 private:
  /// `data_seed` orders the samples of the corpus. `make_share` is told the rows of the token
  /// table.
  using MakeShare = std::function<std::unique_ptr<Share>()>;
  Trainer(const Recipe& recipe, const language::Corpus& corpus, TrainerOptions options,
          std::uint32_t data_seed, const MakeShare& make_share);

  std::vector<SavedTensor> saved();
  /// Makes the step that is done next.
  void make_step();
  void write_batches();
  std::uint32_t seeds_used() const;
  void prepare_step();
  /// Writes the values of a checkpoint that fits.
  void write(const Checkpoint& checkpoint);
  [[noreturn]] void fail_where_not_finite();

  Recipe recipe_;
  Engine engine_;
  std::uint32_t text_checksum_;
  std::shared_ptr<const language::Tokenizer> tokenizer_;
  TextBatches batches_;
  std::unique_ptr<Share> share_;
  CommandQueue& queue_;
  std::vector<BatchTensors> data_;          ///< One for each batch of a step.
  std::optional<ops::Tensor> seed_offset_;  ///< Only of the traced engine with dropout.
  /// The optimizer of the recipe, and it with clipping; null on a rank that does not update.
  std::unique_ptr<autograd::Optimizer> plain_, clipped_;
  autograd::Optimizer* optimizer_ = nullptr;  ///< One of the two.
  std::optional<LossReads> loss_reads_;       ///< Only of the dynamic engine.
  std::optional<StepRunner> runner_;          ///< Made for the step that is done next.
  std::int64_t steps_done_ = 0;
  Checkpoint last_;
};

}  // namespace howard::training
