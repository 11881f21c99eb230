// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engines/models/llama.h"

namespace howard::training {

/// Holds the blocks of a Llama that one stage of a pipeline has: one run of them, or with
/// interleaved schedules several chunks. Each chunk is a Llama of these blocks alone.
class StageModel final : public models::LanguageModel {
 public:
  /// `sizes` are those of the whole Llama, and `parts` has the blocks of each part in the order of
  /// the model. The stage has the parts `stage`, `stage` + `stages` and so on. Throws Error as the
  /// Llama does.
  StageModel(Device& device, const models::ModelOptions& sizes, std::span<const int> parts,
             int stage, int stages);

  models::Llama& chunk(int index) { return *chunks_[static_cast<std::size_t>(index)]; }

  std::vector<autograd::Parameter*> parameters() override;
  const ops::Tensor& tokens() const override { return chunks_.front()->tokens(); }
  const ops::Tensor& targets() const override { return chunks_.front()->targets(); }
  DataType compute() const override { return chunks_.front()->compute(); }
  // A stage has neither: calling these is a bug.
  autograd::Value logits(autograd::Tape& tape, const ops::Tensor& tokens) override;
  autograd::Value loss(autograd::Tape& tape, const ops::Tensor& tokens,
                       const ops::Tensor& targets) override;
  std::unique_ptr<models::LanguageModel> of_one_sequence(Device& device) const override;

 private:
  explicit StageModel(std::vector<std::unique_ptr<models::Llama>> chunks)
      : chunks_(std::move(chunks)) {}

  std::vector<std::unique_ptr<models::Llama>> chunks_;
};

}  // namespace howard::training
