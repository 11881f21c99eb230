// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engines/autograd/functions/collective/collectives.h"
#include "engines/autograd/functions/rows/rms_norm.h"
#include "engines/autograd/functions/rows/sharded_loss.h"
#include "engines/autograd/parameter.h"
#include "engines/autograd/tape.h"
#include "engines/models/adapters.h"
#include "engines/models/language_model.h"
#include "engines/models/layers.h"
#include "engines/models/model_options.h"
#include "engines/models/rotary_tensors.h"

namespace howard::models {

/// Returns 8/3 of the width, rounded up to a multiple of 256, which is Llama's rule.
std::int64_t feed_forward_of(std::int64_t width);
/// Returns the width of the feed-forward part, of which the options may say nothing.
std::int64_t feed_forward_of(const ModelOptions& options);

/// Returns the number of values that one share of all blocks trains, without making the model.
std::int64_t parameter_count(const ModelOptions& options);

/// This is added to the mean of the squares.
inline constexpr float kRmsEpsilon = 1e-5F;

/// TTML's Llama. A block has an RMS norm, attention with rotary positions whose keys and values are
/// shared by groups of heads, another RMS norm, and the feed-forward part w2(silu(w1 x) * w3 x),
/// all without biases; dropout follows both halves. After the blocks come a last RMS norm, an
/// output projection and the cross-entropy.
///
/// It holds parameters, inputs and targets on a device. Only the mask and the angles have values at
/// first; write_random() gives the parameters theirs. Parameters have TTML's names, such as
/// "llama/llama_block_0/attention/q_linear/weight".
class Llama final : public LanguageModel {
 public:
  /// Throws Error when a size is below 1, the heads do not divide the width, the groups do not
  /// divide the heads, the width of a head is odd, a size does not divide into equal shares, or
  /// there are no such blocks.
  Llama(Device& device, const ModelOptions& options);
  Llama(const Llama&) = delete;
  Llama& operator=(const Llama&) = delete;

  const ModelOptions& options() const { return options_; }
  std::vector<autograd::Parameter*> parameters() override;
  const ops::Tensor& tokens() const override { return tokens_; }
  const ops::Tensor& targets() const override { return targets_; }
  DataType compute() const override { return options_.compute; }
  autograd::Value logits(autograd::Tape& tape, const ops::Tensor& tokens) override;
  autograd::Value loss(autograd::Tape& tape, const ops::Tensor& tokens,
                       const ops::Tensor& targets) override;
  autograd::Value loss(autograd::Tape& tape) { return loss(tape, tokens_, targets_); }

  // These are the parts of the forward pass; a stage of a pipeline has some of them. Activations
  // are [batch, 1, sequence, width].
  autograd::Value embedded(autograd::Tape& tape, const ops::Tensor& tokens);
  autograd::Value blocks(autograd::Tape& tape, autograd::Value x);
  autograd::Value loss_of(autograd::Tape& tape, autograd::Value x, const ops::Tensor& targets);
  autograd::Value logits_of(autograd::Tape& tape, autograd::Value x);

  std::unique_ptr<LanguageModel> of_one_sequence(Device& device) const override;

 private:
  friend class CachedLlama;  // It reads token after token with the same layers.

  struct Layer {
    autograd::Parameter attention_norm;  ///< [1, width], like the other norms.
    autograd::Parameter query, key_value, output;
    autograd::Parameter feed_forward_norm;
    autograd::Parameter w1, w2, w3;  ///< The gate, down and up projections.

    std::vector<autograd::Parameter*> all() {
      return {&attention_norm, &query, &key_value, &output, &feed_forward_norm, &w1, &w2, &w3};
    }
  };

  /// Writes the mask and the angles.
  void write_constants(CommandQueue& queue);
  /// Returns the parameters that are of no block.
  std::vector<autograd::Parameter*> outer_parameters();
  autograd::Value block(autograd::Tape& tape, autograd::Value x, int index);
  autograd::Value attention(autograd::Tape& tape, autograd::Value x, Layer& layer);
  autograd::Value columns_of(autograd::Tape& tape, autograd::Value x, autograd::Parameter& weight);
  autograd::Value summed_product(autograd::Tape& tape, autograd::Value x,
                                 autograd::Parameter& weight);
  /// Returns the logits that this device has.
  autograd::Value own_logits(autograd::Tape& tape, autograd::Value x);
  autograd::Value feed_forward(autograd::Tape& tape, autograd::Value x, Layer& layer);

  ModelOptions options_;
  std::optional<autograd::Parameter> token_table_;  ///< Present only in a first stage.
  std::vector<Layer> layers_;
  std::optional<autograd::Parameter> last_norm_;  ///< Present only in a last stage.
  std::optional<autograd::Parameter> head_;  ///< Present only in a last stage, unless it is tied.
  std::optional<Adapters> adapters_;         ///< Present once the parameters are made.
  std::optional<autograd::VocabularyShare> vocabulary_share_;
  ops::Tensor mask_;
  RotaryTensors angles_;
  ops::Tensor tokens_, targets_;
};

}  // namespace howard::models
