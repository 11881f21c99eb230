// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

// These ops convert between [n, 1, s, heads d], which linear layers use, and [n, heads, s, d],
// which attention uses.

/// Returns the spec of each of q, k and v. Throws Error when the columns are not 3 heads d.
TensorSpec split_heads_output(const TensorSpec& qkv, int heads);
/// Makes the program that splits the columns of qkv into q, k and v, by heads. Throws Error when
/// the specs do not fit.
Program split_heads(const Tensor& qkv, int heads, const Tensor& q, const Tensor& k,
                    const Tensor& v);

/// Returns the spec of k and v with groups. Throws Error when the columns of kv are not 2 groups d,
/// with the d of q's heads.
TensorSpec split_groups_output(const TensorSpec& q, const TensorSpec& kv, int heads, int groups);
/// Makes the program that splits the columns of q and kv into query, k and v, by heads and groups.
/// Throws Error when the specs do not fit.
Program split_groups(const Tensor& q, const Tensor& kv, int heads, int groups, const Tensor& query,
                     const Tensor& k, const Tensor& v);

/// Returns [n, heads count, s, d] for [n, heads, s, d].
TensorSpec repeat_heads_output(const TensorSpec& a, int count);
/// Makes the program that repeats each head of a `count` times, one after the other. Throws Error
/// when the count is below 1 or out has another spec.
Program repeat_heads(const Tensor& a, int count, const Tensor& out);

TensorSpec concat_heads_output(const TensorSpec& a);
/// Makes the program that puts the heads of a side by side. Throws Error when out has another spec.
Program concat_heads(const Tensor& a, const Tensor& out);

/// Makes the program that concatenates `parts` along the columns. Throws Error when the specs do
/// not fit.
Program concat(std::span<const Tensor> parts, const Tensor& out);

}  // namespace howard::ops
