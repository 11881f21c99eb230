// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/calibration/function_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "base/text.h"
#include "engines/chip/calibration/model.h"

namespace howard::calibration {
namespace {

using chip::Profiles;

/// No function takes this long for a tile.
constexpr std::int64_t kMostCycles = 12'000;

/// Holds the rows of the functions that share a constant, and the model of them.
class FunctionRows {
 public:
  FunctionRows(MeasurementTable rows, std::string_view cost, const Profiles& profiles)
      : rows_(std::move(rows)), cost_(cost), profiles_(profiles), model_(make_model(rows_)) {}

  std::size_t count() const { return rows_.rows.size(); }

  /// Returns the relative errors if a tile takes `cycles`.
  std::vector<double> errors(std::int64_t cycles) {
    const SimTime time = SimTime::picoseconds(std::llround(
        static_cast<double>(cycles) * 1e12 / static_cast<double>(profiles_.chip.aiclk.value())));
    for (const EltwiseEntry& entry : eltwise_catalogue()) {
      if (entry.cost != cost_) continue;
      profiles_.software.tiles.functions.at(static_cast<std::size_t>(entry.function)) = time;
    }
    std::vector<double> seconds(count());
    model_->predict(profiles_, seconds);
    for (std::size_t row = 0; row < count(); ++row) {
      seconds[row] = seconds[row] / rows_.seconds(row, rows_.measured[0]) - 1;
    }
    return seconds;
  }

  double loss(std::int64_t cycles) {
    double sum = 0;
    for (const double error : errors(cycles)) sum += error * error;
    return sum;
  }

  /// Returns the largest number of cycles with the least loss. Times only grow with the cycles, so
  /// the loss falls, may stay level, and then rises.
  std::int64_t best() {
    std::int64_t low = 0;
    std::int64_t high = kMostCycles;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (loss(middle + 1) <= loss(middle)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

 private:
  MeasurementTable rows_;
  std::string_view cost_;
  Profiles profiles_;
  std::unique_ptr<Model> model_;
};

/// Returns the rows of each constant that is fitted to them alone.
std::map<std::string_view, MeasurementTable> rows_by_constant(const MeasurementTable& table) {
  std::map<std::string_view, MeasurementTable> rows_of;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const std::string name = split(table.text(row, "program"), ' ').front();
    const auto function = find_eltwise(name);
    if (!function) continue;
    const std::string_view cost = entry_of(*function).cost;
    // Constants that many functions share are calibrated together with everything else.
    if (cost == "fpu" || cost == "simple") continue;
    const auto [at, is_new] = rows_of.try_emplace(cost, table);
    if (is_new) at->second.rows.clear();
    at->second.rows.push_back(table.rows[row]);
  }
  return rows_of;
}

}  // namespace

std::vector<FunctionTime> fit_functions(const MeasurementTable& table, const Profiles& profiles) {
  std::map<std::string_view, MeasurementTable> rows_of = rows_by_constant(table);
  std::vector<FunctionTime> times;
  for (const EltwiseEntry& entry : eltwise_catalogue()) {
    const auto own = rows_of.extract(entry.cost);
    if (own.empty()) continue;
    FunctionRows rows(own.mapped(), entry.cost, profiles);
    FunctionTime time{.constant = fmt::format("tiles.{}", entry.cost),
                      .cycles = rows.best(),
                      .rows = rows.count()};
    for (const double error : rows.errors(time.cycles)) {
      time.worst_error = std::max(time.worst_error, std::abs(error));
    }
    times.push_back(std::move(time));
  }
  return times;
}

std::vector<double> left_out_errors(const MeasurementTable& table, const Profiles& profiles) {
  std::vector<double> errors;
  for (const auto& [cost, own] : rows_by_constant(table)) {
    if (own.rows.size() < 2) continue;
    for (std::size_t left_out = 0; left_out < own.rows.size(); ++left_out) {
      MeasurementTable seen = own;
      seen.rows.erase(seen.rows.begin() + static_cast<std::ptrdiff_t>(left_out));
      const std::int64_t cycles = FunctionRows(std::move(seen), cost, profiles).best();
      errors.push_back(FunctionRows(own, cost, profiles).errors(cycles).at(left_out));
    }
  }
  return errors;
}

namespace {

/// Returns which function a time is of, as a sentence's end.
std::string meaning_of(const std::string& function) {
  if (function != "identity") return function + ".";
  return "identity, a copy. The times of the other functions have it in them, so that a function "
         "which is fused to another op takes that much less.";
}

}  // namespace

std::string function_profile(const std::vector<FunctionTime>& times,
                             std::string_view architecture) {
  const bool is_blackhole = architecture == "blackhole";
  const std::string_view board = is_blackhole ? "p100a" : "N150";
  std::string text = fmt::format(
      "{{\n  \"schema\": \"howard.profile/1\",\n  \"name\": \"ttnn_functions_2026_07{}\",\n"
      "  \"kind\": \"software\",\n{}"
      "  \"meaning\": \"Times of ttnn's elementwise functions{} in the kernels of July "
      "2026, as the experiment calibrate fits them; other profiles extend it.\",\n"
      "  \"constants\": {{",
      is_blackhole ? "_blackhole" : "",
      is_blackhole ? "  \"architecture\": \"blackhole\",\n  \"extends\": "
                     "\"tt_metal_2025_12\",\n"
                   : "",
      is_blackhole ? " on Blackhole" : "");
  for (const FunctionTime& time : times) {
    text += fmt::format(
        "{}\n    \"{}\": {{\"value\": {}, \"unit\": \"cycles\", \"meaning\": \"Math time of one "
        "tile: {}\", \"source\": \"fitted on {} of eltwise_kernels ({}, July 2026), worst "
        "error {:.1f} %\"}}",
        text.back() == '{' ? "" : ",", time.constant, time.cycles,
        meaning_of(time.constant.substr(time.constant.find('.') + 1)),
        time.rows == 1 ? "1 row" : fmt::format("{} rows", time.rows), board,
        time.worst_error * 100);
  }
  return text + "\n  }\n}\n";
}

}  // namespace howard::calibration
