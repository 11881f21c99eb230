// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/axis.h"

namespace howard::experiments {

/// The report's box: four N300 boards of two chips each, two isolated 2x2 meshes.
///
///   0 - 1     2 - 3     on PCIe
///   |   |     |   |
///   4 - 5     6 - 7     remote: reached through the chip above, on the same board
inline constexpr int kChips = 8;

/// Ids of chips, rising, each once.
using ChipSet = std::vector<int>;

/// "0+4". Error for what is no chip of the box, and for a chip named twice.
ChipSet parse_chips(std::string_view value);

/// Values are sets of chips, as TT_VISIBLE_DEVICES names them but with + between ids: on the
/// command line a comma begins another set.
harness::Axis devices_axis(std::vector<std::string> values, std::vector<std::string> quick_values);

/// Whether the host reaches a chip through another one.
bool is_remote(int chip);
/// The chip on PCIe of a chip's board.
int board_of(int chip);
/// 0 or 1.
int mesh_of(int chip);

/// The chips of `chips` in each mesh, none empty.
std::vector<ChipSet> split_by_mesh(const ChipSet& chips);

/// The links of the shortest line through all of `chips`, of one mesh: one less than chips, but for
/// two across a diagonal.
int line_hops(const ChipSet& chips);

}  // namespace howard::experiments
