// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "harness/presentation.h"
#include "harness/result.h"

namespace howard::reports::testing {

/// Returns a point of a sweep of the constants "dram" (GB/s) and "delay" (us).
harness::PointResult swept_point(const std::string& size, double dram, double delay,
                                 double seconds);

/// Returns sizes 64 and 128 with four values of either constant. A time is the longer of size x 10
/// us / dram, which is bound by DRAM, and of size / 64 x 10 delays, which is bound by launches.
harness::ExperimentResult swept_result();

harness::Presentation swept_presentation();

}  // namespace howard::reports::testing
