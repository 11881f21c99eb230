// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engines/program/tensor_spec.h"

namespace howard::profiler::logged {

class Call;

/// Returns the numbers that a text like "{32; 64}" or "((3;3);(2;2))" begins with: those before the
/// first letter.
std::vector<std::int64_t> leading_numbers(std::string_view text);

/// Returns the layout of the shards of a MEMORY like "DEV_0_L1_WIDTH_SHARDED"; absent for pages.
std::optional<ShardLayout> layout_of(std::string_view memory);

/// Returns the shards of the result, whose other facts are `spec`: those that its memory
/// configuration tells, or as ttnn's users cut such a tensor. Absent where it has none.
std::optional<Sharding> output_shards(const Call& call, const TensorSpec& spec);

/// Returns the shards of an operand. MEMORY names their layout only; the rest follows from the
/// result's shards, which lie on the same cores, from the blocks of the program configuration, or
/// from CORE COUNT. Absent where it has none.
std::optional<Sharding> input_shards(const Call& call, std::size_t i, const TensorSpec& spec);

}  // namespace howard::profiler::logged
