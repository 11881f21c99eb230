// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "harness/result.h"

namespace howard::tracking {

/// Returns which direction of a metric is better, as its unit says or, where that says nothing, its
/// name: rates ("MB/s", "GFLOPS", "Throughput", "frames_per_second") and shares of success
/// ("speedup", "hit_rate") are better if they are higher, all others if they are lower. A name that
/// says what is unwanted ("miss_rate", "error_rate") counts as lower.
harness::Better better_direction(std::string_view name, std::string_view unit);

/// Returns the seconds of a unit of time, also of one repetition ("ms", "ns/op"); absent for
/// others.
std::optional<double> seconds_of_unit(std::string_view unit);

}  // namespace howard::tracking
