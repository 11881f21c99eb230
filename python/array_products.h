// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/arrays/array.h"

namespace howard::python {

/// a @ b as torch.matmul has it, for two dimensions or more, accumulated in float32; large ones by
/// the host engine. Error when the shapes do not fit.
arrays::Array product(const arrays::Array& a, const arrays::Array& b);

}  // namespace howard::python
