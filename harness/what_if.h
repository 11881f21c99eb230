// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/result.h"

namespace howard::harness {

/// Describes one change that may make a point faster: "trace", "ETH dispatch".
struct WhatIf {
  std::string what;
  /// Lists axes with the values that they get instead. If there are several candidates, the fastest
  /// counts.
  std::vector<Parameters> candidates;
  /// Says why nothing is tried if there is no candidate: "it is a replay already".
  std::string reason;
  /// How many times the point's work the changed point does in its time: 32 if it writes 32 tokens
  /// in place of one. Gains are of work in a second.
  double work = 1;
};

/// Returns `point` with the axes of `changes` set to their values. Axes that it does not have are
/// added.
Parameters changed(Parameters point, const Parameters& changes);

}  // namespace howard::harness
