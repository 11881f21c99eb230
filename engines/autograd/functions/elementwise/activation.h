// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/autograd/tape.h"

namespace howard::autograd {

/// Computes max(x, 0) and makes the mask already in the forward pass, as the report's static engine
/// does.
Value masked_relu(Tape& tape, Value x);

/// Computes the exact gelu. Its backward pass is ttnn's composite, or TTML's single program when
/// `fused`.
Value gelu(Tape& tape, Value x, bool fused);

/// Computes x sigmoid(x). Its backward pass is TTML's one program, or six calls when `composed`.
Value silu(Tape& tape, Value x, bool composed = false);

/// Computes the exponential function.
Value exp(Tape& tape, Value x);

/// Brings x between two limits; it has the gradient where it is between them already.
Value clip(Tape& tape, Value x, float low, float high);

/// Computes 1 / (1 + exp(-x)). Its backward pass is made of three calls.
Value sigmoid(Tape& tape, Value x);

/// Computes silu(gate) up in one program, and both gradients in another, as TTML of 2026.
Value gated(Tape& tape, Value gate, Value up);

/// Computes x / (1 - probability), or 0 with that probability, from the tape's next seed. Returns x
/// itself, at no cost, when the probability is 0.
Value dropout(Tape& tape, Value x, float probability);

}  // namespace howard::autograd
