// SPDX-License-Identifier: Apache-2.0
#include "reports/formats/time_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace howard::reports {
namespace {

constexpr std::string_view kHeading = "howard.times/1";

[[noreturn]] void fail_twice(const std::string& what) {
  throw Error({.attempted = "compare results",
               .value = what + " is there twice",
               .accepted = "every point once",
               .hint = "one run for each file"});
}

ExactTime parse_line(std::string_view line, std::string_view source, std::size_t number) {
  // The line is read from the right, because an id can contain anything that its axes' values do.
  const std::size_t before_time = line.rfind(' ');
  const std::size_t before_metric = before_time == std::string_view::npos || before_time == 0
                                        ? std::string_view::npos
                                        : line.rfind(' ', before_time - 1);
  // Without a blank this reads the whole line (npos + 1 is 0), which before_metric then refuses.
  const std::int64_t time = parse_integer(line.substr(before_time + 1)).value_or(-1);
  if (before_metric == std::string_view::npos || before_metric == 0 || time < 0) {
    throw Error({.attempted = fmt::format("read {}, line {}", source, number),
                 .value = fmt::format("'{}'", line),
                 .accepted = "POINT METRIC PICOSECONDS",
                 .hint = "a file written by --times"});
  }
  return {.point = std::string(line.substr(0, before_metric)),
          .metric = std::string(line.substr(before_metric + 1, before_time - before_metric - 1)),
          .time = SimTime::picoseconds(time)};
}

}  // namespace

TimeRecord time_record(std::span<const harness::ExperimentResult> results) {
  TimeRecord record;
  std::set<std::string> known;
  for (const harness::ExperimentResult& result : results) {
    const auto note = [&](const harness::ProfileName& chip, const harness::ProfileName& software) {
      std::string conditions = fmt::format("chip {}, software {}, seed {}", chip.text(),
                                           software.text(), result.context.seed);
      if (std::ranges::find(record.conditions, conditions) != record.conditions.end()) return;
      record.conditions.push_back(std::move(conditions));
    };
    note(result.context.chip, result.context.software);
    for (const harness::PointResult& point : result.points) {
      if (point.own_chip) note(point.own_chip->chip, point.own_chip->software);
      const std::string id = result.experiment + "/" + point.id();
      if (!known.insert(id).second) fail_twice(id);
      for (const harness::Metric& metric : point.metrics) {
        const bool is_part = metric.name.find('.') != std::string::npos;
        if (metric.virtual_time && !is_part) {
          record.exact.push_back({id, metric.name, *metric.virtual_time});
        }
      }
    }
  }
  return record;
}

std::string times_text(const TimeRecord& record) {
  std::string text(kHeading);
  for (const std::string& conditions : record.conditions) text += "\n# " + conditions;
  text += '\n';
  for (const ExactTime& exact : record.exact) {
    text += fmt::format("{} {} {}\n", exact.point, exact.metric, exact.time.ps());
  }
  return text;
}

TimeRecord parse_times_text(std::string_view text, std::string_view source) {
  TimeRecord record;
  if (text.substr(0, text.find('\n')) != kHeading) {
    throw Error({.attempted = fmt::format("read {}", source),
                 .value = "it does not begin with " + std::string(kHeading),
                 .accepted = "virtual times",
                 .hint = "a file written by --times"});
  }
  std::set<std::pair<std::string, std::string>> known;
  const std::vector<std::string> lines = split(text, '\n');
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    if (lines[i].starts_with("# ")) {
      record.conditions.push_back(lines[i].substr(2));
      continue;
    }
    record.exact.push_back(parse_line(lines[i], source, i + 1));
    const ExactTime& last = record.exact.back();
    if (!known.emplace(last.point, last.metric).second) {
      fail_twice(fmt::format("{} of {} in {}", last.metric, last.point, source));
    }
  }
  return record;
}

}  // namespace howard::reports
