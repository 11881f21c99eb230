// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engines/chip/kernels/plan/planned_program.h"

namespace howard::calibration {

/// Says what a kind of time rests on.
enum class Known : std::uint8_t {
  calibrated,    ///< Several measured rows of the same kind.
  interpolated,  ///< Rows of a few sizes, or of a neighbouring kind.
  one_kernel,    ///< One row: where a constant comes from it, agreement with it proves nothing.
  by_analogy     ///< No row: another kernel's constants.
};
/// Returns "calibrated", "interpolated", "one kernel" or "by analogy".
std::string_view name_of(Known known);

/// Says how far emulated times of one kind were from the hardware's on average, for rows that the
/// fit had not seen. It is no bound: a single time may be several times as far off.
struct Band {
  std::string name;  ///< "product", "dispatch", ...
  Known known{};
  double share = 0;    ///< The mean of |emulated / measured - 1|: 0.06 is 6 %.
  std::string source;  ///< The rows behind it.
  std::string_view architecture = "wormhole_b0";  ///< The family of chips that it is of.
};

/// Returns the bands of a family of chips, in the order of bands.json and bands_blackhole.json.
const std::vector<Band>& built_in_bands(std::string_view architecture = "wormhole_b0");

/// These functions return the band of the kernel of `planned`, of launches between kernels, and of
/// calls by the host. The rows of the built-in tables decide which band a kernel has: an
/// elementwise function goes by how many rows its constant has, and any other op by whether there
/// is one row of its name, or are several. A kernel without a row is known by analogy.
const Band& band_of(const chip::PlannedProgram& planned,
                    std::string_view architecture = "wormhole_b0");
const Band& dispatch_band(std::string_view architecture);
/// Returns the band of kernels of which no row is.
const Band& analogy_band(std::string_view architecture);
const Band& host_band();

}  // namespace howard::calibration
