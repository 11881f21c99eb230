// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "engines/ops/tensor.h"

namespace howard::ops {

/// Returns "1024x512 bfloat16" or "256x384 bfloat16 row-major".
std::string text(const TensorSpec& spec);
/// Returns "1024x512 bfloat16 and 1x512 bfloat16".
std::string text(std::initializer_list<TensorSpec> specs);

/// Throws Error saying that `op` cannot take operands of these `specs`. `accepted` says what it
/// takes.
[[noreturn]] void refuse(std::string_view op, std::initializer_list<TensorSpec> specs,
                         std::string_view accepted);

/// Returns whether `spec` holds numbers that can be computed with.
bool is_real(const TensorSpec& spec);

/// Throws Error unless `out` can hold the result of `op`.
void require_output(std::string_view op, const Tensor& out, const TensorSpec& expected);

/// Throws Error unless `position` is one uint32.
void require_position(std::string_view op, const Tensor& position);

}  // namespace howard::ops
