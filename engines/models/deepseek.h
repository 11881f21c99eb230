// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engines/autograd/parameter.h"
#include "engines/autograd/tape.h"
#include "engines/models/experts.h"
#include "engines/models/feed_forward.h"
#include "engines/models/language_model.h"
#include "engines/models/latent_attention.h"
#include "engines/models/model_options.h"
#include "engines/models/rotary_tensors.h"

namespace howard::models {

/// Returns how many parameters of a deepseek a token has no use for: those of experts that it does
/// not choose. Of other models it is 0.
std::int64_t idle_parameters(const ModelOptions& options);

/// TTML's DeepSeek: a model of blocks with latent attention (latent_attention.h) and a feed-forward
/// part, which from some block on is a mixture of experts (experts.h). Its norms are TTML's RMS
/// norms, its head is no other parameter, and there is no dropout.
///
/// It holds parameters, inputs and targets on one device. Only the mask, the angles and the biases
/// have values at first; write_random() gives the parameters theirs. They have TTML's names, such
/// as "DeepSeek/blocks/0/attn/wkv_a/weight".
class DeepSeek final : public LanguageModel {
 public:
  /// Throws Error when a size is below 1, the groups do not divide the experts, a token chooses
  /// more experts than its groups have, the columns that are turned are odd in number, there is a
  /// dropout, adapters or a tied head, or the model is to be a part of itself.
  DeepSeek(Device& device, const ModelOptions& options);
  DeepSeek(const DeepSeek&) = delete;
  DeepSeek& operator=(const DeepSeek&) = delete;

  const ModelOptions& options() const { return options_; }
  std::vector<autograd::Parameter*> parameters() override;
  /// Returns the biases of the experts.
  std::vector<autograd::Parameter*> buffers() override;
  const ops::Tensor& tokens() const override { return tokens_; }
  const ops::Tensor& targets() const override { return targets_; }
  DataType compute() const override { return options_.compute; }
  autograd::Value logits(autograd::Tape& tape, const ops::Tensor& tokens) override;
  autograd::Value loss(autograd::Tape& tape, const ops::Tensor& tokens,
                       const ops::Tensor& targets) override;
  autograd::Value loss(autograd::Tape& tape) { return loss(tape, tokens_, targets_); }
  /// Moves the biases of the experts.
  void after_update(CommandQueue& queue) override;
  std::unique_ptr<LanguageModel> of_one_sequence(Device& device) const override;

 private:
  struct Layer {
    autograd::Parameter attention_norm;  ///< [1, width], like the norm of the feed-forward part.
    LatentAttention attention;
    autograd::Parameter feed_forward_norm;
    std::optional<FeedForward> dense;
    std::optional<Experts> experts;  ///< Present where `dense` is not.
  };

  void write_constants(CommandQueue& queue);
  autograd::Value block(autograd::Tape& tape, autograd::Value x, int index);

  ModelOptions options_;
  autograd::Parameter token_table_;
  std::vector<Layer> layers_;
  autograd::Parameter last_norm_;
  autograd::Parameter head_;
  std::optional<ops::Tensor> mask_;  ///< Absent with fused attention.
  RotaryTensors angles_;
  ops::Tensor tokens_, targets_;
};

}  // namespace howard::models
