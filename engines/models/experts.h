// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "engines/autograd/parameter.h"
#include "engines/autograd/tape.h"
#include "engines/device/device.h"
#include "engines/models/feed_forward.h"
#include "engines/models/layers.h"
#include "engines/models/model_options.h"

namespace howard::models {

/// How far a bias moves at an update: the coefficient of TTML's update_expert_bias.
inline constexpr double kBiasStep = 1e-3;

/// The mixture of experts of a block of a deepseek. As in TTML, every expert computes every token,
/// and its result is multiplied by the token's share of it, which is 0 for most. One more expert is
/// for all tokens. A bias of each expert moves the choice and not the shares: it makes experts less
/// likely that more tokens than the mean have chosen since the last update, and the others more.
class Experts {
 public:
  Experts(const ParameterMaker& make, const std::string& name, const ModelOptions& options);

  std::vector<autograd::Parameter*> all();
  /// The biases [1, experts], float32. They are 0 at first.
  autograd::Parameter& bias() { return bias_; }

  /// Returns what the experts make of x [n, 1, s, width]. A tape that records counts the tokens of
  /// each expert.
  autograd::Value run(autograd::Tape& tape, autograd::Value x, const ModelOptions& options);

  /// Moves the biases on the host by what has been counted, so that their mean stays 0, and begins
  /// to count again.
  void move_bias(CommandQueue& queue);

 private:
  ops::Tensor chosen(const autograd::Calls& calls, const ops::Tensor& scores,
                     const DeepSeekOptions& options) const;
  void count(const autograd::Calls& calls, const ops::Tensor& mask) const;

  autograd::Parameter gate_;
  std::vector<FeedForward> experts_;
  FeedForward shared_;
  autograd::Parameter bias_;
  ops::Tensor counts_;  ///< [1, experts] float32: the tokens that have chosen each.
};

}  // namespace howard::models
