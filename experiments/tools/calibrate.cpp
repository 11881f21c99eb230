// SPDX-License-Identifier: Apache-2.0
//
// Question: what are the constants that nobody publishes, and how far is the emulator from the
// silicon?
//
// Every constant that its profile calls calibrated is fitted, within its bounds, to published
// measurements of chips of its family, all constants at once. A point is a table of measurements,
// with its errors before and after the fit and on rows that the fit has not seen, or a constant,
// with how well it is known. The first point fits; the fitted profiles are files beside the
// results.

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
#include "experiments/experiment.h"

namespace howard::experiments {
namespace {

using calibration::Calibration;
using calibration::ErrorSummary;
using calibration::Identified;
using calibration::MeasurementTable;
using harness::CellSource;
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

MeasurementTable functions_of(const SharedFit& fit) {
  return calibration::function_measurements(fit.constants().software.architecture());
}

/// Says of what measurements the row is.
void describe_measurements(const MeasurementTable& table, PointResult& found) {
  found.details = {{"kind", "tables of measurements"},
                   {"rows", std::to_string(table.rows.size())},
                   {"title", table.title},
                   {"source", table.source},
                   {"hardware", table.hardware}};
}

void describe_table(SharedFit& fit, int evaluations, std::size_t table, std::size_t quantity,
                    PointResult& found) {
  const Calibration& calibration = fit.get(evaluations);
  const auto summary = [&](const std::vector<calibration::Residual>& residuals) {
    return summarise(residuals, table, quantity);
  };
  describe_measurements(fit.tables()[table], found);
  add_errors(found, "start_", summary(calibration.fit().residuals(calibration.start())));
  add_errors(found, "", summary(calibration.fit().residuals(calibration.fitted())));
  const SharedFit::Unseen& unseen = fit.unseen(evaluations, table);
  add_errors(found, "left_out_", summary(unseen.table_left_out));
  if (!unseen.in_thirds.empty()) add_errors(found, "in_thirds_", summary(unseen.in_thirds));
}

/// Fits the elementwise functions, each of which has a constant that is fitted to its own rows
/// alone. Each row is left out once and predicted by the others of its function, where there are
/// any.
void describe_functions(const SharedFit& fit, PointResult& found) {
  const MeasurementTable table = functions_of(fit);
  const chip::Profiles profiles = chip::read_profiles(fit.constants());
  std::vector<double> worst;
  for (const auto& time : calibration::fit_functions(table, profiles)) {
    worst.push_back(time.worst_error);
  }
  describe_measurements(table, found);
  add_errors(found, "", calibration::summarise(std::move(worst)));
  add_errors(found, "left_out_",
             calibration::summarise(calibration::left_out_errors(table, profiles)));
}

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

void describe_constant(SharedFit& fit, int evaluations, std::size_t index, PointResult& found) {
  const Calibration& calibration = fit.get(evaluations);
  const auto& [name, of_chip, least, most] = calibration.fit().constants()[index];
  const auto& owner = of_chip ? fit.constants().chip : fit.constants().software;
  const std::string& unit = owner.at(name).unit;
  const double start = calibration.start()[index];
  const double fitted = calibration.fitted()[index];
  const calibration::Certainty certainty = calibration.certainty(index);
  std::vector<std::string> tables;
  for (const std::size_t table : certainty.tables) tables.push_back(fit.tables()[table].name);
  found.details = {{"kind", "calibrated constants"},
                   {"unit", unit},
                   {"bounds", fmt::format("{} to {}", least, most)},
                   {"start", fmt::format("{:.6g}", start)},
                   {"fitted", fmt::format("{}", fitted)},
                   {"identified", in_words(certainty.identified)},
                   {"tables", join(tables, ", ")},
                   {"meaning", owner.at(name).meaning}};
  found.metrics = {{.name = "lower_bound", .value = least, .unit = unit},
                   {.name = "upper_bound", .value = most, .unit = unit},
                   {.name = "start_value", .value = start, .unit = unit},
                   {.name = "fitted_value", .value = fitted, .unit = unit}};
  if (certainty.uncertainty) add_ratio(found, "uncertainty", *certainty.uncertainty);
}

const TypedAxis<int> kEvaluations{
    .name = "evaluations",
    .meaning = "of the model, for the fit; half for each fit without some rows",
    .parse =
        [](std::string_view value) {
          const auto count = parse_integer(value);
          if (!count || *count < 1 || *count > 10'000'000) {
            throw Error({.attempted = "set axis evaluations",
                         .value = fmt::format("'{}'", value),
                         .accepted = "a whole number from 1 to 10000000",
                         .hint = "-a evaluations=20000"});
          }
          return static_cast<int>(*count);
        },
    .print = [](const int& count) { return std::to_string(count); }};
const WordAxis kCalibrated("subject");

/// Returns the table and the quantity that are the subject; absent if the subject is a constant.
std::optional<std::pair<std::size_t, std::size_t>> table_of(const SharedFit& fit,
                                                            std::string_view subject) {
  for (std::size_t t = 0; t < fit.tables().size(); ++t) {
    const MeasurementTable& table = fit.tables()[t];
    for (std::size_t q = 0; q < table.measured.size(); ++q) {
      if (subject == subject_of(table, q)) return std::pair(t, q);
    }
  }
  return std::nullopt;
}

/// Returns how often the fits that these points need, and share, evaluate the model.
double evaluations_for(const SharedFit& fit, std::span<const PointResult> points) {
  std::set<int> fits;
  std::set<std::pair<int, std::size_t>> left_out;
  double sum = 0;
  for (const PointResult& result : points) {
    const Point point(result.parameters);
    const int count = point[kEvaluations];
    const double evaluations = count;
    const std::string subject = point[kCalibrated];
    if (subject == kFunctions) continue;  // they are fitted on their own, in no time
    if (fits.insert(count).second) sum += evaluations;
    const auto table = table_of(fit, subject);
    if (!table) {
      sum += 2 * evaluations / calibration::kShareOfCertainty;
    } else if (left_out.insert({count, table->first}).second) {
      const bool in_thirds = fit.tables()[table->first].rows.size() >= kLeastRowsForThirds;
      sum += (in_thirds ? 4 : 1) * evaluations / calibration::kShareWithoutRows;
    }
  }
  return sum;
}

double seconds_of_an_evaluation(const SharedFit& shared) {
  constexpr int kTries = 20;
  const calibration::Fit fit(shared.constants(), shared.tables());
  const std::vector<double> values = fit.start_values();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kTries; ++i) {
    static_cast<void>(fit.objective(values, [](std::size_t, std::size_t) { return true; }));
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return took.count() / kTries;
}

std::string warn_of_time(const SharedFit& fit, std::span<const PointResult> points) {
  const double evaluations = evaluations_for(fit, points);
  const double seconds = evaluations * seconds_of_an_evaluation(fit);
  return fmt::format("about {:.0f} evaluations of the model, which take about {} here", evaluations,
                     seconds < 90 ? fmt::format("{:.0f} s", std::ceil(seconds))
                                  : fmt::format("{:.0f} minutes", std::ceil(seconds / 60)));
}

/// Returns the profiles with the fitted constants, as files.
std::vector<harness::Document> fitted_profiles(const SharedFit& fit) {
  const Calibration* const made = fit.made();
  if (made == nullptr) return {};
  const chip::ProfileConstants profiles = made->profiles();
  return {{"calibrated_chip.json", profiles.chip.to_json()},
          {"calibrated_software.json", profiles.software.to_json()},
          {"ttnn_functions.json",
           calibration::function_profile(
               calibration::fit_functions(functions_of(fit), chip::read_profiles(fit.constants())),
               fit.constants().software.architecture())}};
}

harness::Presentation calibrate_presentation() {
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

std::vector<std::string> calibrated_subjects(const SharedFit& fit) {
  std::vector<std::string> subjects;
  for (const MeasurementTable& table : fit.tables()) {
    for (std::size_t q = 0; q < table.measured.size(); ++q) {
      subjects.push_back(subject_of(table, q));
    }
  }
  subjects.emplace_back(kFunctions);
  for (const auto& constant : calibration::free_constants(fit.constants())) {
    subjects.push_back(constant.name);
  }
  return subjects;
}

}  // namespace

Experiment calibrate(const Box& box) {
  const auto fit = std::make_shared<SharedFit>(
      box->constants(), calibration::built_in_measurements(box->constants().software));
  return {.name = "calibrate",
          .question = "What are the calibrated constants, and how well is each of them known?",
          .is_tool = true,
          .shares_work = true,
          .axes = {kEvaluations.with({"5000"}, {"500"}),
                   kCalibrated.of("tables of measurements and calibrated constants",
                                  calibrated_subjects(*fit))},
          .presentation = calibrate_presentation(),
          .prepare = [=](harness::Backend, const Point& point) -> Prepared {
            return finding([=, evaluations = point[kEvaluations],
                            subject = point[kCalibrated]](PointResult& found) {
              if (const auto table = table_of(*fit, subject)) {
                return describe_table(*fit, evaluations, table->first, table->second, found);
              }
              if (subject == kFunctions) return describe_functions(*fit, found);
              const auto free = calibration::free_constants(fit->constants());
              const auto constant =
                  std::ranges::find(free, subject, &calibration::FreeConstant::name) - free.begin();
              describe_constant(*fit, evaluations, static_cast<std::size_t>(constant), found);
            });
          },
          .forewarning = [=](auto points) { return warn_of_time(*fit, points); },
          .documents = [=] { return fitted_profiles(*fit); }};
}

}  // namespace howard::experiments
