// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/calibration/card_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>

#include "base/error.h"

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

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Returns the factor that calls of one kind say, without the call `unseen`.
double factor_of(const KernelList& calls, const CardKernel* unseen = nullptr) {
  double sum = 0;
  double count = 1;  // one call is as the emulator says
  for (const CardKernel* const call : calls) {
    if (call == unseen) continue;
    sum += std::log(ratio_of(*call));
    ++count;
  }
  return std::exp(sum / count);
}

/// Returns what the calls of one kind say of others; absent if the emulator is as near.
std::optional<CardKind> learnt(const std::string& kind, const KernelList& calls) {
  constexpr std::size_t kLeastCalls = 3;
  constexpr double kLeastGain = 0.9;
  if (calls.size() < kLeastCalls) return std::nullopt;
  std::vector<double> before, after;
  for (const CardKernel* const call : calls) {
    before.push_back(error_of(*call, 1));
    after.push_back(error_of(*call, factor_of(calls, call)));
  }
  if (mean(after) > kLeastGain * mean(before)) return std::nullopt;
  return CardKind{.kind = kind,
                  .factor = std::llround(factor_of(calls) * static_cast<double>(CardKind::kOne)),
                  .calls = static_cast<std::int64_t>(calls.size()),
                  .built_in_error = mean(before),
                  .error = mean(after)};
}

/// Returns the ratio of those of `calls` that have the shapes of `call`; absent if none has.
std::optional<double> ratio_of_shapes(const CardKernel& call, const KernelList& calls) {
  SimTime time, built_in;
  for (const CardKernel* const other : calls) {
    if (shapes_of(other->words) != shapes_of(call.words)) continue;
    time += other->time;
    built_in += other->built_in;
  }
  if (built_in == SimTime()) return std::nullopt;
  return time.seconds() / built_in.seconds();
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
      for (const CardKernel* const call : kept_back) {
        unseen.built_in.push_back(error_of(*call, 1));
        unseen.error.push_back(error_of(*call, ratio_of_shapes(*call, seen).value_or(factor)));
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
  for (const CardKernel& kernel : other.kernels) {
    const auto place = std::ranges::lower_bound(card.kernels, kernel.words, {}, &CardKernel::words);
    if (place == card.kernels.end() || place->words != kernel.words) {
      card.kernels.insert(place, kernel);
      continue;
    }
    const std::int64_t runs = place->runs + kernel.runs;
    const double share = static_cast<double>(kernel.runs) / static_cast<double>(runs);
    place->time =
        SimTime::picoseconds(std::llround(static_cast<double>(place->time.ps()) * (1 - share) +
                                          static_cast<double>(kernel.time.ps()) * share));
    place->error = place->error * (1 - share) + kernel.error * share;
    place->runs = runs;
  }
  card.kinds = kinds_of(card.kernels);
  return card;
}

}  // namespace howard::calibration
