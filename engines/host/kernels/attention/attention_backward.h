// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/attributes.h"
#include "engines/host/kernels/kernel.h"

namespace howard::host {

/// Makes the kernel of a program for which is_attention_backward() holds. Throws Error when the
/// operands do not fit.
Kernel make_attention_backward(const AttentionAttributes& attributes, const Call& call,
                               const KernelContext& context);

}  // namespace howard::host
