// SPDX-License-Identifier: Apache-2.0
#include "experiments/cases/kernel_account.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "engines/chip/kernels/plan/footprint.h"

namespace howard::experiments {

using calibration::Known;

chip::Bottleneck KernelAccount::Part::bottleneck() const {
  return std::ranges::max_element(by_bottleneck, {}, [](const auto& one) { return one.second; })
      ->first;
}

void KernelAccount::Footing::add(SimTime part, const calibration::Band& band) {
  time += part;
  uncertain += part.seconds() * band.share;
  by_known.at(static_cast<std::size_t>(band.known)) += part.seconds();
}

void KernelAccount::add(std::string_view part, const chip::PlannedProgram& launch,
                        const calibration::Band& band, std::int64_t times, Flops flops) {
  Part& sum = part_of(part);
  const SimTime time = launch.kernel.total * times;
  sum.launches += times;
  sum.kernel += time;
  sum.flops += flops * times;
  sum.by_bottleneck[launch.kernel.bottleneck] += time;
  known_.add(time, band);
  architecture_ = band.architecture;
  if (!launch.matmul || launch.kernel.total <= slowest_) return;
  slowest_ = launch.kernel.total;
  slowest_product_ = launch.matmul->text();
}

void KernelAccount::add(std::string_view part, chip::EmulatedChip& chip, const Program& call,
                        std::int64_t times) {
  for (const chip::PlannedProgram& launch : chip.launches(call)) {
    const std::string_view name = by_ == KernelParts::ops ? launch.name : part;
    add(name, launch, calibration::band_of(launch, chip.profiles().chip.architecture), times);
  }
}

KernelAccount::Part& KernelAccount::part_of(std::string_view name) {
  const auto found = parts_.find(name);
  if (found != parts_.end()) return found->second;
  return parts_.emplace(name, Part{.name = std::string(name)}).first->second;
}

void KernelAccount::add(const KernelAccount& other, std::int64_t times) {
  if (other.parts_.empty()) return;
  for (const auto& [name, part] : other.parts_) {
    Part& sum = part_of(name);
    sum.launches += part.launches * times;
    sum.kernel += part.kernel * times;
    sum.flops += part.flops * times;
    for (const auto& [bottleneck, time] : part.by_bottleneck) {
      sum.by_bottleneck[bottleneck] += time * times;
    }
  }
  known_.time += other.known_.time * times;
  known_.uncertain += other.known_.uncertain * static_cast<double>(times);
  for (std::size_t i = 0; i < known_.by_known.size(); ++i) {
    known_.by_known[i] += other.known_.by_known[i] * static_cast<double>(times);
  }
  architecture_ = other.architecture_;
  if (other.slowest_ <= slowest_) return;
  slowest_ = other.slowest_;
  slowest_product_ = other.slowest_product_;
}

void KernelAccount::extend(const KernelAccount& first, std::int64_t more) {
  add(KernelAccount(*this), more);
  add(first, -more);
}

std::int64_t KernelAccount::launches() const {
  std::int64_t all = 0;
  for (const auto& [name, part] : parts_) all += part.launches;
  return all;
}

std::vector<KernelAccount::Part> KernelAccount::parts() const {
  std::vector<Part> parts;
  for (const auto& [name, part] : parts_) parts.push_back(part);
  std::ranges::stable_sort(parts, std::greater(), &Part::kernel);
  return parts;
}

std::optional<harness::ExpectedError> KernelAccount::expected_error(
    const profiler::SpentTime& spent) const {
  const SimTime whole = SimTime::picoseconds(std::llround(spent.whole * 1e12));
  Footing known;
  if (profiler::pace_of(spent) == profiler::Pace::host) {
    known.add(whole, calibration::host_band());
  } else {
    known = known_;
    if (whole > known.time)
      known.add(whole - known.time, calibration::dispatch_band(architecture_));
  }
  if (known.time == SimTime()) return std::nullopt;
  harness::ExpectedError error{.share = known.uncertain / known.time.seconds(), .known = {}};
  for (const Known one : chip::kAllKnown) {
    constexpr double kLeast = 0.01;
    const double share = known.by_known.at(static_cast<std::size_t>(one)) / known.time.seconds();
    if (share < kLeast) continue;
    error.known +=
        fmt::format("{}{} {:.0f} %", error.known.empty() ? "" : ", ", name_of(one), 100 * share);
  }
  return error;
}

void KernelAccount::describe_error(const profiler::SpentTime& spent,
                                   harness::PointResult& point) const {
  if (auto error = expected_error(spent)) point.add(std::move(*error));
}

std::string KernelAccount::text(double seconds) const {
  constexpr std::size_t kMostOps = 4;
  constexpr double kLeast = 0.02;
  const bool by_op = by_ == KernelParts::ops;
  const double whole = by_op ? kernel_time().seconds() : seconds;
  std::vector<std::string> words;
  for (const Part& part : parts()) {
    const double share = part.kernel.seconds() / whole;
    if (by_op ? words.size() == kMostOps : share < kLeast) break;
    words.push_back(fmt::format("{} {:.0f} % ({}, {})", part.name, 100 * share, part.launches,
                                name_of(part.bottleneck())));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

void KernelAccount::describe(double seconds, std::optional<SimTime> host,
                             harness::PointResult& point, const KernelAccount* exchanges,
                             SimTime exchanged) const {
  const auto add_time = [&](std::string name, SimTime time) {
    point.metrics.push_back(
        {.name = std::move(name), .value = time.seconds(), .unit = "s", .virtual_time = time});
  };
  add_time("kernel_time", kernel_time());
  const std::vector<Part> all = parts();
  for (const Part& part : all) add_time(kKernelTimes + part.name, part.kernel);
  if (host) add_time("host_time", *host);
  std::string word;
  if (!all.empty()) {
    const Part& longest = all.front();
    word = by_ == KernelParts::ops
               ? "kernels: " + longest.name
               : fmt::format("{}: {}", longest.name, name_of(longest.bottleneck()));
  }
  const profiler::SpentTime spent{.whole = seconds,
                                  .kernels = kernel_time().seconds(),
                                  .host = host.value_or(SimTime()).seconds(),
                                  .exchange = exchanged.seconds(),
                                  .kernel_word = word};
  KernelAccount both = *this;
  if (exchanges != nullptr) both.add(*exchanges);
  both.describe_error(spent, point);
  point.add(harness::kBoundBy, profiler::bound_by(spent));
  point.details.emplace_back("kernels", text(seconds));
}

SimTime kernel_time_of(chip::EmulatedChip& chip, const Program& call) {
  SimTime time;
  for (const chip::PlannedProgram& launch : chip.launches(call)) time += launch.kernel.total;
  return time;
}

Bytes recorded_bytes(chip::EmulatedChip& chip, const Program& call) {
  Bytes size;
  for (const chip::PlannedProgram& launch : chip.launches(call)) {
    size += chip::trace_bytes(launch.footprint, chip.profiles().software);
  }
  return size;
}

}  // namespace howard::experiments
