// SPDX-License-Identifier: Apache-2.0
#include "engines/models/rotary_angles.h"

#include <cmath>
#include <numbers>

namespace howard::models {
namespace {

double stretched(double frequency, const RopeScaling& scaling) {
  if (scaling.factor == 0) return frequency;
  const double wave = 2 * std::numbers::pi / frequency;
  const auto length = static_cast<double>(scaling.length);
  const double high = double{scaling.high};
  const double low = double{scaling.low};
  if (wave < length / high) return frequency;
  if (wave > length / low) return frequency / double{scaling.factor};
  const double share = (length / wave - low) / (high - low);
  return (1 - share) * frequency / double{scaling.factor} + share * frequency;
}

}  // namespace

std::vector<double> rotary_frequencies(std::int64_t width, double theta,
                                       const RopeScaling& scaling) {
  std::vector<double> frequencies;
  for (std::int64_t i = 0; i < width / 2; ++i) {
    const double exponent = -2 * static_cast<double>(i) / static_cast<double>(width);
    frequencies.push_back(stretched(std::pow(theta, exponent), scaling));
  }
  return frequencies;
}

RotaryAngles rotary_angles(std::int64_t sequence, std::int64_t width, double theta,
                           const RopeScaling& scaling) {
  const std::vector<double> frequencies = rotary_frequencies(width, theta, scaling);
  RotaryAngles angles;
  for (std::int64_t position = 0; position < sequence; ++position) {
    for (std::int64_t column = 0; column < width; ++column) {
      const double angle =
          static_cast<double>(position) * frequencies[static_cast<std::size_t>(column / 2)];
      angles.cosines.push_back(static_cast<float>(std::cos(angle)));
      angles.sines.push_back(static_cast<float>(std::sin(angle)));
    }
  }
  return angles;
}

}  // namespace howard::models
