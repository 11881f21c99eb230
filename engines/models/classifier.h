// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engines/models/language_model.h"
#include "engines/models/layers.h"

namespace howard::models {

/// TTML's MLP of its mnist_mlp: linear layers with a ReLU between two of them, and the mean
/// cross-entropy of classes. A picture is its numbers from 0 to 255, of which the model sees
/// x / 255 - 0.5; a class is what a token is to a language model.
class Classifier final : public LanguageModel {
 public:
  /// Makes the layers from `width` over the widths `hidden` to `vocabulary`. Throws Error without
  /// hidden layers, and for widths below 1.
  Classifier(Device& device, const ModelOptions& options);

  std::vector<autograd::Parameter*> parameters() override;
  const ops::Tensor& tokens() const override { return pictures_; }  ///< [batch, 1, 1, width]
  const ops::Tensor& targets() const override { return classes_; }  ///< [batch, 1] uint32
  DataType compute() const override { return options_.compute; }

  /// Returns logits [batch, 1, 1, classes] of pictures.
  autograd::Value logits(autograd::Tape& tape, const ops::Tensor& pictures) override;
  autograd::Value loss(autograd::Tape& tape, const ops::Tensor& pictures,
                       const ops::Tensor& classes) override;
  void write_tokens(CommandQueue& queue, const ops::Tensor& to,
                    std::span<const std::uint32_t> values) const override;
  std::unique_ptr<LanguageModel> of_one_sequence(Device& device) const override;

 private:
  ModelOptions options_;
  ops::Tensor pictures_, classes_;
  std::vector<LinearParameters> layers_;
};

}  // namespace howard::models
