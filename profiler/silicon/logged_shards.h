// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engines/program/matmul_config.h"
#include "engines/program/tensor_spec.h"
#include "profiler/silicon/op_attributes.h"

namespace howard::profiler::logged {

/// Returns the program configuration of a product, by its class and its fields as ttnn prints them:
/// "MatmulMultiCoreReuseMultiCast1DProgramConfig(compute_with_storage_grid_size=(x=8;y=4);...)".
/// Absent where the call has none. Throws Error for a class that the emulator does not have.
std::optional<MatmulConfig> matmul_config(const OpAttributes& attributes);

/// Returns the fused_activation of the configuration as ttnn prints it; "" for none.
std::string_view config_activation(const OpAttributes& attributes);

/// Returns how a result is cut, by the shard_spec of its memory configuration; absent where the
/// attributes have none.
std::optional<Sharding> told_shards(const OpAttributes& attributes, ShardLayout layout);

/// Says what is known of an operand's shards beside its MEMORY, which only names the layout.
struct ShardRules {
  std::int64_t cores = 64;       ///< That they lie on, at the most.
  std::int64_t rows = 0;         ///< Tiles of a shard's height; 0: not known.
  std::int64_t columns = 0;      ///< Tiles of its width; 0: not known.
  std::int64_t column_step = 1;  ///< Its width is a multiple of these tiles.
  std::int64_t banks = 12;       ///< Of the DRAM.
};

/// Returns how ttnn's users cut a tensor so: on as many cores as have full shards.
Sharding usual_shards(const TensorSpec& spec, ShardLayout layout, const ShardRules& rules);

}  // namespace howard::profiler::logged
