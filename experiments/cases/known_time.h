// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/chip/calibration/bands.h"
#include "harness/presentation.h"
#include "harness/result.h"

namespace howard::experiments {

/// Says of a point of `seconds` how well its time is known: the metric "expected_error", the mean
/// error of measured rows of its kinds that a fit had not seen (0.06 is 6 %), and the detail
/// "known". `kernels` run in that time; the rest belongs to the host where it sets the pace, and to
/// the dispatcher otherwise.
void describe_expected_error(double seconds, const calibration::KnownTime& kernels,
                             bool host_sets_pace, harness::PointResult& point);

/// Returns the column of tables that shows the expected error.
inline harness::Column expected_error_column() {
  return {"expected error", harness::CellSource::metric, "expected_error", harness::Room::spare,
          "how far measured rows of these kinds were off, on average, that the fit had not seen; a "
          "single time may be several times as far off"};
}

}  // namespace howard::experiments
