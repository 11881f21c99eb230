// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engines/reference/reference_ops.h"

namespace howard::reference {

/// Computes the gradients of gate and up, the outputs, from gate, up and dy, the inputs, where
/// y = silu(gate) up element by element.
void swiglu_slopes(const std::vector<const Values*>& inputs, std::vector<Values>& outputs);

}  // namespace howard::reference
