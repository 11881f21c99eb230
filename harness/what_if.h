// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/result.h"

namespace howard::harness {

/// One way to change how a point runs that may make it faster: "trace", "ETH dispatch".
struct WhatIf {
  std::string what;
  /// Axes and the values they get instead; of several, the fastest counts.
  std::vector<Parameters> candidates;
  /// Why nothing is tried, where there is no candidate: "it is a replay already".
  std::string reason;
};

/// `point` with the axes of `changes` at their values; axes that it does not have are added.
Parameters changed(Parameters point, const Parameters& changes);

}  // namespace howard::harness
