// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/optimizers/gradient_norm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "engines/autograd/host_values.h"

namespace howard::autograd {
namespace {

using ops::Tensor;

/// This is added to the norm, which may be 0.
constexpr float kEpsilon = 1e-6F;

/// Returns the sum of the squares of all gradients, in float32, or nothing if there are none.
std::optional<Tensor> sum_of_squares(const Calls& calls, std::span<Parameter* const> parameters) {
  std::optional<Tensor> total;
  for (const Parameter* parameter : parameters) {
    if (!parameter->gradient) continue;
    Tensor gradient = *parameter->gradient;
    if (gradient.spec().dtype != DataType::float32) {
      gradient = calls.cast(gradient, DataType::float32);
    }
    const Tensor sum = calls.reduce(Reduction::sum, Dimension::all,
                                    calls.eltwise(Eltwise::square, gradient), true);
    total = total ? calls.add(*total, sum) : sum;
  }
  return total;
}

}  // namespace

float clip_gradient_norm(const Calls& calls, std::span<Parameter* const> parameters, float most) {
  const std::optional<Tensor> squares = sum_of_squares(calls, parameters);
  const float norm = squares ? std::sqrt(read_values(calls.queue(), *squares)[0]) : 0;
  if (!std::isfinite(norm)) {
    throw Error({.attempted = "clip the norm of the gradients",
                 .value = fmt::format("{}", norm),
                 .accepted = "a finite norm",
                 .hint = "a smaller learning rate"});
  }
  const float factor = std::min(most / (norm + kEpsilon), 1.0F);
  for (Parameter* parameter : parameters) {
    if (parameter->gradient) parameter->gradient = calls.multiply(*parameter->gradient, factor);
  }
  return norm;
}

void clip_gradients_on_device(const Calls& calls, std::span<Parameter* const> parameters,
                              float most) {
  const std::optional<Tensor> squares = sum_of_squares(calls, parameters);
  if (!squares) return;
  const Tensor norm = calls.eltwise(Eltwise::sqrt, *squares);
  const Tensor inverse =
      calls.eltwise(Eltwise::reciprocal, calls.eltwise(Eltwise::add, norm, kEpsilon));
  const Tensor factor = calls.eltwise(Eltwise::minimum, calls.multiply(inverse, most), 1.0F);
  for (Parameter* parameter : parameters) {
    if (!parameter->gradient) continue;
    const Tensor& gradient = *parameter->gradient;
    const DataType dtype = gradient.spec().dtype;
    if (dtype == DataType::float32) {
      parameter->gradient = calls.multiply(gradient, factor);
    } else {
      const Tensor wide = calls.cast(gradient, DataType::float32);
      parameter->gradient = calls.cast(calls.multiply(wide, factor), dtype);
    }
  }
}

}  // namespace howard::autograd
