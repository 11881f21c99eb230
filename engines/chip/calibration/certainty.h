// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engines/chip/calibration/fit.h"

namespace howard::calibration {

enum class Identified : std::uint8_t {
  well,      ///< Known to a quarter of its value.
  weakly,    ///< Known, but less well.
  at_least,  ///< The fit would go below its lower bound.
  at_most,   ///< The fit would go above its upper bound.
  flat,      ///< Other constants make up for any change of it.
  unseen     ///< No row depends on it.
};

/// Says how well a fit knows one of its constants.
struct Certainty {
  Identified identified = Identified::unseen;
  std::vector<std::size_t> tables;  ///< The tables that depend on the constant.
  /// Two standard errors as a share of the value. Absent when the constant is at a bound, flat or
  /// unseen.
  std::optional<double> uncertainty;
};

/// Moves the constant by a tenth of its value to either side, refits all others in `evaluations`
/// evaluations each, and derives the standard error from how little the objective rises. Refitting
/// the others reveals a constant that they can replace; keeping them fixed would not.
///
/// `values` is the minimum of `fit` over all rows.
Certainty certainty_of(const Fit& fit, std::size_t constant, std::span<const double> values,
                       int evaluations);

}  // namespace howard::calibration
