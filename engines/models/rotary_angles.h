// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace howard::models {

/// Says how Llama 3 stretches the angles of slow frequencies for sequences that are longer than
/// those that the frequencies were made for. A wave length is that of a frequency in tokens.
struct RopeScaling {
  float factor = 0;  ///< The longest waves are stretched by this; 0 means none.
  float high = 4;    ///< Waves shorter than length / high stay as they are,
  float low = 1;     ///< those longer than length / low are stretched, and those between partly.
  std::int64_t length = 0;

  friend bool operator==(const RopeScaling&, const RopeScaling&) = default;
};

/// Returns the width / 2 angles by which one token rotates columns 2i and 2i + 1 of a head of
/// `width` columns: theta^(-2i / width), stretched.
std::vector<double> rotary_frequencies(std::int64_t width, double theta,
                                       const RopeScaling& scaling);

/// Holds the cosines and the sines of the angles at positions 0 to sequence - 1, [sequence, width]
/// row by row, each for both columns of its pair.
struct RotaryAngles {
  std::vector<float> cosines, sines;
};
RotaryAngles rotary_angles(std::int64_t sequence, std::int64_t width, double theta,
                           const RopeScaling& scaling);

}  // namespace howard::models
