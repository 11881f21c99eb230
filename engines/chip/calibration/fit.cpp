// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/calibration/fit.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "engines/chip/calibration/minimizer.h"

namespace howard::calibration {
namespace {

/// Returns the position between the bounds on a logarithmic scale, because constants are compared
/// as ratios.
double position_of(double value, const FreeConstant& constant) {
  return std::log(value / constant.least) / std::log(constant.most / constant.least);
}

double value_at(double position, const FreeConstant& constant) {
  const double value =
      constant.least * std::exp(position * std::log(constant.most / constant.least));
  return std::clamp(value, constant.least, constant.most);
}

double loss_of(double predicted, double measured, double tolerance) {
  const double r = std::log(predicted / measured) / tolerance;
  return 2 * (std::sqrt(1 + r * r) - 1);
}

void add_free(const chip::Constants& constants, bool of_chip, std::vector<FreeConstant>& result) {
  for (const std::string& name : constants.names()) {
    const auto& bounds = constants.at(name).bounds;
    if (bounds) {
      result.push_back(
          {.name = name, .of_chip = of_chip, .least = (*bounds)[0], .most = (*bounds)[1]});
    }
  }
}

}  // namespace

std::vector<FreeConstant> free_constants(const chip::ProfileConstants& constants) {
  std::vector<FreeConstant> result;
  add_free(constants.chip, true, result);
  add_free(constants.software, false, result);
  std::ranges::sort(result, {}, &FreeConstant::name);
  return result;
}

Fit::Fit(const chip::ProfileConstants& start, std::vector<MeasurementTable> tables)
    : start_(start), tables_(std::move(tables)), constants_(free_constants(start)) {
  for (const MeasurementTable& table : tables_) {
    const bool is_other = !table.chip.empty() && table.chip != start_.chip.built_in();
    if (is_other && !other_chips_.contains(table.chip)) {
      other_chips_.emplace(table.chip, chip::load_constants({{table.chip}, {}}).chip);
    }
    models_.push_back(make_model(table));
  }
}

std::vector<double> Fit::start_values() const {
  std::vector<double> values;
  for (const FreeConstant& constant : constants_) {
    const chip::Constants& owner = constant.of_chip ? start_.chip : start_.software;
    values.push_back(owner.at(constant.name).value);
  }
  return values;
}

std::vector<double> Fit::middle_values() const {
  std::vector<double> values;
  for (const FreeConstant& constant : constants_) values.push_back(value_at(0.5, constant));
  return values;
}

chip::ProfileConstants Fit::with(std::span<const double> values,
                                 std::span<const std::string> sources) const {
  HOWARD_CHECK(values.size() == constants_.size(), "a value for each free constant");
  chip::ProfileConstants result = start_;
  for (std::size_t i = 0; i < values.size(); ++i) {
    chip::Constants& owner = constants_[i].of_chip ? result.chip : result.software;
    owner.calibrate(constants_[i].name, values[i], sources.empty() ? "" : sources[i]);
  }
  return result;
}

std::vector<double> Fit::rounded(std::vector<double> values) const {
  constexpr int kDigits = 4;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double scale =
        std::pow(10.0, kDigits - 1 - static_cast<int>(std::floor(std::log10(values[i]))));
    values[i] =
        std::clamp(std::round(values[i] * scale) / scale, constants_[i].least, constants_[i].most);
  }
  return values;
}

chip::Profiles Fit::profiles_of(const std::string& chip, chip::ProfileConstants constants) const {
  const auto other = other_chips_.find(chip);
  if (other != other_chips_.end()) {
    chip::Constants measured = other->second;
    for (const FreeConstant& free : constants_) {
      if (free.of_chip && measured.at(free.name).bounds) {
        measured.calibrate(free.name, constants.chip.at(free.name).value);
      }
    }
    constants.chip = std::move(measured);
  }
  return read_profiles(constants);
}

std::vector<Residual> Fit::residuals(std::span<const double> values) const {
  const chip::ProfileConstants constants = with(values);
  std::map<std::string, chip::Profiles> profiles_of_chips;
  std::vector<Residual> result;
  std::vector<double> predicted;
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    const MeasurementTable& table = tables_[t];
    auto profiles = profiles_of_chips.find(table.chip);
    if (profiles == profiles_of_chips.end()) {
      profiles = profiles_of_chips.emplace(table.chip, profiles_of(table.chip, constants)).first;
    }
    predicted.assign(table.rows.size() * table.measured.size(), 0.0);
    models_[t]->predict(profiles->second, predicted);
    auto seconds = predicted.cbegin();
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      for (std::size_t q = 0; q < table.measured.size(); ++q) {
        const Measured& quantity = table.measured[q];
        const double measured = table.seconds(row, quantity);
        result.push_back({.table = t,
                          .row = row,
                          .quantity = q,
                          .error = *seconds / measured - 1,
                          .loss = loss_of(*seconds, measured, quantity.tolerance)});
        ++seconds;
      }
    }
  }
  return result;
}

double Fit::objective(std::span<const double> values, const RowFilter& sees) const {
  double sum = 0;
  for (const Residual& residual : residuals(values)) {
    if (sees(residual.table, residual.row)) sum += residual.loss;
  }
  return sum;
}

std::vector<std::size_t> Fit::tables_that_depend_on(std::size_t constant,
                                                    std::span<const double> values) const {
  std::vector<double> changed(values.begin(), values.end());
  changed[constant] = constants_[constant].least;
  const std::vector<Residual> low = residuals(changed);
  changed[constant] = constants_[constant].most;
  const std::vector<Residual> high = residuals(changed);
  std::vector<std::size_t> tables;
  for (std::size_t i = 0; i < low.size(); ++i) {
    const bool known = !tables.empty() && tables.back() == low[i].table;
    if (!known && low[i].loss != high[i].loss) tables.push_back(low[i].table);
  }
  return tables;
}

std::vector<std::size_t> Fit::that_matter(std::span<const double> values,
                                          const RowFilter& sees) const {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < constants_.size(); ++i) {
    std::vector<double> changed(values.begin(), values.end());
    changed[i] = constants_[i].least;
    const double low = objective(changed, sees);
    changed[i] = constants_[i].most;
    if (low != objective(changed, sees)) result.push_back(i);
  }
  return result;
}

std::vector<double> Fit::minimise(std::span<const double> from, const RowFilter& sees,
                                  int evaluations, std::optional<std::size_t> held) const {
  std::vector<double> values(from.begin(), from.end());
  // Move only constants that matter: there are fewer numbers to search, and nothing drifts where
  // nothing is measured.
  std::vector<std::size_t> moving = that_matter(from, sees);
  if (held) std::erase(moving, *held);
  const auto place = [&](const std::vector<double>& positions) {
    std::vector<double> placed = values;
    for (std::size_t i = 0; i < moving.size(); ++i) {
      placed[moving[i]] = value_at(positions[i], constants_[moving[i]]);
    }
    return placed;
  };
  std::vector<double> start;
  for (const std::size_t i : moving) start.push_back(position_of(values[i], constants_[i]));
  constexpr double kFirstStep = 0.1;
  return place(minimise_in_unit_box(
      [&](const std::vector<double>& positions) { return objective(place(positions), sees); },
      std::move(start), kFirstStep, evaluations));
}

}  // namespace howard::calibration
