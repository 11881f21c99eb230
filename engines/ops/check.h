// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "engines/ops/tensor.h"

namespace howard::ops {

/// "1024x512 bfloat16".
std::string text(const TensorSpec& spec);

/// Error unless `out` can hold the result of `op`.
void require_output(std::string_view op, const Tensor& out, const TensorSpec& expected);

}  // namespace howard::ops
