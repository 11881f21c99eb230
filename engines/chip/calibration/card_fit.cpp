// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/calibration/card_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/error.h"
#include "engines/chip/calibration/error_summary.h"

namespace howard::calibration {
namespace {

using chip::CardKernel;
using chip::CardKind;

using KernelList = std::vector<const CardKernel*>;

std::map<std::string, KernelList> by_kind(std::span<const CardKernel> kernels) {
  std::map<std::string, KernelList> kinds;
  for (const CardKernel& kernel : kernels) kinds[kernel.kind].push_back(&kernel);
  for (auto& [kind, calls] : kinds) std::ranges::sort(calls, {}, &CardKernel::words);
  return kinds;
}

/// Returns the ratio of what was measured to what the emulator says.
double ratio_of(const CardKernel& kernel) {
  return kernel.time.seconds() / kernel.built_in.seconds();
}

/// Returns the error of the emulator's time times `factor`.
double error_of(const CardKernel& kernel, double factor) {
  return std::abs(factor / ratio_of(kernel) - 1);
}

/// The logarithms of what calls of one kind say, with one call that is as the emulator says.
struct Said {
  double sum = 0;
  double count = 1;

  explicit Said(const KernelList& calls) : count(1 + static_cast<double>(calls.size())) {
    for (const CardKernel* const call : calls) sum += std::log(ratio_of(*call));
  }
  double factor() const { return std::exp(sum / count); }
  double factor_without(const CardKernel& call) const {
    return std::exp((sum - std::log(ratio_of(call))) / (count - 1));
  }
};

/// Returns what the calls of one kind say of others; absent if the emulator is as near.
std::optional<CardKind> learnt(const std::string& kind, const KernelList& calls) {
  constexpr std::size_t kLeastCalls = 3;
  constexpr double kLeastGain = 0.9;
  if (calls.size() < kLeastCalls) return std::nullopt;
  const Said said(calls);
  std::vector<double> before, after;
  for (const CardKernel* const call : calls) {
    before.push_back(error_of(*call, 1));
    after.push_back(error_of(*call, said.factor_without(*call)));
  }
  const double built_in_error = summarise(std::move(before)).mean;
  const double error = summarise(std::move(after)).mean;
  if (error > kLeastGain * built_in_error) return std::nullopt;
  return CardKind{.kind = kind,
                  .factor = std::llround(said.factor() * static_cast<double>(CardKind::kOne)),
                  .calls = static_cast<std::int64_t>(calls.size()),
                  .built_in_error = built_in_error,
                  .error = error};
}

/// What calls of the same shapes take in sum.
struct Ratio {
  SimTime time, built_in;
};
std::map<std::string, Ratio> by_shapes(const KernelList& calls) {
  std::map<std::string, Ratio> ratios;
  for (const CardKernel* const call : calls) {
    Ratio& ratio = ratios[shapes_of(call->words)];
    ratio.time += call->time;
    ratio.built_in += call->built_in;
  }
  return ratios;
}

}  // namespace

std::vector<CardKind> kinds_of(std::span<const CardKernel> kernels) {
  std::vector<CardKind> kinds;
  for (const auto& [kind, calls] : by_kind(kernels)) {
    if (auto said = learnt(kind, calls)) kinds.push_back(std::move(*said));
  }
  return kinds;
}

std::vector<UnseenKind> unseen(std::span<const CardKernel> kernels) {
  constexpr std::size_t kThirds = 3;
  std::vector<UnseenKind> result;
  for (const auto& [kind, calls] : by_kind(kernels)) {
    UnseenKind& unseen = result.emplace_back(UnseenKind{.kind = kind, .built_in = {}, .error = {}});
    for (std::size_t third = 0; third < kThirds; ++third) {
      KernelList seen, kept_back;
      for (std::size_t i = 0; i < calls.size(); ++i) {
        (i % kThirds == third ? kept_back : seen).push_back(calls[i]);
      }
      const auto said = learnt(kind, seen);
      const double factor =
          said ? static_cast<double>(said->factor) / static_cast<double>(CardKind::kOne) : 1;
      const std::map<std::string, Ratio> shapes = by_shapes(seen);
      for (const CardKernel* const call : kept_back) {
        const auto alike = shapes.find(shapes_of(call->words));
        const double says = alike == shapes.end()
                                ? factor
                                : alike->second.time.seconds() / alike->second.built_in.seconds();
        unseen.built_in.push_back(error_of(*call, 1));
        unseen.error.push_back(error_of(*call, says));
      }
    }
  }
  return result;
}

chip::Card merged(chip::Card card, const chip::Card& other) {
  if (card.chip != other.chip || card.software != other.software) {
    throw Error(
        {.attempted = "put cards together",
         .value = fmt::format("{} is of {} and {}, and {} of {} and {}", card.name, card.chip,
                              card.software, other.name, other.chip, other.software),
         .accepted = "cards of one chip and one software"});
  }
  card.logs.insert(card.logs.end(), other.logs.begin(), other.logs.end());
  std::ranges::sort(card.logs);
  const auto repeated = std::ranges::unique(card.logs);
  card.logs.erase(repeated.begin(), repeated.end());
  std::vector<CardKernel> all = std::move(card.kernels);
  all.insert(all.end(), other.kernels.begin(), other.kernels.end());
  std::ranges::stable_sort(all, {}, &CardKernel::words);
  card.kernels.clear();
  for (CardKernel& kernel : all) {
    if (card.kernels.empty() || card.kernels.back().words != kernel.words) {
      card.kernels.push_back(std::move(kernel));
      continue;
    }
    CardKernel& known = card.kernels.back();
    const std::int64_t runs = known.runs + kernel.runs;
    const double share = static_cast<double>(kernel.runs) / static_cast<double>(runs);
    known.time =
        SimTime::picoseconds(std::llround(static_cast<double>(known.time.ps()) * (1 - share) +
                                          static_cast<double>(kernel.time.ps()) * share));
    known.error = known.error * (1 - share) + kernel.error * share;
    known.runs = runs;
  }
  return card;
}

}  // namespace howard::calibration
