// SPDX-License-Identifier: Apache-2.0
#include "reports/formats/csv.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/csv_writer.h"
#include "harness/statistics.h"
#include "reports/tables/cell_text.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

using harness::ExperimentResult;
using harness::Metric;
using harness::PointResult;
using Fields = std::vector<std::string>;

Fields axes_of(std::span<const ExperimentResult> results) {
  Fields axes;
  for (const ExperimentResult& result : results) {
    for (const PointResult& point : result.points) {
      for (const auto& [axis, value] : point.parameters) {
        if (std::ranges::find(axes, axis) == axes.end()) axes.push_back(axis);
      }
    }
  }
  return axes;
}

/// Returns the chip that a point chose and its facts in words.
std::vector<std::pair<std::string, std::string>> words_of(const PointResult& point) {
  auto words = point.details;
  if (point.own_chip) words.emplace(words.begin(), "chip", point.own_chip->chip.text());
  return words;
}

/// Returns the names of the facts in words that any point has. It leaves out a fact that an axis of
/// the same name already says.
Fields details_of(std::span<const ExperimentResult> results, const Fields& axes) {
  Fields details;
  for (const ExperimentResult& result : results) {
    for (const PointResult& point : result.points) {
      for (const auto& [detail, text] : words_of(point)) {
        if (std::ranges::find(axes, detail) != axes.end()) continue;
        if (std::ranges::find(details, detail) == details.end()) details.push_back(detail);
      }
    }
  }
  return details;
}

/// Returns the end of each row of a point: its details, and why it has no metrics.
Fields end_of(const PointResult& point, const Fields& details) {
  Fields fields;
  const auto words = words_of(point);
  for (const std::string& detail : details) {
    const auto text = std::ranges::find(words, detail, [](const auto& word) { return word.first; });
    fields.push_back(text == words.end() ? "" : text->second);
  }
  fields.push_back(point.metrics.empty() ? point.skipped.value_or("") : "");
  return fields;
}

std::string number(const std::optional<double>& value) { return value ? format_exact(*value) : ""; }

Fields metric_fields(const PointResult& point, const Metric& metric) {
  Fields fields{metric.name,
                format_exact(metric.value),
                metric.unit,
                std::to_string(metric.samples.size()),
                number(harness::median(metric.samples)),
                metric.ci95 ? format_exact(metric.ci95->front()) : "",
                metric.ci95 ? format_exact(metric.ci95->back()) : "",
                metric.samples.empty() ? "exact" : "sampled"};
  if (point.reference && point.reference->metric == metric.name) {
    fields.push_back(format_exact(point.reference->value));
    fields.push_back(point.reference->status);
    fields.push_back(number(point.relative_error()));
  }
  return fields;
}

}  // namespace

std::string csv(std::span<const ExperimentResult> results) {
  std::string text;
  write_csv(results, [&](std::string_view piece) { text += piece; });
  return text;
}

void write_csv(std::span<const ExperimentResult> results, const TextSink& sink) {
  const Fields axes = axes_of(results);
  const Fields details = details_of(results, axes);
  const auto append = [](Fields& fields, const Fields& more) {
    fields.insert(fields.end(), more.begin(), more.end());
  };
  Fields header{"experiment", "backend"};
  append(header, axes);
  append(header, {"metric", "value", "unit", "n", "median", "ci95_low", "ci95_high", "noise",
                  "reference_value", "reference_status", "relative_error"});
  const std::size_t details_begin = header.size();
  append(header, details);
  header.emplace_back("skipped");
  CsvWriter writer;
  const auto add_record = [&](const Fields& fields) {
    for (const std::string& field : fields) writer.add(spreadsheet_text(field));
    writer.end_record();
  };
  add_record(header);
  for (const ExperimentResult& result : results) {
    for (const PointResult& point : result.points) {
      Fields start{result.experiment, std::string(name_of(point.backend))};
      for (const std::string& axis : axes) {
        start.emplace_back(harness::find_parameter(point.parameters, axis).value_or(""));
      }
      const Fields end = end_of(point, details);
      const auto append_row = [&](const Fields& metric) {
        Fields row = start;
        append(row, metric);
        row.resize(details_begin);
        append(row, end);
        add_record(row);
      };
      for (const Metric& metric : point.metrics) append_row(metric_fields(point, metric));
      if (point.metrics.empty()) append_row({});
      sink(writer.take());
    }
  }
  if (const std::string rest = writer.take(); !rest.empty()) sink(rest);
}

}  // namespace howard::reports
