// SPDX-License-Identifier: Apache-2.0
//
// Question: how far is the emulator from the silicon?
//
// Every row that the report published is shown beside the same experiment on the emulator, with
// what the row means for the model: calibration (a constant was fitted to it), prediction, or
// artefact (the published figure does not measure what its table says). A point is a row, a table,
// or all rows of a status.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "engines/chip/calibration/error_summary.h"
#include "experiments/axes/axes.h"
#include "experiments/cases/finding.h"
#include "experiments/laboratory/experiment_list.h"
#include "harness/runner.h"
#include "reports/published/reference.h"

namespace howard::experiments {
namespace {

using harness::Backend;
using harness::CellSource;
using harness::Experiment;
using harness::NotApplicable;
using harness::Parameters;
using harness::PointResult;
using reports::ReferenceRow;
using reports::ReferenceTable;

/// Holds one published row and the experiment that reproduces it.
struct PublishedRow {
  const Experiment* experiment = nullptr;
  std::string table;    ///< "matmul_sweep.1"
  std::string subject;  ///< What differs in it: "matmul_sweep.1/shape:128x128x128/dispatch:worker".
  harness::Reference reference;
  Parameters parameters;
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

std::vector<PublishedRow> rows_of(const Experiment& experiment) {
  std::vector<PublishedRow> rows;
  const std::vector<ReferenceTable> tables = reports::reference_tables(experiment.name());
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const std::string table = fmt::format("{}.{}", experiment.name(), i + 1);
    for (const ReferenceRow& row : tables[i].rows) {
      rows.push_back({.experiment = &experiment,
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

class RowFinding final : public Finding {
 public:
  RowFinding(std::shared_ptr<PublishedRows> rows, const PublishedRow& row)
      : rows_(std::move(rows)), row_(row) {}

  void run() override {
    const PointResult& point = rows_->emulated(row_);
    if (point.failed) {
      throw Error({.attempted = "emulate " + row_.subject, .value = *point.skipped});
    }
    found_ = point;
    // PyTorch on a CPU has a row in the report's table, but not a row of the chip.
    if (point.skipped) found_.details.emplace_back("not_emulated", *point.skipped);
    found_.details.emplace_back("kind", "published rows");
    found_.details.emplace_back("status", row_.reference.status);
    found_.details.emplace_back("table", row_.table);
    found_.details.emplace_back("source", row_.reference.source);
    if (!row_.reference.note.empty()) found_.details.emplace_back("note", row_.reference.note);
    // Adds the published figure as a coordinate for the picture.
    if (row_.reference.unit == "s") {
      found_.metrics.push_back(
          {.name = "published_time", .value = row_.reference.value, .unit = "s"});
    }
  }

 private:
  std::shared_ptr<PublishedRows> rows_;
  const PublishedRow& row_;
};

/// Sums up the errors of several rows.
class SummaryFinding final : public Finding {
 public:
  SummaryFinding(std::shared_ptr<PublishedRows> rows, std::vector<const PublishedRow*> summed)
      : rows_(std::move(rows)), summed_(std::move(summed)) {}

  void run() override {
    std::vector<double> errors;
    std::size_t artefacts = 0;
    for (const PublishedRow* const row : summed_) {
      const auto error = rows_->emulated(*row).relative_error();
      if (row->reference.status == "artefact") {
        ++artefacts;
      } else if (error) {
        errors.push_back(*error);
      }
    }
    found_.details = {{"kind", "summary"},
                      {"rows", std::to_string(summed_.size())},
                      {"compared", std::to_string(errors.size())},
                      {"artefacts", std::to_string(artefacts)}};
    if (errors.empty()) return;
    const auto magnitude = [](double sum, double error) { return sum + std::abs(error); };
    const double sum = std::accumulate(errors.begin(), errors.end(), 0.0, magnitude);
    const auto count = static_cast<double>(errors.size());
    const calibration::ErrorSummary summary = calibration::summarise(std::move(errors));
    const auto add = [&](std::string name, double value) {
      found_.metrics.push_back({.name = std::move(name), .value = value, .unit = "1"});
    };
    add("mean_error", sum / count);
    add("median_error", summary.median);
    add("p90_error", summary.p90);
    add("worst_error", summary.worst);
  }

 private:
  std::shared_ptr<PublishedRows> rows_;
  std::vector<const PublishedRow*> summed_;
};

class Fidelity final : public Experiment {
 public:
  Fidelity(const ExperimentList& experiments, bool published_chip)
      : published_chip_(published_chip) {
    std::vector<PublishedRow> rows;
    for (const auto& experiment : experiments) {
      if (!published_chip) break;
      std::ranges::move(rows_of(*experiment), std::back_inserter(rows));
    }
    rows_ = std::make_shared<PublishedRows>(std::move(rows));
  }

  std::string_view name() const override { return "fidelity"; }
  std::string_view question() const override {
    return "How far is the emulator from the silicon, for every published row?";
  }

  bool is_tool() const override { return true; }
  bool shares_work() const override { return true; }

  std::vector<harness::Axis> axes(Backend backend) const override {
    if (backend == Backend::host) return {};
    std::vector<std::string> subjects;
    std::vector<std::string> tables;
    for (const PublishedRow& row : rows_->rows()) {
      subjects.push_back(row.subject);
      if (std::ranges::find(tables, row.table) == tables.end()) tables.push_back(row.table);
    }
    std::ranges::move(tables, std::back_inserter(subjects));
    if (published_chip_) subjects.insert(subjects.end(), {"calibration", "prediction"});
    subjects.emplace_back("all");
    return {harness::word_axis("subject", "a published row, a table, or all rows of a status",
                               subjects, subjects)};
  }

  harness::VirtualTiming timing() const override { return {.warmup = 0, .iterations = 0}; }

  harness::Presentation presentation() const override {
    return {.columns = {{"subject", CellSource::parameter, "subject"},
                        {"status", CellSource::detail, "status"},
                        {"emulated", CellSource::metric, "time"},
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
            .plots = {{.title = "Published times and the emulator's",
                       .x_label = "published",
                       .y_label = "emulated",
                       .x = "published_time",
                       .y = "time",
                       .series = {"table"},
                       .compares = true}},
            .table_of = "kind"};
  }

  std::variant<std::unique_ptr<harness::Case>, NotApplicable> prepare(
      Backend /*backend*/, const Parameters& parameters) const override {
    if (!published_chip_) {
      return NotApplicable{
          "the published rows are of the default chip and software, and these constants are not"};
    }
    const std::string_view subject = *harness::find_parameter(parameters, "subject");
    std::vector<const PublishedRow*> summed;
    for (const PublishedRow& row : rows_->rows()) {
      if (row.subject == subject) return std::make_unique<RowFinding>(rows_, row);
      if (row.table == subject || row.reference.status == subject || subject == "all") {
        summed.push_back(&row);
      }
    }
    return std::make_unique<SummaryFinding>(rows_, std::move(summed));
  }

 private:
  bool published_chip_;
  std::shared_ptr<PublishedRows> rows_;
};

}  // namespace

std::unique_ptr<Experiment> fidelity(const ExperimentList& experiments, bool published_chip) {
  return std::make_unique<Fidelity>(experiments, published_chip);
}

}  // namespace howard::experiments
