// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

// Between [n, 1, s, heads d], as linear layers see it, and [n, heads, s, d], as attention does.

/// The spec of each of q, k, v. Error when the columns are not 3 heads d.
TensorSpec split_heads_output(const TensorSpec& qkv, int heads);
/// The program of q, k, v = columns of qkv, by heads. Error when the specs do not fit.
Program split_heads(const Tensor& qkv, int heads, const Tensor& q, const Tensor& k,
                    const Tensor& v);

TensorSpec concat_heads_output(const TensorSpec& a);
/// The program of out = the heads of a side by side. Error when out has another spec.
Program concat_heads(const Tensor& a, const Tensor& out);

/// The program of out = `parts` side by side, along the columns. Error when the specs do not fit.
Program concat(std::span<const Tensor> parts, const Tensor& out);

}  // namespace howard::ops
