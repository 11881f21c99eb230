// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

/// The spec of the looked-up rows, in tile layout (embedding() takes a row-major result as well):
/// indices [..., s] of a table [v, d] give
/// [..., s, d]. Error when the indices are not uint32, [n, s] at the most, or the table
/// is not row-major.
TensorSpec embedding_output(const TensorSpec& indices, const TensorSpec& table);

/// The program of out = the table's rows at `indices`. An index outside the table is an Error when
/// it runs, on a device that holds values. Error when the specs do not fit.
Program embedding(const Tensor& indices, const Tensor& table, const Tensor& out);

/// The program of dtable [v, d], in tile layout = the sum of dy's rows for each index. Error when
/// the specs do not fit.
Program embedding_backward(const Tensor& indices, const Tensor& dy, const Tensor& dtable);

}  // namespace howard::ops
