// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engines/autograd/averaged_gradients.h"
#include "engines/models/llama.h"
#include "engines/training/optimizers.h"
#include "engines/training/parallel/rank_trainer.h"
#include "engines/training/text_batches.h"

namespace howard::training {

/// Trains on one device of a mesh, of a pipeline or of both, which has a share of the batch, of the
/// layers and of the blocks. All ranks draw the same batches and take their own rows of them.
class StageTrainer final : public RankTrainer {
 public:
  /// Throws Error as make_rank_trainer() does.
  StageTrainer(Device& device, mesh::Communicator& ranks, const MeshPlan& plan,
               const Recipe& recipe, const Corpus& corpus, bool virtual_clock);
  ~StageTrainer() override;

  MeshStep step() override;
  Checkpoint checkpoint() override;
  void restore(const Checkpoint& checkpoint) override;
  std::int64_t steps_done() const override { return steps_done_; }
  float learning_rate() const override;
  std::int64_t parameters() const override;

 private:
  struct MicroBatch;
  struct Data {
    ops::Tensor tokens, targets;
  };
  /// A parameter of the whole model.
  struct WholeParameter {
    std::string name;
    std::int64_t rows = 0, columns = 0;
  };
  /// Holds the loss and the times of this rank's passes.
  struct Clocks {
    float loss = 0;  ///< The loss of this rank's sequences; 0 if another rank counts it.
    SimTime forward, backward, update, whole;
  };

  void make_parameters();
  void write_batches();
  void forward(int number);
  void backward(int number);
  MeshStep join(const Clocks& own);
  bool is_last_stage() const { return place_.stage + 1 == plan_.stages(); }
  /// Returns the rank at the same place of another stage.
  int neighbour(int by) const { return ranks_.rank() + by * plan_.ddp * plan_.tp; }
  const WholeParameter& whole_of(const std::string& tensor) const;
  std::map<std::string, std::vector<float>> gathered();

  Device& device_;
  CommandQueue& queue_;
  mesh::Communicator& ranks_;
  MeshPlan plan_;
  MeshPlace place_;
  Recipe recipe_;
  bool virtual_clock_;
  std::uint32_t text_checksum_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  TextBatches batches_;
  std::int64_t vocabulary_;
  autograd::DeviceGroup layer_group_, batch_group_;
  std::vector<WholeParameter> whole_;
  std::unique_ptr<models::LanguageModel> model_;
  models::Llama* stage_ = nullptr;  ///< model_, if it has only some of the blocks.
  std::vector<Data> data_;          ///< One for each micro-batch.
  std::unique_ptr<autograd::Optimizer> optimizer_, clipped_;
  std::optional<autograd::AveragedGradients> averaged_;
  std::map<int, std::unique_ptr<MicroBatch>> alive_;
  float loss_ = 0;
  std::int64_t steps_done_ = 0;
};

}  // namespace howard::training
