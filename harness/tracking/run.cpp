// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "base/error.h"

namespace howard::tracking {
namespace {

constexpr std::array<std::pair<Kind, std::string_view>, 5> kKinds{{{Kind::exact, "exact"},
                                                                   {Kind::sampled, "sampled"},
                                                                   {Kind::words, "words"},
                                                                   {Kind::skipped, "skipped"},
                                                                   {Kind::failed, "failed"}}};

Conditions conditions_of(const harness::RunContext& context) {
  Conditions conditions{.chip = context.chip.text(),
                        .software = context.software.text(),
                        .build = context.build_type,
                        .compiler = context.compiler,
                        .tool = "howard",
                        .seed = context.seed};
  if (context.threads > 0) {
    conditions.machine = fmt::format("{}, {} threads", context.cpu, context.threads);
  }
  return conditions;
}

void add_rows(const std::string& benchmark, const harness::PointResult& point,
              std::vector<Row>& rows) {
  if (point.skipped) {
    const Kind kind = point.failed ? Kind::failed : Kind::skipped;
    rows.push_back({.series = {benchmark, "", "", {}, kind}, .words = *point.skipped});
  }
  for (const harness::Metric& metric : point.metrics) {
    Row row{.series = {benchmark, metric.name, metric.unit, metric.better, Kind::exact},
            .value = metric.value};
    if (metric.virtual_time) {
      row.picoseconds = metric.virtual_time->ps();
    } else if (!metric.samples.empty()) {
      row.series.kind = Kind::sampled;
      row.samples = metric.samples;
    } else {
      continue;  // it follows from the others
    }
    rows.push_back(std::move(row));
  }
  if (point.own_chip) {
    rows.push_back({.series = {benchmark, "chip", "", {}, Kind::words},
                    .words = point.own_chip->chip.text() + ", " + point.own_chip->software.text()});
  }
  for (const auto& [name, words] : point.details) {
    rows.push_back({.series = {benchmark, name, "", {}, Kind::words}, .words = words});
  }
}

}  // namespace

std::string_view name_of(Kind kind) {
  return std::ranges::find(kKinds, kind, &std::pair<Kind, std::string_view>::first)->second;
}

std::optional<Kind> kind_of(std::string_view word) {
  const auto* const found =
      std::ranges::find(kKinds, word, &std::pair<Kind, std::string_view>::second);
  if (found == kKinds.end()) return std::nullopt;
  return found->first;
}

std::string_view Run::clean_commit() const {
  std::string_view name = commit;
  if (is_dirty()) name.remove_suffix(std::string_view("-dirty").size());
  return name;
}

std::string short_commit(std::string_view commit) {
  constexpr std::size_t kDigits = 12;
  const std::string_view name = commit.substr(0, commit.find("-dirty"));
  const bool is_of_git =
      name.size() > kDigits && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  if (!is_of_git) return std::string(commit);
  return std::string(name.substr(0, kDigits)) + std::string(commit.substr(name.size()));
}

Constants settings_of(const Conditions& conditions) {
  Constants constants;
  for (const std::string& part : {conditions.chip, conditions.software}) {
    for (const std::string& setting : harness::ProfileName::read(part).settings) {
      const std::size_t equals = setting.find('=');
      if (equals == std::string::npos) continue;
      constants.emplace(setting.substr(0, equals), setting.substr(equals + 1));
    }
  }
  return constants;
}

std::vector<std::string> moved_constants(const Run& before, const Run& after) {
  // A run that knows more than what was set knows all.
  const auto knows_all = [](const Run& run) {
    return run.constants.size() > settings_of(run.conditions).size();
  };
  const bool all_known = knows_all(before) && knows_all(after);
  const Constants old = all_known ? before.constants : settings_of(before.conditions);
  const Constants now = all_known ? after.constants : settings_of(after.conditions);
  const auto value_in = [&](const Constants& constants, const std::string& name) -> std::string {
    const auto found = constants.find(name);
    if (found != constants.end()) return found->second;
    return all_known ? "none" : "the profile's";
  };
  Constants names = old;
  names.insert(now.begin(), now.end());
  std::vector<std::string> moved;
  for (const auto& [name, value] : names) {
    const std::string first = value_in(old, name);
    const std::string second = value_in(now, name);
    if (first != second) moved.push_back(fmt::format("{}: {} -> {}", name, first, second));
  }
  return moved;
}

void append(Run& run, Run other) {
  for (const Kind kind : {Kind::exact, Kind::sampled}) {
    const std::string differs = difference(run.conditions, other.conditions, kind);
    if (differs.empty()) continue;
    throw Error({.attempted = "read results",
                 .value = "they were made under different conditions: " + differs,
                 .accepted = "one machine and one profile in a run",
                 .hint = "a folder for each run"});
  }
  const auto complete = [](std::string& text, std::string& from) {
    if (text.empty()) text = std::move(from);
  };
  complete(run.conditions.machine, other.conditions.machine);
  complete(run.conditions.chip, other.conditions.chip);
  complete(run.conditions.software, other.conditions.software);
  if (run.commit != other.commit) run.mixed = true;
  if (run.mixed) run.commit.clear();
  run.constants.merge(other.constants);
  std::ranges::move(other.rows, std::back_inserter(run.rows));
}

Run run_of(std::span<const harness::ExperimentResult> results) {
  Run run;
  std::set<std::string> known;
  for (const harness::ExperimentResult& result : results) {
    Run part{.commit = result.context.git == "unknown" ? "" : result.context.git,
             .conditions = conditions_of(result.context)};
    part.constants = settings_of(part.conditions);
    for (const auto& [name, value] : result.context.constants) part.constants[name] = value;
    for (const harness::PointResult& point : result.points) {
      const std::string benchmark = result.experiment + "/" + point.id();
      if (!known.insert(benchmark).second) {
        throw Error({.attempted = "compare results",
                     .value = benchmark + " is there twice",
                     .accepted = "every point once",
                     .hint = "one run for each file"});
      }
      add_rows(benchmark, point, part.rows);
    }
    // Sampled metrics of runs whose constants differ are still observations of the same thing.
    const bool is_exact = std::ranges::any_of(
        part.rows, [](const Row& row) { return row.series.kind == Kind::exact; });
    if (!is_exact) part.constants.clear();
    if (&result == &results.front()) {
      run = std::move(part);
    } else {
      append(run, std::move(part));
    }
  }
  return run;
}

std::string difference(const Conditions& before, const Conditions& after, Kind kind) {
  std::string text;
  const auto compare = [&](std::string_view what, const std::string& a, const std::string& b) {
    if (a == b || a.empty() || b.empty()) return;
    text += fmt::format("{}{} '{}' and '{}'", text.empty() ? "" : "; ", what, a, b);
  };
  compare("tool", before.tool, after.tool);
  if (kind == Kind::exact) {
    compare("chip", before.chip, after.chip);
    compare("software", before.software, after.software);
  } else {
    compare("machine", before.machine, after.machine);
    compare("build", before.build, after.build);
  }
  return text;
}

}  // namespace howard::tracking
