// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/attributes.h"
#include "engines/host/kernels/kernel.h"

namespace howard::host {

/// The kernel of any elementwise function of the catalogue but fill, with what follows it in the
/// same program. A result may lie where an operand of its size does. Error as for make_kernel.
Kernel make_block_kernel(const EltwiseAttributes& attributes, const Call& call,
                         const KernelContext& context);

}  // namespace howard::host
