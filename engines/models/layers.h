// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engines/autograd/layernorm.h"
#include "engines/autograd/linear.h"
#include "engines/autograd/parameter.h"

namespace howard::models {

/// Weight [out, in] and bias [1, out].
struct LinearParameters {
  autograd::Parameter weight;
  autograd::Parameter bias;

  autograd::LinearValues on(autograd::Tape& tape) {
    return {tape.parameter(weight), tape.parameter(bias)};
  }
};

/// Both [1, width].
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

  autograd::Parameter matrix(const std::string& name, std::int64_t rows, std::int64_t columns,
                             Layout layout = Layout::tile) const;
  LinearParameters linear(const std::string& name, std::int64_t out, std::int64_t in) const;
  LayernormParameters layernorm(const std::string& name, std::int64_t width) const;
};

/// Start values for training, as TTML's: weights from a normal distribution of 0.02, gamma 1, the
/// rest 0. The same for the same seed.
void write_random(CommandQueue& queue, std::span<autograd::Parameter* const> parameters,
                  std::uint32_t seed);

/// Error, naming `model`, unless `heads` of them divide `width`.
void require_heads(std::string_view model, int heads, std::int64_t width);

/// 0 up to sequence - 1, `batch` times.
std::vector<std::uint32_t> counted_positions(std::int64_t batch, std::int64_t sequence);
/// [sequence, sequence], row by row: `seen` on and below the diagonal, `hidden` above.
std::vector<float> causal_mask(std::int64_t sequence, float seen, float hidden);

}  // namespace howard::models
