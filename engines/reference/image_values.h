// SPDX-License-Identifier: Apache-2.0
/// The results of ops on images, in float64.
#pragma once

#include <vector>

#include "engines/reference/reference_ops.h"

namespace howard::reference {

using ImageInputs = std::vector<const Values*>;

Values image_values(const Conv2dAttributes& op, const Program& program, const ImageInputs& inputs);
Values image_values(const Pool2dAttributes& op, const Program& program, const ImageInputs& inputs);
Values image_values(const UpsampleAttributes& op, const Program& program,
                    const ImageInputs& inputs);
Values image_values(const FoldAttributes& op, const Program& program, const ImageInputs& inputs);
Values image_values(const GroupNormAttributes& op, const Program& program,
                    const ImageInputs& inputs);
Values image_values(const BatchNormAttributes& op, const Program& program,
                    const ImageInputs& inputs);

}  // namespace howard::reference
