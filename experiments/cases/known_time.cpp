// SPDX-License-Identifier: Apache-2.0
#include "experiments/cases/known_time.h"

#include <algorithm>
#include <cmath>

namespace howard::experiments {

void describe_expected_error(double seconds, const calibration::KnownTime& kernels,
                             bool host_sets_pace, harness::PointResult& point) {
  const SimTime whole = SimTime::picoseconds(std::llround(seconds * 1e12));
  calibration::KnownTime known;
  if (host_sets_pace) {
    // Kernels hide behind the host's calls.
    known.add(whole, calibration::host_band());
  } else {
    known = kernels;
    if (whole > kernels.time())
      known.add(whole - kernels.time(), calibration::dispatch_band(kernels.architecture()));
  }
  if (known.time() == SimTime()) return;
  point.metrics.push_back({.name = "expected_error", .value = known.band(), .unit = "1"});
  point.details.emplace_back("known", known.text());
}

}  // namespace howard::experiments
