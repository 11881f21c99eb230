// SPDX-License-Identifier: Apache-2.0
//
// Question: how far is the emulator from the silicon?
//
// Every row that the report published is shown beside the same experiment on the emulator, with
// what the row means for the model: calibration (a constant was fitted to it), prediction, or
// artefact (the published figure does not measure what its table says). A point is a row, a table,
// or all rows of a status. An error is that of the published metric, emulated / published - 1: with
// a time, + is a slower emulator, with a rate a faster one.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "engines/chip/calibration/error_summary.h"
#include "experiments/checks/fidelity_tables.h"
#include "experiments/checks/measured_rows.h"
#include "experiments/experiment.h"
#include "experiments/laboratory/experiment_list.h"
#include "harness/runner.h"
#include "reports/published/reference.h"

namespace howard::experiments {
namespace {

using harness::Backend;
using harness::CellSource;
using harness::Parameters;
using harness::PointResult;
using reports::ReferenceRow;
using reports::ReferenceTable;

/// Holds one published row and the experiment that reproduces it.
struct PublishedRow {
  std::shared_ptr<const harness::Experiment> experiment;
  std::string table;    ///< "matmul_sweep.1"
  std::string subject;  ///< What differs in it: "matmul_sweep.1/shape:128x128x128/dispatch:worker".
  harness::Reference reference;
  Parameters parameters;
  /// What the emulator takes, if the row is of a table of measurements and not of an experiment.
  std::optional<double> seconds = {};
};

/// Names a row of `table` by the parameters in which its rows differ.
std::string subject_of(const std::string& name, const ReferenceTable& table,
                       const ReferenceRow& row) {
  std::string subject = name;
  for (const auto& [axis, value] : row.parameters) {
    const bool common = std::ranges::all_of(table.rows, [&](const ReferenceRow& other) {
      return harness::find_parameter(other.parameters, axis) == value;
    });
    if (!common || table.rows.size() == 1) subject += fmt::format("/{}:{}", axis, value);
  }
  return subject;
}

std::vector<PublishedRow> rows_of(std::shared_ptr<const harness::Experiment> experiment) {
  std::vector<PublishedRow> rows;
  const std::vector<ReferenceTable> tables = reports::reference_tables(experiment->name());
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const std::string table = fmt::format("{}.{}", experiment->name(), i + 1);
    for (const ReferenceRow& row : tables[i].rows) {
      rows.push_back({.experiment = experiment,
                      .table = table,
                      .subject = subject_of(table, tables[i], row),
                      .reference = {.metric = tables[i].metric,
                                    .value = row.value,
                                    .unit = tables[i].unit,
                                    .source = tables[i].source,
                                    .status = row.status,
                                    .note = row.note},
                      .parameters = row.parameters});
    }
  }
  return rows;
}

/// Runs the row's point on the emulator. Axes that the row does not mention have their first value.
PointResult emulate(const PublishedRow& row) {
  if (row.seconds) {
    PointResult point{.backend = Backend::emulated};
    point.metrics.push_back({.name = "time", .value = *row.seconds, .unit = "s"});
    point.reference = row.reference;
    return point;
  }
  harness::PlanOptions options{.backends = {Backend::emulated}};
  for (const harness::Axis& axis : row.experiment->axes(Backend::emulated)) {
    const auto value = harness::find_parameter(row.parameters, axis.name);
    if (!value && axis.values.empty()) continue;
    options.overrides.push_back({axis.name, {value ? std::string(*value) : axis.values.front()}});
  }
  std::vector<PointResult> points =
      harness::run_points(*row.experiment, harness::plan_points(*row.experiment, options));
  points.front().reference = row.reference;
  return std::move(points.front());
}

/// Holds all rows and emulates each once, when it is first asked for.
class PublishedRows {
 public:
  explicit PublishedRows(std::vector<PublishedRow> rows) : rows_(std::move(rows)) {}

  const std::vector<PublishedRow>& rows() const { return rows_; }
  const PointResult& emulated(const PublishedRow& row) {
    const auto known = emulated_.find(row.subject);
    return known != emulated_.end() ? known->second
                                    : emulated_.emplace(row.subject, emulate(row)).first->second;
  }

 private:
  std::vector<PublishedRow> rows_;
  std::map<std::string, PointResult> emulated_;
};

/// Adds the published figure and the emulated one as times for the picture: a rate is the time of
/// one.
void add_both_values(const harness::Reference& reference, PointResult& found) {
  const harness::Metric* const metric = found.find_metric(reference.metric);
  if (metric == nullptr || reference.unit.empty()) return;
  const double value = metric->value;
  const bool is_rate = reference.unit == "1/s";  // the time of a FLOP would be none of a run
  if ((reference.unit != "s" && !is_rate) || !(value > 0) || !(reference.value > 0)) return;
  const auto time_of = [&](double quantity) { return is_rate ? 1 / quantity : quantity; };
  found.metrics.push_back(
      {.name = "published_time", .value = time_of(reference.value), .unit = "s"});
  found.metrics.push_back({.name = "emulated_time", .value = time_of(value), .unit = "s"});
}

void describe_row(PublishedRows& rows, const PublishedRow& row, PointResult& found) {
  const PointResult& point = rows.emulated(row);
  if (point.failed) {
    throw Error({.attempted = "emulate " + row.subject, .value = *point.skipped});
  }
  found = point;
  // PyTorch on a CPU has a row in the report's table, but not a row of the chip.
  if (point.skipped) found.details.emplace_back("not_emulated", *point.skipped);
  found.details.emplace_back("kind", "published rows");
  found.details.emplace_back("status", row.reference.status);
  found.details.emplace_back("table", row.table);
  found.details.emplace_back("source", row.reference.source);
  if (!row.reference.note.empty()) found.details.emplace_back("note", row.reference.note);
  add_both_values(row.reference, found);
}

/// Sums up the errors of several rows.
void describe_summary(PublishedRows& rows, const std::vector<const PublishedRow*>& summed,
                      PointResult& found) {
  std::vector<double> errors;
  std::size_t artefacts = 0;
  for (const PublishedRow* const row : summed) {
    const auto error = rows.emulated(*row).relative_error();
    if (row->reference.status == "artefact") {
      ++artefacts;
    } else if (error) {
      errors.push_back(*error);
    }
  }
  found.details = {{"kind", "summary"},
                   {"rows", std::to_string(summed.size())},
                   {"compared", std::to_string(errors.size())},
                   {"artefacts", std::to_string(artefacts)}};
  if (errors.empty()) return;
  const auto magnitude = [](double sum, double error) { return sum + std::abs(error); };
  const double sum = std::accumulate(errors.begin(), errors.end(), 0.0, magnitude);
  const auto count = static_cast<double>(errors.size());
  const calibration::ErrorSummary summary = calibration::summarise(std::move(errors));
  found.metrics = {{.name = "mean_error", .value = sum / count, .unit = "1"},
                   {.name = "median_error", .value = summary.median, .unit = "1"},
                   {.name = "p90_error", .value = summary.p90, .unit = "1"},
                   {.name = "worst_error", .value = summary.worst, .unit = "1"}};
}

harness::Presentation fidelity_presentation() {
  return {.columns = {{"subject", CellSource::parameter, "subject"},
                      {"status", CellSource::detail, "status"},
                      {"emulated", CellSource::compared},
                      {"published", CellSource::reference, ""},
                      {"error", CellSource::error, ""},
                      {"rows", CellSource::detail, "rows"},
                      {"compared", CellSource::detail, "compared"},
                      {"artefacts", CellSource::detail, "artefacts"},
                      {"mean |error|", CellSource::metric, "mean_error"},
                      {"median", CellSource::metric, "median_error"},
                      {"p90", CellSource::metric, "p90_error"},
                      {"worst", CellSource::metric, "worst_error"},
                      {"source", CellSource::detail, "source"},
                      {"caution", CellSource::detail, "note"}},
          .plots = {{.title = "Published times, and rates as the time of one, and the emulator's",
                     .x_label = "published",
                     .y_label = "emulated",
                     .x = "published_time",
                     .y = "emulated_time",
                     .series = {"table"},
                     .compares = true}},
          .table_of = "kind"};
}

/// Returns the published rows of all questions that the emulator answers or, for a chip of another
/// family, the measurements to which its constants were fitted; none if they belong to another
/// chip.
std::shared_ptr<PublishedRows> published_rows(const Box& box) {
  std::vector<PublishedRow> rows;
  if (chip::are_published(box->profiles())) {
    for (auto& experiment : emulated_experiments(box)) {
      std::ranges::move(rows_of(std::move(experiment)), std::back_inserter(rows));
    }
  } else if (box->profiles().chip.architecture != chip::load_profiles().chip.architecture) {
    for (MeasuredRow& row : measured_rows(box->constants())) {
      rows.push_back({.experiment = nullptr,
                      .table = std::move(row.table),
                      .subject = std::move(row.subject),
                      .reference = {.metric = "time",
                                    .value = row.measured,
                                    .unit = "s",
                                    .source = std::move(row.source),
                                    .status = "calibration",
                                    .note = ""},
                      .parameters = {},
                      .seconds = row.emulated});
    }
  }
  return std::make_shared<PublishedRows>(std::move(rows));
}

/// Returns what may be asked for: a row, a table, or all rows of a status.
std::vector<std::string> fidelity_subjects(const PublishedRows& rows) {
  std::vector<std::string> subjects;
  std::vector<std::string> tables;
  for (const PublishedRow& row : rows.rows()) {
    subjects.push_back(row.subject);
    if (std::ranges::find(tables, row.table) == tables.end()) tables.push_back(row.table);
  }
  std::ranges::move(tables, std::back_inserter(subjects));
  for (const char* const status : {"calibration", "prediction"}) {
    const auto has = [&](const PublishedRow& row) { return row.reference.status == status; };
    if (std::ranges::any_of(rows.rows(), has)) subjects.emplace_back(status);
  }
  subjects.emplace_back("all");
  return subjects;
}

}  // namespace

Experiment fidelity(const Box& box) {
  const auto rows = published_rows(box);
  const WordAxis subject("subject");
  return {.name = "fidelity",
          .question = "How far is the emulator from the silicon, for every published row?",
          .is_tool = true,
          .shares_work = true,
          .axes = {subject.of("a published row, a table, or all rows of a status",
                              fidelity_subjects(*rows))},
          .presentation = fidelity_presentation(),
          .prepare = [=](Backend, const Point& point) -> Prepared {
            if (rows->rows().empty()) {
              return harness::NotApplicable{
                  "the published rows are of the default chip and software, and these constants "
                  "are not"};
            }
            const std::string wanted = point[subject];
            std::vector<const PublishedRow*> summed;
            for (const PublishedRow& row : rows->rows()) {
              if (row.subject == wanted) {
                return finding([=, &row](PointResult& found) { describe_row(*rows, row, found); });
              }
              if (row.table == wanted || row.reference.status == wanted || wanted == "all") {
                summed.push_back(&row);
              }
            }
            return finding([=](PointResult& found) { describe_summary(*rows, summed, found); });
          },
          .page_tables = [=] { return fidelity_tables(box->constants()); }};
}

}  // namespace howard::experiments
