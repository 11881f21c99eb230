// SPDX-License-Identifier: Apache-2.0
//
// Question: what are the constants that nobody publishes, and how far is the emulator from the
// silicon?
//
// Every constant that its profile calls calibrated is fitted, within its bounds, to published
// measurements of Wormhole chips, all constants at once. A point is a table of measurements, with
// its errors before and after the fit and on rows that the fit has not seen, or a constant, with
// how well it is known. The first point fits; the fitted profiles are files beside the results.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "engines/chip/calibration/calibration.h"
#include "engines/chip/calibration/error_summary.h"
#include "engines/chip/calibration/function_fit.h"
#include "engines/chip/profiles/profile.h"
#include "experiments/axes/axes.h"
#include "experiments/cases/finding.h"
#include "experiments/laboratory/experiment_list.h"

namespace howard::experiments {
namespace {

using calibration::Calibration;
using calibration::ErrorSummary;
using calibration::Identified;
using calibration::MeasurementTable;
using harness::Backend;
using harness::CellSource;
using harness::NotApplicable;
using harness::Parameters;
using harness::PointResult;

/// Tables with fewer rows say too little about one another's rows to be fitted in thirds.
constexpr std::size_t kLeastRowsForThirds = 30;

/// This subject stands for all elementwise functions; it is the name of their table.
constexpr std::string_view kFunctions = "eltwise_kernels";

std::string subject_of(const MeasurementTable& table, std::size_t quantity) {
  return table.measured.size() == 1 ? table.name
                                    : table.name + "." + table.measured[quantity].column;
}

void add_ratio(PointResult& point, std::string name, double value) {
  point.metrics.push_back({.name = std::move(name), .value = value, .unit = "1"});
}

void add_errors(PointResult& point, const std::string& prefix, const ErrorSummary& errors) {
  add_ratio(point, prefix + "median_error", errors.median);
  add_ratio(point, prefix + "mean_error", errors.mean);
  add_ratio(point, prefix + "p90_error", errors.p90);
  add_ratio(point, prefix + "worst_error", errors.worst);
}

/// Makes the fit when the first point needs it, and makes it anew for another number of
/// evaluations.
class SharedFit {
 public:
  SharedFit(chip::ProfileConstants constants, std::vector<MeasurementTable> tables)
      : constants_(std::move(constants)), tables_(std::move(tables)) {}

  const chip::ProfileConstants& constants() const { return constants_; }
  const std::vector<MeasurementTable>& tables() const { return tables_; }

  const Calibration& get(int evaluations) {
    if (!calibration_ || evaluations != evaluations_) {
      calibration_ = std::make_unique<Calibration>(constants_, tables_, evaluations);
      evaluations_ = evaluations;
      unseen_.clear();
    }
    return *calibration_;
  }

  /// Holds a table's residuals in fits that have not seen them.
  struct Unseen {
    std::vector<calibration::Residual> table_left_out;
    std::vector<calibration::Residual> in_thirds;  ///< Empty for a small table.
  };
  const Unseen& unseen(int evaluations, std::size_t table) {
    const Calibration& calibration = get(evaluations);
    const auto known = unseen_.find(table);
    if (known != unseen_.end()) return known->second;
    Unseen unseen{.table_left_out = calibration.without_table(table)};
    if (tables_[table].rows.size() >= kLeastRowsForThirds) {
      unseen.in_thirds = calibration.in_thirds(table);
    }
    return unseen_.emplace(table, std::move(unseen)).first->second;
  }

  /// Returns null before any point has run.
  const Calibration* made() const { return calibration_.get(); }

 private:
  chip::ProfileConstants constants_;
  std::vector<MeasurementTable> tables_;
  int evaluations_ = 0;
  std::unique_ptr<Calibration> calibration_;
  std::map<std::size_t, Unseen> unseen_;
};

class TableFinding final : public Finding {
 public:
  TableFinding(std::shared_ptr<SharedFit> fit, int evaluations, std::size_t table,
               std::size_t quantity)
      : fit_(std::move(fit)), evaluations_(evaluations), table_(table), quantity_(quantity) {}

  void run() override {
    const Calibration& calibration = fit_->get(evaluations_);
    const MeasurementTable& table = fit_->tables()[table_];
    const auto summary = [&](const std::vector<calibration::Residual>& residuals) {
      return summarise(residuals, table_, quantity_);
    };
    found_.details = {{"kind", "tables of measurements"},
                      {"rows", std::to_string(table.rows.size())},
                      {"title", table.title},
                      {"source", table.source},
                      {"hardware", table.hardware}};
    add_errors(found_, "start_", summary(calibration.fit().residuals(calibration.start())));
    add_errors(found_, "", summary(calibration.fit().residuals(calibration.fitted())));
    const SharedFit::Unseen& unseen = fit_->unseen(evaluations_, table_);
    add_errors(found_, "left_out_", summary(unseen.table_left_out));
    if (!unseen.in_thirds.empty()) add_errors(found_, "in_thirds_", summary(unseen.in_thirds));
  }

 private:
  std::shared_ptr<SharedFit> fit_;
  int evaluations_;
  std::size_t table_;
  std::size_t quantity_;
};

/// Fits the elementwise functions, each of which has a constant that is fitted to its own rows
/// alone. Each row is left out once and predicted by the others of its function, where there are
/// any.
class FunctionsFinding final : public Finding {
 public:
  explicit FunctionsFinding(std::shared_ptr<SharedFit> fit) : fit_(std::move(fit)) {}

  void run() override {
    const MeasurementTable table = calibration::function_measurements();
    const chip::Profiles profiles = chip::read_profiles(fit_->constants());
    std::vector<double> worst;
    for (const auto& time : calibration::fit_functions(table, profiles)) {
      worst.push_back(time.worst_error);
    }
    found_.details = {{"kind", "tables of measurements"},
                      {"rows", std::to_string(table.rows.size())},
                      {"title", table.title},
                      {"source", table.source},
                      {"hardware", table.hardware}};
    add_errors(found_, "", calibration::summarise(std::move(worst)));
    add_errors(found_, "left_out_",
               calibration::summarise(calibration::left_out_errors(table, profiles)));
  }

 private:
  std::shared_ptr<SharedFit> fit_;
};

std::string in_words(Identified identified) {
  switch (identified) {
    case Identified::well:
      return "yes";
    case Identified::weakly:
      return "weakly";
    case Identified::at_least:
      return "no: at its lower bound";
    case Identified::at_most:
      return "no: at its upper bound";
    case Identified::flat:
      return "no: others make up for it";
    case Identified::unseen:
      return "no: no row depends on it";
  }
  return "";
}

class ConstantFinding final : public Finding {
 public:
  ConstantFinding(std::shared_ptr<SharedFit> fit, int evaluations, std::size_t constant)
      : fit_(std::move(fit)), evaluations_(evaluations), constant_(constant) {}

  void run() override {
    const Calibration& calibration = fit_->get(evaluations_);
    const auto& [name, of_chip, least, most] = calibration.fit().constants()[constant_];
    const auto& owner = of_chip ? fit_->constants().chip : fit_->constants().software;
    const std::string& unit = owner.at(name).unit;
    const double start = calibration.start()[constant_];
    const double fitted = calibration.fitted()[constant_];
    const calibration::Certainty certainty = calibration.certainty(constant_);
    std::vector<std::string> tables;
    for (const std::size_t table : certainty.tables) tables.push_back(fit_->tables()[table].name);
    found_.details = {{"kind", "calibrated constants"},
                      {"unit", unit},
                      {"bounds", fmt::format("{} to {}", least, most)},
                      {"start", fmt::format("{:.6g}", start)},
                      {"fitted", fmt::format("{}", fitted)},
                      {"identified", in_words(certainty.identified)},
                      {"tables", join(tables, ", ")},
                      {"meaning", owner.at(name).meaning}};
    found_.metrics = {{.name = "lower_bound", .value = least, .unit = unit},
                      {.name = "upper_bound", .value = most, .unit = unit},
                      {.name = "start_value", .value = start, .unit = unit},
                      {.name = "fitted_value", .value = fitted, .unit = unit}};
    if (certainty.uncertainty) add_ratio(found_, "uncertainty", *certainty.uncertainty);
  }

 private:
  std::shared_ptr<SharedFit> fit_;
  int evaluations_;
  std::size_t constant_;
};

std::string canonical_evaluations(std::string_view value) {
  const auto count = parse_integer(value);
  if (!count || *count < 1 || *count > 10'000'000) {
    throw Error({.attempted = "set axis evaluations",
                 .value = fmt::format("'{}'", value),
                 .accepted = "a whole number from 1 to 10000000",
                 .hint = "-a evaluations=20000"});
  }
  return std::to_string(*count);
}

class Calibrate final : public harness::Experiment {
 public:
  explicit Calibrate(const chip::ProfileChoice& choice)
      : fit_(std::make_shared<SharedFit>(load_constants(choice),
                                         calibration::built_in_measurements())),
        free_(calibration::free_constants(fit_->constants())) {}

  std::string_view name() const override { return "calibrate"; }
  std::string_view question() const override {
    return "What are the calibrated constants, and how well is each of them known?";
  }

  bool is_tool() const override { return true; }
  bool shares_work() const override { return true; }

  std::vector<harness::Axis> axes(Backend backend) const override {
    if (backend == Backend::host) return {};
    std::vector<std::string> subjects;
    for (const MeasurementTable& table : fit_->tables()) {
      for (std::size_t q = 0; q < table.measured.size(); ++q) {
        subjects.push_back(subject_of(table, q));
      }
    }
    subjects.emplace_back(kFunctions);
    for (const auto& constant : free_) subjects.push_back(constant.name);
    return {{.name = "evaluations",
             .meaning = "of the model, for the fit; half for each fit without some rows",
             .values = {"5000"},
             .quick_values = {"500"},
             .canonical = canonical_evaluations},
            harness::word_axis("subject", "tables of measurements and calibrated constants",
                               subjects, subjects)};
  }

  harness::VirtualTiming timing() const override { return {.warmup = 0, .iterations = 0}; }

  harness::Presentation presentation() const override {
    return {.columns = {{"evaluations", CellSource::parameter, "evaluations"},
                        {"subject", CellSource::parameter, "subject"},
                        {"rows", CellSource::detail, "rows"},
                        {"median", CellSource::metric, "median_error"},
                        {"mean", CellSource::metric, "mean_error"},
                        {"worst", CellSource::metric, "worst_error"},
                        {"before", CellSource::metric, "start_median_error"},
                        {"mean", CellSource::metric, "start_mean_error"},
                        {"worst", CellSource::metric, "start_worst_error"},
                        {"left out", CellSource::metric, "left_out_median_error"},
                        {"mean", CellSource::metric, "left_out_mean_error"},
                        {"worst", CellSource::metric, "left_out_worst_error"},
                        {"in thirds", CellSource::metric, "in_thirds_median_error"},
                        {"worst", CellSource::metric, "in_thirds_worst_error"},
                        {"unit", CellSource::detail, "unit"},
                        {"bounds", CellSource::detail, "bounds"},
                        {"start", CellSource::detail, "start"},
                        {"fitted", CellSource::detail, "fitted"},
                        {"±", CellSource::metric, "uncertainty"},
                        {"identified", CellSource::detail, "identified"},
                        {"seen in", CellSource::detail, "tables"}},
            .table_of = "kind"};
  }

  std::variant<std::unique_ptr<harness::Case>, NotApplicable> prepare(
      Backend /*backend*/, const Parameters& parameters) const override {
    const auto evaluations =
        static_cast<int>(*parse_integer(*harness::find_parameter(parameters, "evaluations")));
    const std::string_view subject = *harness::find_parameter(parameters, "subject");
    if (const auto table = table_of(subject)) {
      return std::make_unique<TableFinding>(fit_, evaluations, table->first, table->second);
    }
    if (subject == kFunctions) return std::make_unique<FunctionsFinding>(fit_);
    const auto constant =
        std::ranges::find(free_, subject, &calibration::FreeConstant::name) - free_.begin();
    return std::make_unique<ConstantFinding>(fit_, evaluations, static_cast<std::size_t>(constant));
  }

  std::string forewarning(std::span<const PointResult> points) const override {
    const double evaluations = evaluations_for(points);
    const double seconds = evaluations * seconds_of_an_evaluation();
    return fmt::format("about {:.0f} evaluations of the model, which take about {} here",
                       evaluations,
                       seconds < 90 ? fmt::format("{:.0f} s", std::ceil(seconds))
                                    : fmt::format("{:.0f} minutes", std::ceil(seconds / 60)));
  }

  std::vector<harness::Document> documents() const override {
    const Calibration* const made = fit_->made();
    if (made == nullptr) return {};
    const chip::ProfileConstants profiles = made->profiles();
    return {{"calibrated_chip.json", profiles.chip.to_json()},
            {"calibrated_software.json", profiles.software.to_json()},
            {"ttnn_functions.json",
             calibration::function_profile(calibration::fit_functions(
                 calibration::function_measurements(), chip::read_profiles(fit_->constants())))}};
  }

 private:
  /// Returns the table that is the subject; absent if the subject is a constant.
  std::optional<std::pair<std::size_t, std::size_t>> table_of(std::string_view subject) const {
    for (std::size_t t = 0; t < fit_->tables().size(); ++t) {
      const MeasurementTable& table = fit_->tables()[t];
      for (std::size_t q = 0; q < table.measured.size(); ++q) {
        if (subject == subject_of(table, q)) return std::pair(t, q);
      }
    }
    return std::nullopt;
  }

  /// Returns how often the fits that these points need, and share, evaluate the model.
  double evaluations_for(std::span<const PointResult> points) const {
    std::set<std::string_view> fits;
    std::set<std::pair<std::string_view, std::size_t>> left_out;
    double sum = 0;
    for (const PointResult& point : points) {
      const std::string_view value = *harness::find_parameter(point.parameters, "evaluations");
      const auto evaluations = static_cast<double>(*parse_integer(value));
      const std::string_view subject = *harness::find_parameter(point.parameters, "subject");
      if (subject == kFunctions) continue;  // they are fitted on their own, in no time
      if (fits.insert(value).second) sum += evaluations;
      const auto table = table_of(subject);
      if (!table) {
        sum += 2 * evaluations / calibration::kShareOfCertainty;
      } else if (left_out.insert({value, table->first}).second) {
        const bool in_thirds = fit_->tables()[table->first].rows.size() >= kLeastRowsForThirds;
        sum += (in_thirds ? 4 : 1) * evaluations / calibration::kShareWithoutRows;
      }
    }
    return sum;
  }

  double seconds_of_an_evaluation() const {
    constexpr int kTries = 20;
    const calibration::Fit fit(fit_->constants(), fit_->tables());
    const std::vector<double> values = fit.start_values();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kTries; ++i) {
      static_cast<void>(fit.objective(values, [](std::size_t, std::size_t) { return true; }));
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    return took.count() / kTries;
  }

  std::shared_ptr<SharedFit> fit_;
  std::vector<calibration::FreeConstant> free_;
};

}  // namespace

std::unique_ptr<harness::Experiment> calibrate(const chip::ProfileChoice& choice) {
  return std::make_unique<Calibrate>(choice);
}

}  // namespace howard::experiments
