// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

/// Returns the spec of the looked-up rows, in tile layout: indices [..., s] and a table [v, d] give
/// [..., s, d]. Throws Error when the indices are not uint32 row-major with a shape of at most [n,
/// s], or when the table is not row-major.
TensorSpec embedding_output(const TensorSpec& indices, const TensorSpec& table);

/// Makes the program that computes out = the table's rows at `indices`. Throws Error when the specs
/// do not fit. On a device that holds values, running it throws Error for an index outside the
/// table.
Program embedding(const Tensor& indices, const Tensor& table, const Tensor& out);

/// Makes the program that computes dtable [v, d], in tile layout: for each index, the sum of dy's
/// rows at its positions. Throws Error when the specs do not fit.
Program embedding_backward(const Tensor& indices, const Tensor& dy, const Tensor& dtable);

}  // namespace howard::ops
