// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engines/chip/kernels/matmul/matmul_search.h"
#include "experiments/axes/axes.h"
#include "experiments/laboratory/devbox.h"
#include "harness/axis.h"
#include "harness/what_if.h"

namespace howard::experiments {

/// Returns the axes that describe a product to `tune`: its sizes m, k and n, which have no default,
/// and how it is called and run.
std::vector<harness::Axis> tuning_axes();

/// Returns the products of `axes`, one for each combination of values. Throws Error for an axis
/// that `tune` does not have, for a value that an axis cannot have, and where a size is missing.
std::vector<harness::Parameters> tuned_products(const std::vector<std::string>& axes);

/// Holds a configuration of a product and what it takes.
struct TunedConfig {
  std::string rank;  ///< "default", or "1" for the fastest.
  chip::MatmulPlan plan;
  SimTime time;  ///< All kernels of a call: the product and those beside it.
  SimTime call;  ///< A call and its finish, as matmul_sweep times it.
  chip::Bottleneck bound{};
  Bytes l1;  ///< The circular buffers of each core.
};

/// Holds a place in the picture of time against L1.
struct TuningPlace {
  Bytes l1;
  SimTime time;
};

/// Holds the answer for one product.
struct Tuning {
  harness::Parameters parameters;
  std::uint64_t legal = 0;           ///< Configurations that ttnn accepts and that fit in L1.
  std::vector<TunedConfig> configs;  ///< The default first, then the best ones.
  /// All blockings of the default's share of a core, and of the fastest configuration's.
  std::vector<TuningPlace> default_share, best_share;
  double flops = 0;  ///< The product's operations.
  /// The fastest with B sharded over the banks of the DRAM, and A and the result over cores;
  /// nothing where ttnn has no such kernel.
  std::optional<chip::PricedMatmul> dram_sharded;

  const TunedConfig& own_choice() const { return configs.front(); }
  const TunedConfig& best() const { return configs.at(1); }
  /// Returns how many times as fast as the default a configuration is.
  double gain(const TunedConfig& config) const {
    return own_choice().time.seconds() / config.time.seconds();
  }
};

/// Ranks every legal configuration of a product and keeps the `most` best, at least one. Throws
/// Error when the product cannot run (sizes, memory), or the grid is larger than the chip's.
/// `threads` changes how long it takes and nothing else.
Tuning tune(const DevBox& box, const harness::Parameters& product, std::size_t most, int threads);

/// Returns `config` as the value of an axis config.
std::string config_text(const TunedConfig& config);

/// Tries the fastest configurations in place of ttnn's choice, where they are faster, for a point
/// with axes shape, dtype, dispatch, grid and fidelity. Products keep `fidelity`, which ttnn lowers
/// where a caller gives a configuration.
harness::WhatIf tuned_config(const DevBox& box, const Point& point, MathFidelity fidelity);

}  // namespace howard::experiments
