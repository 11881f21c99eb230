// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engines/reference/reference_ops.h"

namespace howard::reference {

/// Computes the blocks of a sparse product whose numbers are not 0; the others are 0.
void sparse_product(const Program& program, const std::vector<const Values*>& inputs,
                    const SparseMatmulAttributes& attributes, std::vector<Values>& outputs);

}  // namespace howard::reference
