// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engines/chip/kernels/plan/planned_program.h"
#include "engines/chip/profiles/band.h"

namespace howard::calibration {

using chip::Band;
using chip::Known;

/// Returns the bands of a family of chips, in the order of bands.json and bands_blackhole.json.
const std::vector<Band>& built_in_bands(std::string_view architecture = "wormhole_b0");

/// These functions return the band of the kernel of `planned`, of launches between kernels, and of
/// calls by the host. What a card says of a kernel has its own band. Otherwise the rows of the
/// built-in tables decide which band a kernel has: an elementwise function goes by how many rows
/// its constant has, and any other op by whether there is one row of its name, or are several. A
/// kernel without a row is known by analogy.
const Band& band_of(const chip::PlannedProgram& planned,
                    std::string_view architecture = "wormhole_b0");
const Band& dispatch_band(std::string_view architecture);
/// Returns the band of kernels of which no row is.
const Band& analogy_band(std::string_view architecture);
const Band& host_band();

}  // namespace howard::calibration
