// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

// Each function gives the program, and is an Error when the specs do not fit.

/// A number for each of the four dimensions of a shape.
using Sides = std::array<std::int64_t, 4>;

/// out = the elements of a from `begins` on, as many as out has room for, `steps` apart.
Program slice(const Tensor& a, const Sides& begins, const Sides& steps, const Tensor& out);
Program slice(const Tensor& a, const Sides& begins, const Tensor& out);

/// Rows `row` and on of `cache` become those of `a`, in place: ttnn's slice_write. The other three
/// dimensions of both are equal. A slice with two operands is one that is written.
Program write_rows(const Tensor& a, std::int64_t row, const Tensor& cache);
/// The same from the row that `position`, one uint32 on the device, names when the program runs, so
/// that a replay writes other rows: ttnn's paged_update_cache.
Program write_rows(const Tensor& a, const Tensor& position, const Tensor& cache);

/// out = a with `before` elements of `value` before it, and the rest of out behind it.
Program pad(const Tensor& a, const Sides& before, float value, const Tensor& out);

/// The shape of a permuted: dimension i is a's dimension order[i]. Error unless the order names
/// each of the four dimensions once.
TensorSpec permute_output(const TensorSpec& a, const std::array<int, 4>& order);
/// out = a with its dimensions in another order.
Program permute(const Tensor& a, const std::array<int, 4>& order, const Tensor& out);

/// The spec of `parts` side by side along `dimension`, 0 to 3. Error when other sides differ.
TensorSpec concat_output(std::span<const TensorSpec> parts, int dimension);
/// out = `parts` side by side along `dimension`.
Program concat(std::span<const Tensor> parts, int dimension, const Tensor& out);

}  // namespace howard::ops
