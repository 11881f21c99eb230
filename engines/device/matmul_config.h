// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engines/device/attributes.h"

namespace howard {

/// "2D", "1D in0", "1D in1", "reuse", "multi-core".
std::string_view name_of(MatmulKind kind);

/// The configuration as one word, in ttnn's names:
/// "2d:grid=8x7:per_core=20x16:in0_block_w=8:out_block=10x8:out_subblock=2x4". What has its default
/// is left out: an out_block that is all of per_core, transpose_mcast, and fuse_batch where it is
/// on. One for products of a single size has that before it, in elements: "1024x512x2048@2d:...".
std::string text_of(const MatmulConfig& config);

/// Reads such a text; the parts after the kind stand in any order. A sub-block that is left out is
/// the first one of ttnn's list that divides the block and has at most 8 tiles. Error for an
/// unknown kind or part, for a part that is missing, and for sizes that are not from 1 to 65536.
MatmulConfig parse_matmul_config(std::string_view text);

/// The largest sub-block that ttnn's list of preferences has for a block of h x w tiles, of at most
/// `most_tiles`; as (h, w).
std::pair<std::int64_t, std::int64_t> preferred_subblock(std::int64_t h, std::int64_t w,
                                                         std::int64_t most_tiles);

/// ttnn's constructor call for it, a line for each field, `activation` being its fused_activation:
/// "ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(...)".
std::string python_text(const MatmulConfig& config, std::optional<Eltwise> activation = {});

}  // namespace howard
