// SPDX-License-Identifier: Apache-2.0
#include "engines/host/kernels/matmul/way_choice.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace howard::host {
namespace {

constexpr int kFewestRuns = 3;
constexpr int kMostRuns = 6;

/// A way that is this much slower than the best one in its first runs is not run again.
constexpr double kHopeless = 1.15;
constexpr int kFirstRuns = 2;
/// A way must gain this on the fixed one to replace it. It must gain more if it cuts C into larger
/// blocks, which the programs after the product do not find in a cache.
constexpr double kGain = 0.97;
constexpr double kGainOfLargeBlocks = 0.93;
/// Two times of one way agree if they differ by this at most, which is the least gain that counts.
constexpr double kAgreement = 1.03;

struct Candidate {
  ProductWay way;
  double best = std::numeric_limits<double>::infinity();
  double second = best;
  bool runs = true;

  void add(double time) {
    second = std::min(second, std::max(best, time));
    best = std::min(best, time);
  }
  bool agrees() const { return !runs || second <= kAgreement * best; }
};

}  // namespace

std::optional<ProductWay> choose_way(std::span<const ProductWay> ways, const ProductWay& fixed,
                                     const std::function<double(std::size_t)>& seconds) {
  std::vector<Candidate> candidates;
  for (const ProductWay& way : ways) candidates.push_back({way});
  const auto cost = [&](const Candidate& one) {
    if (one.way == fixed) return one.best;
    return one.best / (one.way.cut == fixed.cut ? kGain : kGainOfLargeBlocks);
  };
  for (int run = 1; run <= kMostRuns; ++run) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (candidates[i].runs) candidates[i].add(seconds(i));
    }
    if (run == kFirstRuns) {
      const double best = std::ranges::min_element(candidates, {}, &Candidate::best)->best;
      for (Candidate& one : candidates) {
        one.runs = one.way == fixed || one.best < kHopeless * best;
      }
    }
    if (run >= kFewestRuns && std::ranges::all_of(candidates, &Candidate::agrees)) {
      return std::ranges::min_element(candidates, {}, cost)->way;
    }
  }
  return std::nullopt;
}

}  // namespace howard::host
