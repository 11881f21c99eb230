// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

// One device sends what another one receives (engines/device/transfer.h). `peer` is the handle of
// the other device on this one: one uint32, row-major.

/// Makes the program that sends a tensor. Throws Error when `peer` is no handle.
Program send(const Tensor& tensor, const Operand& peer);
/// Makes the program that receives a tensor. Throws Error as send() does.
Program receive(const Operand& peer, const Tensor& tensor);

}  // namespace howard::ops
