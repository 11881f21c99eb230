// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "experiments/axes/typed_axis.h"

namespace howard::experiments {

/// The report's box has four N300 boards of two chips each, in two isolated 2x2 meshes.
///
///   0 - 1     2 - 3     on PCIe
///   |   |     |   |
///   4 - 5     6 - 7     remote: reached through the chip above, on the same board
inline constexpr int kChips = 8;

/// Holds ids of chips, rising, each once.
using ChipSet = std::vector<int>;

/// The values are sets of chips, as TT_VISIBLE_DEVICES names them but with + between ids, because
/// on the command line a comma begins another set.
extern const TypedAxis<ChipSet> kDevices;

/// Returns whether the host reaches a chip through another one.
bool is_remote(int chip);
/// Returns the chip on PCIe of a chip's board.
int board_of(int chip);
/// Returns 0 or 1.
int mesh_of(int chip);

/// Returns the chips of `chips` in each mesh, none empty.
std::vector<ChipSet> split_by_mesh(const ChipSet& chips);

/// Returns the links of the shortest line through all of `chips`, which lie in one mesh. That is
/// one less than chips, except for two across a diagonal.
int line_hops(const ChipSet& chips);

}  // namespace howard::experiments
