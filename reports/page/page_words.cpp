// SPDX-License-Identifier: Apache-2.0
#include "reports/page/page_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

using harness::Backend;
using harness::ExperimentResult;
using harness::Metric;
using harness::PointResult;

/// Returns a point in words, by what differs among the points of its result: "1024x1024x1024,
/// worker".
std::string name_of_point(const PointResult& point, const ExperimentResult& result) {
  std::vector<std::string> values;
  for (const auto& [axis, value] : point.parameters) {
    const bool differs = std::ranges::any_of(result.points, [&](const PointResult& other) {
      return harness::find_parameter(other.parameters, axis) != value;
    });
    if (differs) values.push_back(value);
  }
  return values.empty() ? std::string(harness::name_of(point.backend)) : join(values, ", ");
}

std::string time_words(const ExperimentResult& result, Backend backend, std::string_view where) {
  const PointResult* shortest = nullptr;
  const PointResult* longest = nullptr;
  std::size_t count = 0;
  const auto time_of = [](const PointResult& point) { return point.find_metric("time")->value; };
  for (const PointResult& point : result.points) {
    if (point.backend != backend || point.find_metric("time") == nullptr) continue;
    if (shortest == nullptr || time_of(point) < time_of(*shortest)) shortest = &point;
    if (longest == nullptr || time_of(point) > time_of(*longest)) longest = &point;
    ++count;
  }
  if (count == 0) return "";
  if (count == 1) {
    return fmt::format("1 point ran {} and took {}.", where,
                       format_quantity(time_of(*shortest), "s"));
  }
  return fmt::format("{} points ran {}. The shortest time is {} ({}), the longest is {} ({}).",
                     count, where, format_quantity(time_of(*shortest), "s"),
                     name_of_point(*shortest, result), format_quantity(time_of(*longest), "s"),
                     name_of_point(*longest, result));
}

std::string bound_words(const ExperimentResult& result) {
  std::map<std::string, std::size_t> counts;
  std::size_t all = 0;
  for (const PointResult& point : result.points) {
    const auto bound = point.find(harness::kBoundBy);
    if (point.backend != Backend::emulated || !bound) continue;
    ++counts[*bound];
    ++all;
  }
  if (all == 0) return "";
  std::vector<std::pair<std::string, std::size_t>> order(counts.begin(), counts.end());
  std::ranges::stable_sort(order, std::greater(), [](const auto& one) { return one.second; });
  std::vector<std::string> parts;
  for (const auto& [bound, count] : order) parts.push_back(fmt::format("{} by {}", count, bound));
  return fmt::format("What bounds the emulated points: {}.", join(parts, ", "));
}

/// Returns which kinds of ops take most of the kernels' time, over all emulated points.
std::string cost_words(const ExperimentResult& result) {
  constexpr std::string_view kPart = "kernel_time.";
  constexpr std::size_t kNamed = 3;
  std::map<std::string, double> seconds;
  double all = 0;
  for (const PointResult& point : result.points) {
    if (point.backend != Backend::emulated) continue;
    for (const Metric& metric : point.metrics) {
      if (!metric.name.starts_with(kPart)) continue;
      seconds[metric.name.substr(kPart.size())] += metric.value;
      all += metric.value;
    }
  }
  if (all <= 0) return "";
  std::vector<std::pair<std::string, double>> order(seconds.begin(), seconds.end());
  std::ranges::stable_sort(order, std::greater(), [](const auto& one) { return one.second; });
  order.resize(std::min(order.size(), kNamed));
  std::vector<std::string> parts;
  for (const auto& [kind, value] : order) {
    parts.push_back(fmt::format("{} {:.0f} %", kind, 100 * value / all));
  }
  return fmt::format("What takes the kernels' time: {}.", join(parts, ", "));
}

/// Returns how far the emulator's times of these kinds were off where they could be measured.
std::string expected_error_words(const ExperimentResult& result) {
  std::vector<double> errors;
  for (const PointResult& point : result.points) {
    if (const Metric* const error = point.find_metric("expected_error")) {
      errors.push_back(error->value);
    }
  }
  if (errors.empty()) return "";
  const auto [least, most] = std::ranges::minmax(errors);
  const std::string range = fmt::format("{:.0f}", 100 * most);
  return fmt::format(
      "The expected error of these times is {} %: measured times of their kinds, which no constant "
      "was fitted to, were off so far on average; a single one may be several times as far off.",
      fmt::format("{:.0f}", 100 * least) == range
          ? range
          : fmt::format("{:.0f} to {}", 100 * least, range));
}

/// Holds a point beside a published figure, and its experiment.
struct Compared {
  const ExperimentResult* result = nullptr;
  const PointResult* point = nullptr;

  double error() const { return *point->relative_error(); }
};

/// Returns the points beside published figures that are no artefacts, the farthest first.
std::vector<Compared> by_error(std::span<const ExperimentResult> results) {
  std::vector<Compared> points;
  for (const ExperimentResult& result : results) {
    for (const PointResult& point : result.points) {
      if (point.relative_error() && point.reference->status != "artefact") {
        points.push_back({&result, &point});
      }
    }
  }
  std::ranges::stable_sort(points, std::greater(),
                           [](const Compared& one) { return std::abs(one.error()); });
  return points;
}

std::string error_words(const ExperimentResult& result) {
  const auto points = by_error(std::span(&result, 1));
  if (points.empty()) return "";
  double sum = 0;
  for (const Compared& one : points) sum += std::abs(one.error());
  return fmt::format(
      "{} beside the emulator are off by {:.1f} % on average; the farthest is {} at "
      "{} %.",
      counted(points.size(), "published figure"), 100 * sum / static_cast<double>(points.size()),
      name_of_point(*points.front().point, result), format_error(points.front().error()));
}

/// Returns the options that choose a chip or software that is not the published one.
std::string chip_options(const harness::RunContext& context) {
  if (context.published_chip) return "";
  std::string options;
  for (const auto& [option, name] :
       {std::pair(" --chip ", context.chip), {" --software ", context.software}}) {
    if (name.profile.empty()) continue;
    options += option + shell_word(name.profile);
    for (const std::string& setting : name.settings) options += " --set " + shell_word(setting);
  }
  return options;
}

}  // namespace

std::vector<std::string> run_findings(std::span<const ExperimentResult> results) {
  std::vector<std::string> findings;
  for (const ExperimentResult& result : results) {
    if (result.interrupted) {
      findings.push_back(result.experiment + " was interrupted; some of its points are missing.");
    }
    for (const PointResult& point : result.points) {
      if (point.failed) {
        findings.push_back(fmt::format("{} failed at {}: {}", result.experiment,
                                       name_of_point(point, result), point.skipped.value_or("")));
      }
    }
  }
  constexpr std::size_t kShown = 3;
  const auto farthest = by_error(results);
  for (std::size_t i = 0; i < std::min(kShown, farthest.size()); ++i) {
    const Compared& one = farthest[i];
    findings.push_back(fmt::format("Far from what was published: {} of {} at {} % ({}).",
                                   name_of_point(*one.point, *one.result), one.result->experiment,
                                   format_error(one.error()), one.point->reference->source));
  }
  return findings;
}

std::vector<std::string> experiment_words(const ExperimentResult& result) {
  std::vector<std::string> sentences{time_words(result, Backend::emulated, "on the emulated chip"),
                                     time_words(result, Backend::host, "on this machine's CPU"),
                                     bound_words(result),
                                     cost_words(result),
                                     error_words(result),
                                     expected_error_words(result)};
  const auto skipped = static_cast<std::size_t>(std::ranges::count_if(
      result.points, [](const PointResult& point) { return point.skipped && !point.failed; }));
  if (skipped > 0) {
    sentences.push_back(counted(skipped, "point") + " did not apply and " +
                        (skipped == 1 ? "was" : "were") + " skipped; the table says why.");
  }
  std::erase(sentences, "");
  return sentences;
}

std::string command_of(const ExperimentResult& result) {
  std::string command = "run_experiment " + result.experiment + chip_options(result.context);
  const auto ran_on = [&](Backend backend) {
    return std::ranges::find(result.points, backend, &PointResult::backend) != result.points.end();
  };
  if (!ran_on(Backend::host)) command += " --backend emulated";
  if (!ran_on(Backend::emulated)) command += " --backend host";
  std::vector<std::pair<std::string, std::vector<std::string>>> axes;
  for (const PointResult& point : result.points) {
    for (const auto& [axis, value] : point.parameters) {
      auto found = std::ranges::find(axes, axis, [](const auto& one) { return one.first; });
      if (found == axes.end()) found = axes.insert(axes.end(), {axis, {}});
      if (std::ranges::find(found->second, value) == found->second.end()) {
        found->second.push_back(value);
      }
    }
  }
  for (const auto& [axis, values] : axes) {
    const bool constant = axis.find('.') != std::string::npos;  // the name of a swept one
    command += fmt::format(" {} {}", constant ? "--set" : "-a",
                           shell_word(fmt::format("{}={}", axis, join(values, ","))));
  }
  return command;
}

}  // namespace howard::reports
