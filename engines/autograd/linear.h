// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "engines/autograd/tape.h"

namespace howard::autograd {

/// Weight [out, in] and bias [1, out] of a linear layer, on a tape.
struct LinearValues {
  Value weight;
  Value bias;
};

/// Over what the gradients of a weight and its bias are summed.
enum class WeightGradient {
  rows,  ///< All rows of the input.
  /// The rows of each matrix of a batch: what the report's engine does, whose gradients, and with
  /// its update weights too, are [batch, out, in], and its biases [rows, out].
  rows_of_each_matrix,
};

/// x @ weight^T + bias as one function: a product that transposes and an addition; backward dW,
/// db, dx.
Value linear(Tape& tape, Value x, const LinearValues& layer,
             WeightGradient gradient = WeightGradient::rows);

/// The same as one function for each op, the transposition of the weight among them: what the
/// report's dynamic engine records. x is a matrix.
Value composed_linear(Tape& tape, Value x, const LinearValues& layer);

/// The same as TTML does it: the bias added in the product's program; backward dW, dx, db.
Value fused_linear(Tape& tape, Value x, const LinearValues& layer);

/// x @ weight^T without bias; backward dW, dx.
Value project(Tape& tape, Value x, Value weight);

/// linear() of one x by three layers, whose outputs follow each other; the gradients run through
/// the first layer first, and are then added.
Value three_linears(Tape& tape, Value x, const std::array<LinearValues, 3>& layers,
                    WeightGradient gradient);

}  // namespace howard::autograd
