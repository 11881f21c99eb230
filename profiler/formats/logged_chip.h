// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/units.h"

namespace howard::profiler {

/// Returns the chip that a log does not name, by the clock of its cycles (0: not known) and by how
/// many worker cores it has (0: not known), as tt-metal writes it: "wormhole_b0" at 1000 MHz with
/// up to 80 cores, "blackhole" at 1350 MHz or with more. The result is empty when nothing tells.
std::string_view architecture_of(Frequency clock, std::int64_t worker_cores);

/// The columns and the rows of a chip's NoC where Tensix cores are, in rising order, harvested ones
/// among them.
struct TensixPlaces {
  std::span<const int> columns, rows;
};

/// Returns the places of a chip; Wormhole's for one that is not known.
TensixPlaces tensix_places(std::string_view architecture);

/// Returns the clock that a chip is shipped with; Wormhole's for one that is not known.
Frequency usual_clock(std::string_view architecture);

}  // namespace howard::profiler
