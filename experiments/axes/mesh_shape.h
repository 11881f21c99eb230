// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace howard::experiments {

/// Says how chips share a training: `ddp` groups divide the batch, the `tp` chips of a group divide
/// the layers, and the blocks are divided among `pp` stages that have a mesh of ddp x tp chips
/// each.
struct MeshShape {
  int ddp = 1;
  int tp = 1;
  int pp = 1;

  int chips() const { return ddp * tp * pp; }
};

/// Parses "2x4x1", DDP x TP x PP; numbers left out at the end are 1. Throws Error for anything
/// else, and for more than 1024 chips.
MeshShape parse_mesh(std::string_view value);
std::string mesh_text(const MeshShape& mesh);

}  // namespace howard::experiments
