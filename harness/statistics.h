// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <span>

namespace howard::harness {

/// Returns the middle value, or the mean of the two middle ones; absent for no samples. The samples
/// may have any order.
std::optional<double> median(std::span<const double> samples);

/// Returns a 95 % confidence interval of the median that assumes nothing about the distribution. It
/// is bounded by the two order statistics between which the median lies with at least that
/// probability, by the binomial distribution with p = 1/2. The result is absent for fewer than six
/// samples, which cannot give 95 %.
std::optional<std::array<double, 2>> median_interval95(std::span<const double> samples);

}  // namespace howard::harness
