// SPDX-License-Identifier: Apache-2.0
#include "engines/training/parallel/stage_model.h"

#include "base/check.h"

namespace howard::training {

using autograd::Tape;
using autograd::Value;
using models::Llama;

StageModel::StageModel(Device& device, const models::ModelOptions& sizes,
                       std::span<const int> parts, int stage, int stages) {
  int first = 0;
  for (int part = 0; part < std::ssize(parts); ++part) {
    const int end = first + parts[static_cast<std::size_t>(part)];
    if (part % stages == stage) {
      models::ModelOptions own = sizes;
      own.first_block = first;
      own.end_block = end;
      chunks_.push_back(std::make_unique<Llama>(device, own));
    }
    first = end;
  }
}

std::vector<autograd::Parameter*> StageModel::parameters() {
  std::vector<autograd::Parameter*> all;
  for (const auto& chunk : chunks_) {
    const std::vector<autograd::Parameter*> own = chunk->parameters();
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

Value StageModel::logits(Tape& tape, const ops::Tensor& tokens) {
  HOWARD_CHECK(false, "a stage of a pipeline has no logits of tokens");
  return chunks_.front()->logits(tape, tokens);
}

Value StageModel::loss(Tape& tape, const ops::Tensor& tokens, const ops::Tensor& targets) {
  HOWARD_CHECK(false, "a stage of a pipeline has no loss of tokens");
  return chunks_.front()->loss(tape, tokens, targets);
}

std::unique_ptr<models::LanguageModel> StageModel::of_one_sequence(Device& device) const {
  std::vector<std::unique_ptr<Llama>> chunks;
  for (const auto& chunk : chunks_) {
    models::ModelOptions options = chunk->options();
    options.batch = 1;
    options.dropout = 0;
    chunks.push_back(std::make_unique<Llama>(device, options));
  }
  return std::unique_ptr<StageModel>(new StageModel(std::move(chunks)));
}

}  // namespace howard::training
