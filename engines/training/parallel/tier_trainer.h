// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "engines/mesh/sockets.h"
#include "engines/models/language_model.h"
#include "engines/training/optimizers.h"
#include "engines/training/parallel/rank_trainer.h"
#include "engines/training/text_batches.h"
#include "engines/training/validation.h"

namespace howard::training {

/// One rank of TTML's tiers. Ranks 0 to W - 1 are workers, rank W is the aggregator, and the last
/// rank, which is W + 1 in three tiers, is the optimizer's. A worker draws from the recipe's seed
/// plus its rank. After its backward pass it sends each gradient to the aggregator, which adds them
/// in the order of the workers and divides by their number. The optimizer's rank gets the means,
/// updates, and sends the parameters back the same way. Each tensor is a message; tensors go in the
/// order of their names.
class TierTrainer final : public RankTrainer {
 public:
  /// Throws Error as make_rank_trainer() does.
  TierTrainer(Device& device, mesh::Communicator& ranks, const MeshPlan& plan, const Recipe& recipe,
              const language::Corpus& corpus, RankOptions options);
  ~TierTrainer() override;

  MeshStep step() override;
  Checkpoint checkpoint() override;
  void restore(const Checkpoint& checkpoint) override;
  ImportedWeights take_weights(std::span<const language::Safetensors> files) override;
  std::vector<NamedValues> weights() override;
  double validation_loss() override;
  std::unique_ptr<language::TextReader> reader() override;
  std::int64_t steps_done() const override { return steps_done_; }
  float learning_rate() const override { return recipe_.learning_rate; }
  std::int64_t parameters() const override;

 private:
  bool is_worker() const { return ranks_.rank() < plan_.workers; }
  bool is_aggregator() const { return ranks_.rank() == plan_.workers; }
  bool is_optimizer() const { return ranks_.rank() == ranks_.size() - 1; }
  int aggregator() const { return plan_.workers; }

  void set_up_worker();
  /// Makes the step that is done next.
  void make_step();
  void write_batches();
  /// Makes the step of this rank.
  autograd::StepFunction step_function();
  /// Does the aggregator's part: the parameters' gradients become the means.
  void average(const autograd::Calls& calls);
  /// Does the optimizer's part.
  void update(const autograd::Calls& calls);
  /// Brings the parameters from the optimizer's rank to the workers.
  void share_parameters(const autograd::Calls& calls);

  struct Data {
    ops::Tensor tokens, targets;
  };
  class RemoteOptimizer;

  mesh::Communicator& ranks_;
  mesh::Sockets device_;
  CommandQueue& queue_;
  MeshPlan plan_;
  Recipe recipe_;
  RankOptions options_;
  std::uint32_t text_checksum_;
  std::shared_ptr<const language::Tokenizer> tokenizer_;
  TextBatches batches_;  ///< A worker's batches.
  std::unique_ptr<models::LanguageModel> model_;
  std::vector<autograd::Parameter*> sorted_;  ///< The parameters by name.
  /// On the optimizer's rank it updates; on a worker it lets the others do so.
  std::unique_ptr<autograd::Optimizer> optimizer_;
  std::vector<Data> data_;                  ///< One for each batch of a worker's step.
  std::optional<ops::Tensor> seed_offset_;  ///< Only of the traced engine with dropout.
  std::optional<StepRunner> runner_;
  std::optional<Validation> validation_;  ///< Only on rank 0, a worker.
  std::int64_t steps_done_ = 0;
};

}  // namespace howard::training
