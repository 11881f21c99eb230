// SPDX-License-Identifier: Apache-2.0
#include "experiments/cases/part_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "experiments/cases/known_time.h"
#include "experiments/cases/training_case.h"
#include "profiler/bound.h"

namespace howard::experiments {

void PartTimes::add(std::string_view part, std::span<const chip::PlannedProgram> launches,
                    std::string_view architecture, std::int64_t times) {
  Total& total = totals_[std::string(part)];
  for (const chip::PlannedProgram& planned : launches) {
    const SimTime time = planned.kernel.total * times;
    total.launches += static_cast<int>(times);
    total.kernel += time;
    total.by_bottleneck[planned.kernel.bottleneck] += time;
    known_.add(time, calibration::band_of(planned, architecture));
  }
}

int PartTimes::launches() const {
  int all = 0;
  for (const auto& [name, total] : totals_) all += total.launches;
  return all;
}

std::vector<PartTime> PartTimes::parts() const {
  std::vector<PartTime> parts;
  for (const auto& [name, total] : totals_) {
    parts.push_back({.name = name, .launches = total.launches, .kernel = total.kernel});
    if (total.by_bottleneck.empty()) continue;
    parts.back().bottleneck =
        std::ranges::max_element(total.by_bottleneck, {}, [](const auto& one) {
          return one.second;
        })->first;
  }
  std::ranges::stable_sort(parts, std::greater(), &PartTime::kernel);
  return parts;
}

void PartTimes::describe(double seconds, harness::PointResult& point) const {
  const auto add_time = [&](std::string name, SimTime time) {
    point.metrics.push_back(
        {.name = std::move(name), .value = time.seconds(), .unit = "s", .virtual_time = time});
  };
  const std::vector<PartTime> all = parts();
  std::string text;
  for (const PartTime& part : all) {
    add_time(kKernelTimes + part.name, part.kernel);
    constexpr double kShown = 0.02;
    const double share = part.kernel.seconds() / seconds;
    if (share < kShown) continue;
    text += fmt::format("{}{} {:.0f} % ({}, {})", text.empty() ? "" : ", ", part.name, 100 * share,
                        part.launches, name_of(part.bottleneck));
  }
  add_time("kernel_time", kernel_time());
  point.details.emplace_back("kernels", text);
  point.details.emplace_back("launches", std::to_string(launches()));
  describe_expected_error(seconds, known_, false, point);
  point.details.emplace_back(
      "bound_by",
      profiler::bound_by({.whole = seconds,
                          .kernels = kernel_time().seconds(),
                          .kernel_word = fmt::format("{}: {}", all.front().name,
                                                     name_of(all.front().bottleneck))}));
}

}  // namespace howard::experiments
