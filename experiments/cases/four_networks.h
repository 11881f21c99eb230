// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "engines/chip/emulated_chip.h"
#include "engines/ops/tensor.h"

namespace howard::experiments {

/// Says where four networks run.
enum class CoreParts : std::uint8_t {
  full_grid,    ///< On all cores, one after the other.
  partitioned,  ///< As released: each has a grid of 2x4, and all products use the same 8 cores.
  disjoint,     ///< Each runs on a sub-device of its own, with the fidelity of the full grid.
};

/// Holds the report's four independent MLPs of two layers.
class FourNetworks {
 public:
  static constexpr int kNetworks = 4;
  static constexpr std::int64_t kBatch = 512;
  static constexpr std::int64_t kWidth = 1024;
  /// These are the FLOPs of the products of four forward passes.
  static constexpr double kFlops = 2.0 * kNetworks * 2 * kBatch * kWidth * kWidth;

  /// `chip` must outlive this. The constructor sets its sub-devices.
  FourNetworks(chip::EmulatedChip& chip, CoreParts parts);

  /// Enqueues the 24 calls of four forward passes on queue 0.
  void enqueue();
  TraceId capture();

 private:
  /// Says what a forward pass is told about cores.
  struct Placement {
    std::optional<CoreGrid> core_grid;     ///< The grid of the products, of mask and relu.
    std::optional<MathFidelity> fidelity;  ///< The products'; if absent, ttnn's default.
    int sub_device = 0;
  };
  struct Network {
    explicit Network(Device& device);

    ops::Tensor x;
    std::array<ops::Tensor, 2> weights, biases;
  };
  class ForwardPass;

  void place(CoreParts parts);

  chip::EmulatedChip& chip_;
  std::vector<Placement> placements_;
  std::vector<Network> networks_;
};

}  // namespace howard::experiments
