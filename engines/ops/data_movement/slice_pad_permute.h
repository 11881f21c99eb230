// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

// Each of these functions makes the program that is described, and throws Error when the specs do
// not fit.

/// A number for each of the four dimensions of a shape.
using Sides = std::array<std::int64_t, 4>;

/// Takes the elements of `a` from `begins` on, `steps` apart, as many as `out` has room for.
Program slice(const Tensor& a, const Sides& begins, const Sides& steps, const Tensor& out);
Program slice(const Tensor& a, const Sides& begins, const Tensor& out);

/// Replaces the rows of `cache` from `row` on by those of `a`, in place: ttnn's slice_write. The
/// other three dimensions of both must be equal. A SliceAttributes program with two operands is
/// such a write.
Program write_rows(const Tensor& a, std::int64_t row, const Tensor& cache);
/// Writes from the row that `position`, one uint32 on the device, holds when the program runs, so
/// that a replay writes other rows: ttnn's paged_update_cache.
Program write_rows(const Tensor& a, const Tensor& position, const Tensor& cache);

/// Puts `a` into `out`, with `before` elements of `value` before it and more behind it up to the
/// size of `out`.
Program pad(const Tensor& a, const Sides& before, float value, const Tensor& out);

/// Returns the spec of `a` permuted: dimension i is a's dimension order[i]. Throws Error unless the
/// order names each of the four dimensions once.
TensorSpec permute_output(const TensorSpec& a, const std::array<int, 4>& order);
/// Puts the dimensions of `a` in another order.
Program permute(const Tensor& a, const std::array<int, 4>& order, const Tensor& out);

/// Returns the spec of `parts` side by side along `dimension`, 0 to 3. Throws Error when other
/// sides differ.
TensorSpec concat_output(std::span<const TensorSpec> parts, int dimension);
/// Puts `parts` side by side along `dimension`.
Program concat(std::span<const Tensor> parts, int dimension, const Tensor& out);

}  // namespace howard::ops
