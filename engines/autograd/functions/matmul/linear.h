// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "engines/autograd/tape.h"

namespace howard::autograd {

/// The weight [out, in] and bias [1, out] of a linear layer, on a tape.
struct LinearValues {
  Value weight;
  Value bias;
};

/// Says over which rows the gradients of a weight and its bias are summed.
enum class WeightGradient {
  rows,  ///< Over all rows of the input.
  /// Sums over the rows of each matrix of a batch, as the report's engine does. Its gradients, and
  /// after its update the weights too, are [batch, out, in], and its biases [rows, out].
  rows_of_each_matrix,
};

/// Computes x @ weight^T + bias as one function: a product that transposes, and an addition.
/// Backward it computes dW, db and dx.
Value linear(Tape& tape, Value x, const LinearValues& layer,
             WeightGradient gradient = WeightGradient::rows);

/// Computes the same with one function for each op, including the transposition of the weight, as
/// the report's dynamic engine records it. x is a matrix.
Value composed_linear(Tape& tape, Value x, const LinearValues& layer);

/// Computes the same as TTML does: the product's program adds the bias. Backward it computes dW, dx
/// and db.
Value fused_linear(Tape& tape, Value x, const LinearValues& layer);

/// Multiplies matrices or batches of them, each transposed or not; a batch of one fits any other.
Value product(Tape& tape, Value a, Value b, bool transpose_a, bool transpose_b);

/// Computes x @ weight^T without bias. Backward it computes dW and dx.
Value project(Tape& tape, Value x, Value weight);

/// Applies three layers to one x with linear(); the outputs are three values in a row. The
/// gradients run through the first layer first and are then added.
Value three_linears(Tape& tape, Value x, const std::array<LinearValues, 3>& layers,
                    WeightGradient gradient);

}  // namespace howard::autograd
