// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "harness/presentation.h"
#include "harness/result.h"

namespace howard::reports::testing {

/// A point of a sweep of the constants "dram" (GB/s) and "delay" (us).
harness::PointResult swept_point(const std::string& size, double dram, double delay,
                                 double seconds);

/// Sizes 64 and 128, four values of either constant. A time is the longer of size x 10 us / dram,
/// then bound by DRAM, and of size / 64 x 10 delays, then bound by launches.
harness::ExperimentResult swept_result();

harness::Presentation swept_presentation();

}  // namespace howard::reports::testing
