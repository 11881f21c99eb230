// SPDX-License-Identifier: Apache-2.0
#include "harness/change_points.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "harness/statistics.h"

namespace howard::harness {
namespace {

struct Split {
  std::size_t at = 0;
  double distance = -1;  ///< Below 0 if there is no split.
};

/// Returns the best split of `values` into two parts of at least `shortest` values each.
///
/// The energy distance is nm / (n + m) (2 E|X - Y| - E|X - X'| - E|Y - Y'|). Its three sums change
/// by one row of distances when the split moves by one value, so all splits take n^2 steps.
Split best_split(std::span<const double> values, std::size_t shortest) {
  const std::size_t count = values.size();
  double within_left = 0, within_right = 0, between = 0;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = i + 1; j < count; ++j) within_right += std::abs(values[i] - values[j]);
  }
  Split best;
  for (std::size_t at = 1; at + shortest <= count; ++at) {
    const double moved = values[at - 1];  // goes from the right to the left part
    double to_left = 0, to_right = 0;
    for (std::size_t i = 0; i + 1 < at; ++i) to_left += std::abs(values[i] - moved);
    for (std::size_t i = at; i < count; ++i) to_right += std::abs(values[i] - moved);
    within_left += to_left;
    within_right -= to_right;
    between += to_right - to_left;
    if (at < shortest) continue;
    const auto n = static_cast<double>(at);
    const auto m = static_cast<double>(count - at);
    const double energy = 2 * between / (n * m) - 2 * within_left / (n * std::max(1.0, n - 1)) -
                          2 * within_right / (m * std::max(1.0, m - 1));
    const double distance = n * m / (n + m) * energy;
    if (distance > best.distance) best = {at, distance};
  }
  return best;
}

/// Returns whether random orders of the values seldom have so good a split.
bool is_rare(std::span<const double> values, const Split& split, const ChangePointOptions& options,
             std::mt19937_64& random) {
  std::vector<double> shuffled(values.begin(), values.end());
  const auto allowed =
      options.alpha * static_cast<double>(options.permutations + 1) - 1;  // as good or better
  double as_good = 0;
  for (std::size_t i = 0; i < options.permutations; ++i) {
    // std::shuffle may differ between libraries.
    for (std::size_t j = shuffled.size() - 1; j > 0; --j) {
      std::swap(shuffled[j], shuffled[random() % (j + 1)]);
    }
    if (best_split(shuffled, options.shortest).distance >= split.distance && ++as_good > allowed) {
      return false;
    }
  }
  return true;
}

void find_changes(std::span<const double> values, std::size_t offset,
                  const ChangePointOptions& options, std::mt19937_64& random,
                  std::vector<std::size_t>& found) {
  if (values.size() < 2 * options.shortest) return;
  const Split split = best_split(values, options.shortest);
  if (split.distance <= 0 || !is_rare(values, split, options, random)) return;
  find_changes(values.first(split.at), offset, options, random, found);
  found.push_back(offset + split.at);
  find_changes(values.subspan(split.at), offset + split.at, options, random, found);
}

}  // namespace

std::vector<std::size_t> change_points(std::span<const double> series,
                                       const ChangePointOptions& options) {
  std::vector<std::size_t> found;
  std::mt19937_64 random(options.seed);
  find_changes(series, 0, options, random, found);
  // What moves the median too little is left out, the smallest first, until all others are larger.
  while (!found.empty()) {
    std::size_t weakest = 0;
    double least = options.smallest;
    bool is_small = false;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::size_t begin = i == 0 ? 0 : found[i - 1];
      const std::size_t end = i + 1 == found.size() ? series.size() : found[i + 1];
      const double before = *median(series.subspan(begin, found[i] - begin));
      const double after = *median(series.subspan(found[i], end - found[i]));
      const double change = std::abs(after - before) / std::max(std::abs(before), 1e-300);
      if (change >= least) continue;
      weakest = i;
      least = change;
      is_small = true;
    }
    if (!is_small) break;
    found.erase(found.begin() + static_cast<std::ptrdiff_t>(weakest));
  }
  return found;
}

std::vector<std::size_t> exact_changes(std::span<const double> series) {
  std::vector<std::size_t> found;
  for (std::size_t i = 1; i < series.size(); ++i) {
    if (series[i] != series[i - 1]) found.push_back(i);
  }
  return found;
}

}  // namespace howard::harness
