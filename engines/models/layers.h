// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engines/autograd/functions/matmul/linear.h"
#include "engines/autograd/functions/rows/layernorm.h"
#include "engines/autograd/parameter.h"
#include "engines/models/model_options.h"

namespace howard::models {

/// The weight [out, in] and bias [1, out] of a linear layer.
struct LinearParameters {
  autograd::Parameter weight;
  autograd::Parameter bias;

  autograd::LinearValues on(autograd::Tape& tape) {
    return {tape.parameter(weight), tape.parameter(bias)};
  }
};

/// The parameters of a layernorm, both [1, width].
struct LayernormParameters {
  autograd::Parameter gamma;
  autograd::Parameter beta;

  autograd::LayernormValues on(autograd::Tape& tape) {
    return {tape.parameter(gamma), tape.parameter(beta)};
  }
};

/// Makes parameters of one data type on a device.
struct ParameterMaker {
  Device& device;
  DataType dtype;
  const autograd::DeviceGroup* sharers = nullptr;  ///< If there are, it makes their shares.

  /// Makes the parameters of a model with these options.
  static ParameterMaker of(Device& device, const ModelOptions& options) {
    return {device, options.parameters, options.lazy_parameters ? options.sharers : nullptr};
  }

  autograd::Parameter matrix(const std::string& name, std::int64_t rows, std::int64_t columns,
                             Layout layout = Layout::tile) const;
  LinearParameters linear(const std::string& name, std::int64_t out, std::int64_t in) const;
  LayernormParameters layernorm(const std::string& name, std::int64_t width) const;
};

/// Replaces whole parameters by this device's shares, where the devices of the options divide them.
void divide_parameters(Device& device, const ModelOptions& options,
                       std::span<autograd::Parameter* const> parameters);

/// Begins a part of a model on a tape and gathers its parameters, where devices divide them;
/// close_part() ends it.
void open_part(autograd::Tape& tape, const ModelOptions& options,
               std::span<autograd::Parameter* const> parameters);
autograd::Value close_part(autograd::Tape& tape, const ModelOptions& options,
                           autograd::Value output);

/// Draws start values, parameter by parameter.
class RandomValues {
 public:
  explicit RandomValues(std::uint32_t seed) : random_(seed) {}

  /// Returns the next parameter's values, with TTML's distributions.
  std::vector<float> of(std::string_view parameter, std::int64_t rows, std::int64_t columns);

 private:
  std::mt19937 random_;
  std::normal_distribution<float> normal_{0, 0.02F};
  std::int64_t inputs_ = 1;  ///< The columns of the weight before.
};

/// Writes start values for training, with TTML's distributions: weights from a normal distribution
/// of 0.02, those of norms 1, the first factor of an adapter, all of an mlp and the matrices of a
/// deepseek, but for its token table, uniformly within 1 / sqrt(inputs), the rest 0. The same seed
/// gives the same values.
void write_random(CommandQueue& queue, std::span<autograd::Parameter* const> parameters,
                  std::uint32_t seed);

/// Throws Error, naming `model`, unless `heads` divides `width`.
void require_heads(std::string_view model, int heads, std::int64_t width);

/// Returns the numbers from 0 to sequence - 1, `batch` times.
std::vector<std::uint32_t> counted_positions(std::int64_t batch, std::int64_t sequence);
/// Returns a [sequence, sequence] matrix, row by row: `seen` on and below the diagonal, `hidden`
/// above.
std::vector<float> causal_mask(std::int64_t sequence, float seen, float hidden);

}  // namespace howard::models
