// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/calibration/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace howard::calibration {
namespace {

constexpr std::size_t kThirds = 3;

/// Returns which third each row belongs to.
std::vector<std::size_t> thirds_of(const MeasurementTable& table) {
  std::vector<std::string> groups;
  std::vector<std::size_t> thirds;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const std::string group =
        table.fold.empty() ? std::to_string(row) : table.text(row, table.fold);
    const auto known = std::ranges::find(groups, group);
    thirds.push_back(static_cast<std::size_t>(known - groups.begin()) % kThirds);
    if (known == groups.end()) groups.push_back(group);
  }
  return thirds;
}

}  // namespace

Calibration::Calibration(const chip::ProfileConstants& start, std::vector<MeasurementTable> tables,
                         int evaluations)
    : fit_(start, std::move(tables)),
      evaluations_(evaluations),
      start_(fit_.start_values()),
      fitted_(fit_.rounded(fit_.minimise(start_, every_row, evaluations))) {
  if (fit_.objective(fitted_, every_row) > fit_.objective(start_, every_row)) fitted_ = start_;
}

std::vector<Residual> Calibration::unseen(std::size_t table, const RowFilter& sees) const {
  const std::vector<double> values =
      fit_.minimise(fit_.middle_values(), sees, std::max(1, evaluations_ / kShareWithoutRows));
  std::vector<Residual> residuals = fit_.residuals(values);
  std::erase_if(residuals, [&](const Residual& residual) {
    return residual.table != table || sees(residual.table, residual.row);
  });
  return residuals;
}

std::vector<Residual> Calibration::without_table(std::size_t table) const {
  return unseen(table, [&](std::size_t other, std::size_t /*row*/) { return other != table; });
}

std::vector<Residual> Calibration::in_thirds(std::size_t table) const {
  const std::vector<std::size_t> thirds = thirds_of(fit_.tables()[table]);
  std::vector<Residual> residuals;
  for (std::size_t third = 0; third < kThirds; ++third) {
    const auto part = unseen(table, [&](std::size_t other, std::size_t row) {
      return other != table || thirds[row] != third;
    });
    residuals.insert(residuals.end(), part.begin(), part.end());
  }
  return residuals;
}

Certainty Calibration::certainty(std::size_t constant) const {
  return certainty_of(fit_, constant, fitted_, std::max(1, evaluations_ / kShareOfCertainty));
}

chip::ProfileConstants Calibration::profiles() const {
  std::vector<std::string> sources;
  for (std::size_t i = 0; i < fit_.constants().size(); ++i) {
    std::string source;
    for (const std::size_t table : fit_.tables_that_depend_on(i, fitted_)) {
      const MeasurementTable& seen = fit_.tables()[table];
      source += fmt::format("{}{} ({} rows)", source.empty() ? "calibrated on " : ", ", seen.name,
                            seen.rows.size());
    }
    sources.push_back(std::move(source));
  }
  chip::ProfileConstants result = fit_.with(fitted_, sources);
  result.chip.rename(result.chip.name() + " calibrated");
  result.software.rename(result.software.name() + " calibrated");
  return result;
}

}  // namespace howard::calibration
