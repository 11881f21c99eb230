// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

namespace howard::calibration {

/// A function of a vector of numbers between 0 and 1.
using Objective = std::function<double(const std::vector<double>&)>;

/// Returns the point with the least value of `objective` that NLopt finds from `start` in at most
/// `evaluations` evaluations, deterministically. It first uses a quadratic model (BOBYQA), then a
/// search on subspaces (SBPLX), which tolerates kinks and bounds. The result is never worse than
/// `start`. `step` is the initial step of the search.
std::vector<double> minimise_in_unit_box(const Objective& objective, std::vector<double> start,
                                         double step, int evaluations);

}  // namespace howard::calibration
