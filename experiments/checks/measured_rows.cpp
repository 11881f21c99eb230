// SPDX-License-Identifier: Apache-2.0
#include "experiments/checks/measured_rows.h"

#include <fmt/format.h>

#include <map>
#include <variant>

#include "engines/chip/calibration/fit.h"

namespace howard::experiments {
namespace {

using calibration::Measured;
using calibration::MeasurementTable;

/// Returns the cells of a row that say what was measured.
std::string cells_of(const MeasurementTable& table, std::size_t row) {
  std::string text;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    bool is_time = table.columns[i] == "start_skew";
    for (const Measured& quantity : table.measured) is_time |= table.columns[i] == quantity.column;
    if (is_time) continue;
    const auto& cell = table.rows[row][i];
    const auto* const number = std::get_if<double>(&cell);
    text += number != nullptr ? fmt::format("/{}", *number)
                              : fmt::format("/{}", std::get<std::string>(cell));
  }
  return text;
}

}  // namespace

std::vector<MeasuredRow> measured_rows(const chip::ProfileConstants& constants) {
  std::vector<MeasurementTable> tables = calibration::built_in_measurements(constants.software);
  std::erase_if(tables, [&](const MeasurementTable& table) {
    return table.chip.empty() || table.chip != constants.chip.built_in();
  });
  if (tables.empty()) return {};
  const calibration::Fit fit(constants, tables);
  std::vector<MeasuredRow> rows;
  std::map<std::string, int> times;
  for (const calibration::Residual& residual : fit.residuals(fit.start_values())) {
    const MeasurementTable& table = tables[residual.table];
    const Measured& quantity = table.measured[residual.quantity];
    MeasuredRow row{.table = table.measured.size() == 1
                                 ? table.name
                                 : fmt::format("{}.{}", table.name, quantity.column),
                    .source = table.source,
                    .measured = table.seconds(residual.row, quantity)};
    row.subject = row.table + cells_of(table, residual.row);
    row.emulated = row.measured * (1 + residual.error);
    const int count = ++times[row.subject];
    if (count > 1) row.subject += fmt::format("/{}", count);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace howard::experiments
