// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/calibration/bands.h"
#include "harness/presentation.h"
#include "harness/result.h"

namespace howard::experiments {

/// Says of a point of `seconds` how well its time is known: the metric "band" (0.06 is 6 % to
/// either side) and the detail "known". `kernels` run in that time; what they do not fill is of
/// the host where it sets the pace, and of the dispatcher otherwise.
void describe_band(double seconds, const calibration::KnownTime& kernels, bool host_sets_pace,
                   harness::PointResult& point);

/// The column of tables that shows it.
inline harness::Column known_to_column() {
  return {"known to", harness::CellSource::metric, "band", harness::Room::spare,
          "how far the time may well be from the hardware's, from rows a fit has not seen"};
}

}  // namespace howard::experiments
