// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

/// Makes the program of one step of SGD that updates `parameter`, and `buffer` if there is a
/// momentum, in place. Throws Error when the shapes differ, or when a buffer is there without a
/// momentum or missing with one.
Program sgd(const Tensor& parameter, const Tensor& gradient, const std::optional<Tensor>& buffer,
            const SgdAttributes& attributes);

}  // namespace howard::ops
