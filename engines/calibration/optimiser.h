// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

namespace howard::calibration {

/// A function of numbers between 0 and 1.
using Objective = std::function<double(const std::vector<double>&)>;

/// The point of the least value of `objective` that NLopt finds from `start` in at most
/// `evaluations` evaluations, deterministically: a quadratic model (BOBYQA) first, then
/// a search on subspaces (SBPLX), which minds neither kinks nor bounds. Never worse than `start`.
/// `step`: how far the search looks first.
std::vector<double> minimise_in_unit_box(const Objective& objective, std::vector<double> start,
                                         double step, int evaluations);

}  // namespace howard::calibration
