// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/host/kernels/kernel.h"
#include "engines/program/attributes.h"

namespace howard::host {

/// Makes the kernel of any elementwise function of the catalogue but fill, with what follows it in
/// the same program. A result may lie where an operand of its size does. Throws Error as
/// make_kernel does.
Kernel make_block_kernel(const EltwiseAttributes& attributes, const Call& call,
                         const KernelContext& context);

}  // namespace howard::host
