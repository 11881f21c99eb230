// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/table.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "reports/published/reference.h"
#include "reports/tables/columns.h"
#include "reports/tables/format.h"
#include "reports/tables/row_sample.h"

namespace howard::reports {
namespace {

using harness::Backend;
using harness::CellSource;
using harness::Column;
using harness::ExperimentResult;
using harness::Metric;
using harness::PointResult;
using harness::Room;
using Points = std::vector<const PointResult*>;

constexpr std::string_view kTimeMetric = "time";
constexpr std::string_view kExpectedError = "expected_error";

/// Published figures of one quantity differ by up to 10 % within one session of the report (its
/// sweep against its utilisation table) and by up to 28 % between two sessions (its static engine).
/// So an error below the first counts as none, and one above the second is more than a bad day.
constexpr double kGoodError = 0.10;
constexpr double kFairError = 0.28;

Tone tone_of(double relative_error) {
  const double size = std::abs(relative_error);
  return size <= kGoodError ? Tone::good : size <= kFairError ? Tone::fair : Tone::bad;
}

/// Holds a column while it is filled: its cells, its header, and whether any point had something to
/// say.
struct FilledColumn {
  TableColumn column;
  std::vector<Cell> cells;
};

Scale scale_of_metric(const Points& points, std::string_view name) {
  std::vector<double> values;
  std::string_view unit;
  for (const PointResult* point : points) {
    if (const Metric* metric = point->find_metric(name)) {
      values.push_back(metric->value);
      unit = metric->unit;
    }
  }
  return fit_scale(unit, values);
}

std::string metric_text(const Metric& metric, const Scale& scale) {
  std::string text = format_number(metric.value, scale);
  if (!metric.ci95 || metric.value == 0) return text;
  const auto [low, high] = *metric.ci95;
  const double half_width = std::max(metric.value - low, high - metric.value) / metric.value;
  return text + fmt::format(" ±{:.1f} %", std::abs(half_width) * 100);
}

/// Returns what a point has that lacks the column's axis, if another point has it.
std::string neutral_value(const Column& column, const Points& points,
                          const harness::Presentation& presentation) {
  const bool has_axis = std::ranges::any_of(points, [&](const PointResult* point) {
    return harness::find_parameter(point->parameters, column.name).has_value();
  });
  const auto found = std::ranges::find(presentation.neutral, column.name,
                                       &std::pair<std::string, std::string>::first);
  return has_axis && found != presentation.neutral.end() ? found->second : "";
}

FilledColumn fill_words(const Column& column, const Points& points,
                        const harness::Presentation& presentation) {
  FilledColumn filled{.column = {.title = column.title}};
  bool numbers = true;
  const std::string neutral = neutral_value(column, points, presentation);
  for (const PointResult* point : points) {
    std::string text;
    if (column.source == CellSource::parameter) {
      text = harness::find_parameter(point->parameters, column.name).value_or(neutral);
    } else if (column.source == CellSource::chip) {
      if (point->own_chip) text = point->own_chip->chip.text();
    } else if (const std::string* detail = point->find_detail(column.name)) {
      text = *detail;
    }
    numbers = numbers && (text.empty() || parse_number(text));
    filled.cells.push_back({.text = std::move(text)});
  }
  filled.column.number = numbers;
  return filled;
}

FilledColumn fill_metric(const Column& column, const Points& points) {
  const Scale scale = scale_of_metric(points, column.name);
  FilledColumn filled{.column = {.title = column.title, .unit = scale.unit, .number = true}};
  for (const PointResult* point : points) {
    const Metric* metric = point->find_metric(column.name);
    filled.cells.push_back({.text = metric ? metric_text(*metric, scale) : ""});
  }
  return filled;
}

/// Returns the prefix of the metric that the published figures are of; if no point has it, because
/// all were skipped, that of the figures.
Scale scale_of_references(const Points& points, const harness::Reference& first) {
  std::vector<double> values;
  for (const PointResult* point : points) {
    if (point->find_metric(first.metric) != nullptr) return scale_of_metric(points, first.metric);
    if (point->reference && point->reference->metric == first.metric) {
      values.push_back(point->reference->value);
    }
  }
  return fit_scale(first.unit, values);
}

/// Shows the published figures, or what the points have for the same metrics. Those of another
/// metric than the column's carry their own unit.
FilledColumn fill_reference(const Column& column, const Points& points) {
  const auto first = std::ranges::find_if(
      points, [](const PointResult* point) { return point->reference.has_value(); });
  if (first == points.end()) return {.column = {.title = column.title}, .cells = {}};
  const std::string& metric = (*first)->reference->metric;
  const Scale scale = scale_of_references(points, *(*first)->reference);
  FilledColumn filled{.column = {.title = column.title, .unit = scale.unit, .number = true}};
  for (const PointResult* point : points) {
    Cell cell;
    const auto& reference = point->reference;
    const bool is_published = column.source == CellSource::reference;
    const Metric* const own = reference ? point->find_metric(reference->metric) : nullptr;
    if (reference && (is_published || own != nullptr)) {
      const double value = is_published ? reference->value : own->value;
      cell.text = reference->metric == metric ? format_number(value, scale)
                                              : format_quantity(value, reference->unit);
      if (is_published && reference->status == "artefact") cell.text.insert(0, "* ");
    }
    filled.cells.push_back(std::move(cell));
  }
  return filled;
}

FilledColumn fill_error(const Column& column, const Points& points) {
  FilledColumn filled{.column = {.title = column.title, .unit = "%", .number = true}};
  for (const PointResult* point : points) {
    Cell cell;
    if (const std::optional<double> error = point->relative_error()) {
      // An artefact says nothing about the emulator, for better or worse.
      const bool judged = point->reference->status != "artefact";
      cell = {.text = format_error(*error), .tone = judged ? tone_of(*error) : Tone::plain};
    }
    filled.cells.push_back(std::move(cell));
  }
  return filled;
}

FilledColumn fill_cells(const Column& column, const Points& points,
                        const harness::Presentation& presentation) {
  switch (column.source) {
    case CellSource::parameter:
    case CellSource::detail:
    case CellSource::chip:
      return fill_words(column, points, presentation);
    case CellSource::metric:
      return fill_metric(column, points);
    case CellSource::reference:
    case CellSource::compared:
      return fill_reference(column, points);
    case CellSource::error:
      return fill_error(column, points);
  }
  return {};
}

FilledColumn fill(const Column& column, const Points& points,
                  const harness::Presentation& presentation) {
  FilledColumn filled = fill_cells(column, points, presentation);
  // What bounds the time is what most readers came for. How far to trust it comes before all that
  // only describes it.
  const bool is_trust = column.source == CellSource::reference ||
                        column.source == CellSource::error || column.name == kExpectedError;
  const bool is_key =
      column.source == CellSource::parameter || is_trust ||
      (column.source == CellSource::metric && column.name == kTimeMetric) ||
      (column.source == CellSource::detail && column.name == harness::kBoundBy.name);
  filled.column.room = is_key ? Room::key : column.room;
  filled.column.meaning = column.meaning;
  return filled;
}

/// Returns the parameters by which the points differ, as in "shape 100x100x100, dispatch eth".
std::string describe(const PointResult& point, const Points& points) {
  std::string text;
  for (const auto& [axis, value] : point.parameters) {
    const bool varies = std::ranges::any_of(points, [&](const PointResult* other) {
      return harness::find_parameter(other->parameters, axis) != value;
    });
    if (varies) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axis, value);
  }
  return text;
}

/// Holds the sentences about points, each once, in the order in which they first come up.
class PointNotes {
 public:
  void add(std::string sentence, const PointResult& point, const Points& points) {
    const auto found = std::ranges::find(entries_, sentence, &Entry::sentence);
    if (found != entries_.end()) {
      ++found->count;
    } else {
      entries_.push_back({std::move(sentence), describe(point, points), 1});
    }
  }

  void append_to(std::vector<std::string>& notes) const {
    for (const auto& [sentence, point, count] : entries_) {
      const std::string where = count > 1 ? fmt::format("{} points", count) : point;
      notes.push_back(where.empty() ? sentence : fmt::format("{} ({})", sentence, where));
    }
  }

 private:
  struct Entry {
    std::string sentence;
    std::string point;
    int count = 0;
  };
  std::vector<Entry> entries_;
};

bool has_own_chip(const PointResult* point) { return point->own_chip.has_value(); }

std::vector<std::string> notes_of(const ExperimentResult& result, Backend backend,
                                  const Points& points) {
  std::vector<std::string> notes;
  if (result.interrupted) notes.push_back("interrupted: some points are missing");
  PointNotes about_points;
  for (const PointResult* point : points) {
    if (point->reference && point->reference->status == "artefact") {
      about_points.add("* artefact: " + point->reference->note, *point, points);
    }
    for (const std::string& warning : point->warnings) {
      about_points.add("warning: " + warning, *point, points);
    }
  }
  about_points.append_to(notes);
  if (backend == Backend::emulated) {
    for (const auto& name : {result.context.chip, result.context.software}) {
      if (!name.settings.empty()) notes.push_back("set: " + join(name.settings, " with "));
    }
    if (!reference_tables(result.experiment).empty() &&
        reference_tables(result.experiment, result.context).empty() &&
        std::ranges::none_of(points, has_own_chip)) {
      notes.emplace_back(
          "no published figures stand beside these: they are of another chip or software, or a "
          "card "
          "says times");
    }
  }
  if (backend != Backend::emulated) {
    // They are about the log, or about the machine and the build, on which virtual time does not
    // depend.
    for (const std::string& warning : result.context.warnings)
      notes.push_back("warning: " + warning);
  }
  return notes;
}

/// If an axis has the same value at every one of several points, the caption says it once.
std::optional<std::string> common_value(const Column& column, const Points& points) {
  if (column.source != CellSource::parameter || points.size() < 2) return std::nullopt;
  const auto first = harness::find_parameter(points.front()->parameters, column.name);
  const bool same = std::ranges::all_of(points, [&](const PointResult* point) {
    return harness::find_parameter(point->parameters, column.name) == first;
  });
  return same ? std::optional(fmt::format("{} {}", column.title, first.value_or("")))
              : std::nullopt;
}

bool is_empty(const FilledColumn& filled) {
  return std::ranges::all_of(filled.cells, [](const Cell& cell) { return cell.text.empty(); });
}

/// Reasons go into the cells that skipped points leave free at the end of their row.
void make_room_for_reasons(Table& table) {
  const bool has_room = std::ranges::all_of(table.rows, [](const TableRow& row) {
    return row.skipped.empty() || (!row.cells.empty() && row.cells.back().text.empty());
  });
  if (has_room) return;
  table.columns.push_back({.title = "result", .room = Room::key});
  for (TableRow& row : table.rows) row.cells.emplace_back();
}

/// Returns the columns, and behind those of axes one for each further axis by which the points
/// differ, and one for chips that points chose. Otherwise two rows of a table could look the same.
std::vector<Column> with_varying_axes(std::vector<Column> columns, const Points& points) {
  std::vector<std::string> axes;
  for (const PointResult* point : points) {
    for (const auto& [axis, value] : point->parameters) {
      if (std::ranges::find(axes, axis) == axes.end()) axes.push_back(axis);
    }
  }
  auto place = std::ranges::find_if(
      columns, [](const Column& column) { return column.source != CellSource::parameter; });
  for (const std::string& axis : axes) {
    const bool shown = std::ranges::any_of(columns, [&](const Column& column) {
      return column.source == CellSource::parameter && column.name == axis;
    });
    const auto first = harness::find_parameter(points.front()->parameters, axis);
    const bool varies = std::ranges::any_of(points, [&](const PointResult* point) {
      return harness::find_parameter(point->parameters, axis) != first;
    });
    if (shown || !varies) continue;
    place = std::next(columns.insert(place, {axis, CellSource::parameter, axis}));
  }
  if (std::ranges::any_of(points, has_own_chip)) {
    columns.insert(place, {"chip", CellSource::chip, "", Room::spare,
                           "of the machine, where it is of another family than the run's"});
  }
  return columns;
}

std::string_view clock_of(Backend backend) {
  switch (backend) {
    case Backend::emulated:
      return "emulated device, virtual time";
    case Backend::host:
      return "host CPU, wall time";
    case Backend::log:
      return "as logged";
  }
  return "";
}

/// Returns what the time of the points covers, " of a product and its finish"; empty if they have
/// none.
std::string timed_text(Backend backend, const Points& points,
                       const harness::Presentation& presentation) {
  const bool differs = backend == Backend::host && !presentation.timed_on_host.empty();
  const std::string& usual = differs ? presentation.timed_on_host : presentation.timed;
  std::vector<std::string> texts;
  for (const PointResult* point : points) {
    if (point->find_metric(kTimeMetric) == nullptr) continue;
    const std::string text = point->find(harness::kTimed).value_or(usual);
    if (!text.empty() && std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
  }
  return texts.empty() ? "" : " of " + join(texts, ", or of ");
}

Table make_table(const ExperimentResult& result, Backend backend, const std::string& name,
                 const Points& points, const harness::Presentation& presentation,
                 const RowSample& shown) {
  const std::string clock(clock_of(backend));
  const std::string title = name.empty() ? clock + timed_text(backend, points, presentation) : name;
  Table table{.caption = fmt::format("{}: {}", result.experiment, title),
              .notes = notes_of(result, backend, points)};
  if (!shown.note.empty()) table.notes.insert(table.notes.begin(), shown.note);
  table.rows.resize(shown.points.size());
  for (const Column& column : with_varying_axes(presentation.columns, points)) {
    FilledColumn filled = fill(column, shown.points, presentation);
    if (is_empty(filled)) continue;
    if (const std::optional<std::string> common = common_value(column, points)) {
      table.caption += ", " + *common;
      continue;
    }
    add_column(table, std::move(filled.column), std::move(filled.cells));
  }
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const PointResult& point = *shown.points[i];
    if (!point.skipped) continue;
    table.rows[i].skipped =
        fmt::format("{}: {}", point.failed ? "failed" : "skipped", *point.skipped);
  }
  make_room_for_reasons(table);
  return table;
}

/// Divides the points by the value of a detail, in the order in which the values first come up.
/// Points that lack it, as failed ones do, stay with those before them.
std::vector<std::pair<std::string, Points>> divide(const Points& points,
                                                   const std::string& detail) {
  std::vector<std::pair<std::string, Points>> parts;
  for (const PointResult* point : points) {
    const std::string* value = detail.empty() ? nullptr : point->find_detail(detail);
    if (parts.empty() || (value && *value != parts.back().first)) {
      const std::string name = value ? *value : "";
      const auto known = std::ranges::find(parts, name, &std::pair<std::string, Points>::first);
      if (known != parts.end()) {
        known->second.push_back(point);
        continue;
      }
      parts.push_back({name, {}});
    }
    parts.back().second.push_back(point);
  }
  return parts;
}

}  // namespace

std::vector<Table> make_tables(const ExperimentResult& result,
                               const harness::Presentation& presentation, bool all_rows) {
  std::vector<Table> tables;
  for (const Backend backend : {Backend::emulated, Backend::host, Backend::log}) {
    Points points;
    for (const PointResult& point : result.points) {
      if (point.backend == backend) points.push_back(&point);
    }
    for (const auto& [name, members] : divide(points, presentation.table_of)) {
      const RowSample shown =
          all_rows ? RowSample{members, ""} : sample_rows(members, presentation.swept);
      tables.push_back(make_table(result, backend, name, members, presentation, shown));
    }
  }
  return tables;
}

std::vector<std::string> meanings_of(const Table& table) {
  std::vector<std::string> meanings;
  for (const TableColumn& column : table.columns) {
    if (!column.meaning.empty()) meanings.push_back(column.title + ": " + column.meaning);
  }
  return meanings;
}

}  // namespace howard::reports
