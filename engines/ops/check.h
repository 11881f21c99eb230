// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "engines/ops/tensor.h"

namespace howard::ops {

/// "1024x512 bfloat16", "256x384 bfloat16 row-major".
std::string text(const TensorSpec& spec);
/// "1024x512 bfloat16 and 1x512 bfloat16".
std::string text(std::initializer_list<TensorSpec> specs);

/// Error: `op` cannot take operands of these `specs`; `accepted` says what it takes.
[[noreturn]] void refuse(std::string_view op, std::initializer_list<TensorSpec> specs,
                         std::string_view accepted);

/// Whether it holds numbers that can be computed with.
bool is_real(const TensorSpec& spec);

/// Error unless `out` can hold the result of `op`.
void require_output(std::string_view op, const Tensor& out, const TensorSpec& expected);

}  // namespace howard::ops
