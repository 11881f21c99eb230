// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "engines/program/tensor_spec.h"

namespace howard {

/// Throws Error, in ttnn's words, unless ttnn runs `op` on `x` and `grid` cores by a configuration
/// of its norms, softmax and attention, as ttnn's logs print it:
/// "SoftmaxShardedMultiCoreProgramConfig(compute_with_storage_grid_size=(x=8;y=7);block_h=...)".
/// The grid must lie in the device's, blocks must be the shards, and sub-blocks divide them.
void require_program_config(std::string_view op, std::string_view config, const TensorSpec& x,
                            CoreGrid grid);

}  // namespace howard
