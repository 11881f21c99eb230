// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engines/autograd/optimizers/averaged_gradients.h"
#include "engines/models/llama.h"
#include "engines/training/optimizers.h"
#include "engines/training/parallel/rank_trainer.h"
#include "engines/training/text_batches.h"
#include "engines/training/validation.h"

namespace howard::training {

/// Trains on one device of a mesh, of a pipeline or of both, which has a share of the batch, of the
/// layers and of the blocks. All ranks draw the same batches and take their own rows of them.
class StageTrainer final : public RankTrainer {
 public:
  /// Throws Error as make_rank_trainer() does.
  StageTrainer(Device& device, mesh::Communicator& ranks, const MeshPlan& plan,
               const Recipe& recipe, const Corpus& corpus, RankOptions options);
  ~StageTrainer() override;

  MeshStep step() override;
  Checkpoint checkpoint() override;
  void restore(const Checkpoint& checkpoint) override;
  ImportedWeights take_weights(std::span<const Safetensors> files) override;
  std::vector<NamedValues> weights() override;
  double validation_loss() override;
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
  /// Holds the loss and the times of this rank's passes.
  struct Clocks {
    float loss = 0;  ///< The loss of this rank's sequences; 0 if another rank counts it.
    SimTime forward, backward, update, whole;
  };

  void make_parameters();
  void set_up_optimizer();
  /// Makes the step that is done next, unless there are stages, whose passes are calls of their
  /// own.
  void make_step();
  void write_batches();
  /// Writes what changes from step to step where a replay reads it.
  void write_numbers();
  /// Returns the seed of the dropouts of a batch, which are counted from the run's first one.
  std::uint32_t seed_of(std::int64_t batch) const;
  /// Runs this rank's part of the model forward. Returns the loss in the last stage.
  Value output_of(Tape& tape, models::LanguageModel& model, const Data& data,
                  std::optional<Value>& received);
  /// Makes the passes of a pipeline's step.
  void run_passes(Clocks& own);
  void forward(int number);
  void backward(int number);
  MeshStep join(const Clocks& own);
  bool is_last_stage() const { return place_.stage + 1 == plan_.stages(); }
  /// Returns the rank at the same place of another stage.
  int neighbour(int by) const { return ranks_.rank() + by * plan_.ddp * plan_.tp; }
  const ParameterShape& whole_of(const std::string& tensor) const;
  std::map<std::string, std::vector<float>> gathered(const std::vector<SavedTensor>& own);
  std::vector<float> share_of(const ParameterShape& whole, std::span<const float> values) const;

  Device& device_;
  CommandQueue& queue_;
  mesh::Communicator& ranks_;
  MeshPlan plan_;
  MeshPlace place_;
  Recipe recipe_;
  RankOptions options_;
  std::uint32_t text_checksum_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  TextBatches batches_;
  std::int64_t vocabulary_;
  autograd::DeviceGroup layer_group_, batch_group_;
  std::vector<ParameterShape> whole_;  ///< The parameters of the whole model.
  std::unique_ptr<models::LanguageModel> model_;
  models::Llama* stage_ = nullptr;  ///< model_, if it has only some of the blocks.
  std::vector<Data> data_;          ///< One for each micro-batch.
  std::unique_ptr<autograd::Optimizer> optimizer_, clipped_;
  std::optional<autograd::AveragedGradients> averaged_;
  std::optional<ops::Tensor> seed_offset_;  ///< Only of the traced engine with dropout.
  std::optional<StepRunner> runner_;        ///< Absent in a pipeline.
  std::optional<Validation> validation_;
  std::map<int, std::unique_ptr<MicroBatch>> alive_;
  float loss_ = 0;
  std::int64_t steps_done_ = 0;
};

}  // namespace howard::training
