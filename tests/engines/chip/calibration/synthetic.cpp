// SPDX-License-Identifier: Apache-2.0
#include "tests/engines/chip/calibration/synthetic.h"

#include <algorithm>

namespace howard::calibration::testing {

std::vector<MeasurementTable> tables_of(const std::vector<std::string>& names) {
  std::vector<MeasurementTable> tables = built_in_measurements();
  std::erase_if(tables, [&](const MeasurementTable& table) {
    return std::ranges::find(names, table.name) == names.end();
  });
  return tables;
}

std::vector<MeasurementTable> measured_with(
    const std::vector<std::pair<std::string, double>>& constants,
    std::vector<MeasurementTable> tables) {
  const Fit truth(chip::load_constants(), tables);
  std::vector<double> values = truth.start_values();
  for (const auto& [name, value] : constants) values[place_of(truth, name)] = value;
  for (const Residual& residual : truth.residuals(values)) {
    MeasurementTable& table = tables[residual.table];
    const std::string& column = table.measured[residual.quantity].column;
    const auto place = std::ranges::find(table.columns, column) - table.columns.begin();
    auto& cell = table.rows[residual.row][static_cast<std::size_t>(place)];
    cell = std::get<double>(cell) * (1 + residual.error);
  }
  return tables;
}

std::size_t place_of(const Fit& fit, std::string_view constant) {
  const auto found = std::ranges::find(fit.constants(), constant, &FreeConstant::name);
  return static_cast<std::size_t>(found - fit.constants().begin());
}

}  // namespace howard::calibration::testing
