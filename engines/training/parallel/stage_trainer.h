// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engines/autograd/optimizers/averaged_gradients.h"
#include "engines/mesh/sockets.h"
#include "engines/training/optimizers.h"
#include "engines/training/parallel/rank_trainer.h"
#include "engines/training/parallel/stage_model.h"
#include "engines/training/text_batches.h"
#include "engines/training/validation.h"

namespace howard::training {

/// Trains on one device of a mesh, of a pipeline or of both, which has a share of the batch, of the
/// layers and of the blocks. All ranks draw the same batches and take their own rows of them.
class StageTrainer final : public RankTrainer {
 public:
  /// Throws Error as make_rank_trainer() does.
  StageTrainer(Device& device, mesh::Communicator& ranks, const MeshPlan& plan,
               const Recipe& recipe, const language::Corpus& corpus, RankOptions options);
  ~StageTrainer() override;

  MeshStep step() override;
  Checkpoint checkpoint() override;
  void restore(const Checkpoint& checkpoint) override;
  ImportedWeights take_weights(std::span<const language::Safetensors> files) override;
  std::vector<NamedValues> weights() override;
  double validation_loss() override;
  std::unique_ptr<language::TextReader> reader() override;
  std::int64_t steps_done() const override { return steps_done_; }
  float learning_rate() const override;
  std::int64_t parameters() const override;

 private:
  using Tape = autograd::Tape;
  using Value = autograd::Value;

  struct MicroBatch;
  struct Data {
    ops::Tensor tokens, targets;
  };

  void make_parameters();
  void set_up_optimizer();
  /// Makes the step that is done next.
  void make_step();
  void write_batches();
  /// Writes what changes from step to step where a replay reads it.
  void write_numbers();
  /// Returns the seed of the dropouts of a batch, which are counted from the run's first one.
  std::uint32_t seed_of(std::int64_t batch) const;
  /// Returns the options of the tapes of the next step's batch `number`.
  autograd::TapeOptions tape_options(int number) const;

  /// Makes a stage's part of a step on `device`. Returns the loss in the last stage, and 0 in the
  /// others.
  ops::Tensor stage_step(Device& device);
  /// What the last part of the model makes.
  enum class Output : std::uint8_t { loss, logits };
  /// Runs a chunk of this stage forward and sends what it makes to the next part. Returns its
  /// output.
  Value forward(Tape& tape, StageModel& model, int chunk, const Data& data,
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
  const ParameterShape& whole_of(const std::string& tensor) const;
  std::map<std::string, std::vector<float>> gathered(const std::vector<SavedTensor>& own);
  std::vector<float> share_of(const ParameterShape& whole, std::span<const float> values) const;

  mesh::Communicator& ranks_;
  mesh::Sockets device_;
  CommandQueue& queue_;
  MeshPlan plan_;
  MeshPlace place_;
  Recipe recipe_;
  RankOptions options_;
  std::uint32_t text_checksum_;
  std::shared_ptr<const language::Tokenizer> tokenizer_;
  TextBatches batches_;
  std::int64_t vocabulary_;
  autograd::DeviceGroup layer_group_, batch_group_;
  std::vector<ParameterShape> whole_;  ///< The parameters of the whole model.
  std::unique_ptr<models::LanguageModel> model_;
  StageModel* stage_ = nullptr;  ///< model_, if it has only some of the blocks.
  std::vector<Data> data_;       ///< One for each micro-batch.
  std::unique_ptr<autograd::Optimizer> optimizer_, clipped_;
  std::optional<autograd::AveragedGradients> averaged_;
  std::optional<ops::Tensor> seed_offset_;  ///< Only of the traced engine with dropout.
  std::optional<StepRunner> runner_;
  std::optional<Validation> validation_;
  std::int64_t steps_done_ = 0;
};

}  // namespace howard::training
