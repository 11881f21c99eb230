// SPDX-License-Identifier: Apache-2.0
#include "reports/csv.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "harness/statistics.h"
#include "reports/csv_row.h"
#include "reports/format.h"

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
  Fields header{"experiment", "backend"};
  header.insert(header.end(), axes.begin(), axes.end());
  for (const char* name :
       {"metric", "value", "unit", "n", "median", "ci95_low", "ci95_high", "noise",
        "reference_value", "reference_status", "relative_error", "skipped"}) {
    header.emplace_back(name);
  }
  std::string text;
  append_csv_row(text, header);
  for (const ExperimentResult& result : results) {
    for (const PointResult& point : result.points) {
      Fields start{result.experiment, std::string(name_of(point.backend))};
      for (const std::string& axis : axes) {
        start.emplace_back(harness::find_parameter(point.parameters, axis).value_or(""));
      }
      for (const Metric& metric : point.metrics) {
        Fields row = start;
        for (std::string& field : metric_fields(point, metric)) row.push_back(std::move(field));
        row.resize(header.size());
        append_csv_row(text, row);
      }
      if (point.metrics.empty()) {
        start.resize(header.size());
        start.back() = point.skipped.value_or("");
        append_csv_row(text, start);
      }
      sink(text);
      text.clear();
    }
  }
  if (!text.empty()) sink(text);
}

}  // namespace howard::reports
