// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/sim_time.h"
#include "base/units.h"
#include "engines/training/recipe.h"
#include "engines/wormhole/profiles/profile.h"
#include "profiler/memory.h"

namespace howard::cli {

/// Describes a training run on a mesh of emulated chips, as it is to be planned. Each of `ddp`
/// groups has a share of the batch, and the `tp` chips of a group a share of the weights each.
struct RunSetting {
  training::Recipe recipe;  ///< Its batch is that of all chips together.
  std::int64_t vocabulary = 0;
  std::int64_t ddp = 1;
  int tp = 1;

  std::int64_t chips() const { return ddp * tp; }
};

/// Holds what the emulator says about a run, for one chip of the mesh.
struct RunPlan {
  RunSetting setting;
  std::int64_t parameters = 0;  ///< The whole model's.
  SimTime step;                 ///< An update, its collectives included.
  SimTime sums;                 ///< The part of it that sums gradients over groups.
  /// The part in which a group sums activations and their gradients, and gathers logits.
  SimTime exchanges;
  SimTime kernels;  ///< The part of it in which a kernel computes.
  /// The parts of `kernels` by the name of the op that launched them.
  std::map<std::string, SimTime> kernels_by_op;
  std::size_t launches = 0;
  Bytes peak;             ///< The most DRAM in use.
  Bytes capacity;         ///< A chip's DRAM without the trace region.
  Bytes trace;            ///< The trace region's need, if the step were captured.
  double peak_flops = 0;  ///< A chip's FLOP/s at HiFi4.
  std::optional<profiler::MemoryUse> memory;  ///< Present where it was asked for.
  /// The reason why the step cannot run, whatever the DRAM: a kernel's circular buffers; empty when
  /// it can.
  std::string clash;

  bool fits() const { return clash.empty() && peak <= capacity; }
  std::int64_t tokens() const;  ///< The tokens of an update of all chips.
  double tokens_per_second() const;
  /// Returns the operations of forward and backward pass: 6 P + 12 L H hd S for a token, without
  /// what is computed twice.
  double flops() const;
  /// Returns the share of all chips' peak that is reached.
  double share_of_peak() const;
};

/// Runs the set-up and two updates on an emulated chip whose DRAM has no end, with the engine of
/// TTML: dynamic. Each batch of an update after the second counts as the second.
RunPlan plan_run(const RunSetting& setting, const wormhole::Profiles& profiles,
                 bool with_memory = false);

}  // namespace howard::cli
