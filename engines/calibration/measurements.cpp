// SPDX-License-Identifier: Apache-2.0
#include "engines/calibration/measurements.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "engines/calibration/function_fit.h"

namespace howard::calibration {

// The build generates these from measurements/*.json.
namespace embedded {
extern const std::string_view program_dispatch;
extern const std::string_view matmul_traced;
extern const std::string_view exp_kernel;
extern const std::string_view op_kernels;
extern const std::string_view op_changes;
extern const std::string_view matmul_sweep;
extern const std::string_view mlp_host;
extern const std::string_view mlp_traced;
extern const std::string_view eltwise_kernels;
}  // namespace embedded

namespace {

using nlohmann::json;

constexpr std::string_view kSchema = "howard.measurements/1";

[[noreturn]] void fail(std::string_view origin, std::string value, std::string accepted) {
  throw Error({.attempted = "read measurements " + std::string(origin),
               .value = std::move(value),
               .accepted = std::move(accepted),
               .hint = ""});
}

std::string text_of(const json& object, const char* key, std::string_view origin) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string() || found->get<std::string>().empty()) {
    fail(origin, fmt::format("it lacks \"{}\"", key), "a non-empty text");
  }
  return found->get<std::string>();
}

std::vector<std::string> texts_of(const json& object, const char* key, std::string_view origin) {
  const auto found = object.find(key);
  const bool well = found != object.end() && found->is_array() &&
                    std::ranges::all_of(*found, [](const json& item) { return item.is_string(); });
  if (!well) fail(origin, fmt::format("it has no list \"{}\"", key), "a list of texts");
  return found->get<std::vector<std::string>>();
}

CoreGrid parse_grid(const std::string& text, std::string_view origin) {
  const std::vector<std::string> sides = split(text, 'x');
  const auto columns = parse_integer(sides.front());
  const auto rows = parse_integer(sides.back());
  if (sides.size() != 2 || !columns || !rows || *columns < 1 || *rows < 1 || *columns > 64 ||
      *rows > 64) {
    fail(origin, fmt::format("grid \"{}\"", text), "columns x rows of cores: \"8x7\"");
  }
  return {static_cast<int>(*columns), static_cast<int>(*rows)};
}

double seconds_per(const std::string& unit, std::string_view origin) {
  if (unit == "ns") return 1e-9;
  if (unit == "us") return 1e-6;
  if (unit == "ms") return 1e-3;
  fail(origin, fmt::format("unit \"{}\"", unit), "ns, us, ms");
}

std::vector<Measured> parse_measured(const json& document, std::string_view origin) {
  const auto found = document.find("measured");
  if (found == document.end() || !found->is_array() || found->empty()) {
    fail(origin, "it has no list \"measured\"", "the measured columns, at least one");
  }
  std::vector<Measured> measured;
  for (const json& entry : *found) {
    const auto tolerance = entry.find("tolerance");
    if (tolerance == entry.end() || !tolerance->is_number() || !(tolerance->get<double>() > 0)) {
      fail(origin, "a measured column has no \"tolerance\"", "a positive number: 0.1 is 10 %");
    }
    measured.push_back({.column = text_of(entry, "column", origin),
                        .seconds_per_unit = seconds_per(text_of(entry, "unit", origin), origin),
                        .tolerance = tolerance->get<double>()});
  }
  return measured;
}

void parse_rows(const json& document, std::string_view origin, MeasurementTable& table) {
  const auto rows = document.find("rows");
  if (rows == document.end() || !rows->is_array() || rows->empty()) {
    fail(origin, "it has no list \"rows\"", "at least one row");
  }
  for (const json& row : *rows) {
    if (!row.is_array() || row.size() != table.columns.size()) {
      fail(origin, fmt::format("row {} is {}", table.rows.size() + 1, row.dump()),
           fmt::format("a list of {} cells, one a column", table.columns.size()));
    }
    auto& cells = table.rows.emplace_back();
    for (const json& cell : row) {
      if (cell.is_number()) {
        cells.emplace_back(cell.get<double>());
      } else if (cell.is_string()) {
        cells.emplace_back(cell.get<std::string>());
      } else {
        fail(origin, fmt::format("cell {}", cell.dump()), "numbers and texts");
      }
    }
  }
  for (const Measured& quantity : table.measured) {
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      if (!(table.seconds(row, quantity) > 0)) {
        fail(origin, fmt::format("{} of row {} is not positive", quantity.column, row + 1),
             "positive times");
      }
    }
  }
  if (!table.fold.empty()) static_cast<void>(table.text(0, table.fold));
}

const std::variant<double, std::string>& cell(const MeasurementTable& table, std::size_t row,
                                              std::string_view column) {
  const auto found = std::ranges::find(table.columns, column);
  if (found == table.columns.end()) {
    fail(table.name, fmt::format("there is no column \"{}\"", column), join(table.columns, ", "));
  }
  return table.rows.at(row)[static_cast<std::size_t>(found - table.columns.begin())];
}

}  // namespace

double MeasurementTable::number(std::size_t row, std::string_view column) const {
  const auto* const value = std::get_if<double>(&cell(*this, row, column));
  if (value == nullptr) fail(name, fmt::format("{} of row {}", column, row + 1), "a number");
  return *value;
}

int MeasurementTable::count(std::size_t row, std::string_view column) const {
  const double value = number(row, column);
  if (value != std::floor(value) || std::abs(value) > 1e9) {
    fail(name, fmt::format("{} of row {} is {}", column, row + 1, value), "a whole number");
  }
  return static_cast<int>(value);
}

const std::string& MeasurementTable::text(std::size_t row, std::string_view column) const {
  const auto* const value = std::get_if<std::string>(&cell(*this, row, column));
  if (value == nullptr) fail(name, fmt::format("{} of row {}", column, row + 1), "a text");
  return *value;
}

double MeasurementTable::seconds(std::size_t row, const Measured& quantity) const {
  return number(row, quantity.column) * quantity.seconds_per_unit;
}

MeasurementTable parse_measurements(std::string_view text, std::string_view origin) {
  json document;
  try {
    document = json::parse(text);
  } catch (const json::exception& failure) {
    fail(origin, json_failure(failure.what()), "a JSON object");
  }
  if (!document.is_object() || document.value("schema", json()) != kSchema) {
    fail(origin, "it is no table of measurements",
         fmt::format("a JSON object with \"schema\": \"{}\"", kSchema));
  }
  MeasurementTable table{.name = text_of(document, "name", origin),
                         .kind = text_of(document, "kind", origin),
                         .title = text_of(document, "title", origin),
                         .source = text_of(document, "source", origin),
                         .hardware = text_of(document, "hardware", origin),
                         .grid = parse_grid(text_of(document, "grid", origin), origin),
                         .measured = parse_measured(document, origin),
                         .columns = texts_of(document, "columns", origin)};
  if (document.contains("fold")) table.fold = text_of(document, "fold", origin);
  if (document.contains("programs")) table.programs = texts_of(document, "programs", origin);
  parse_rows(document, origin, table);
  return table;
}

MeasurementTable function_measurements() {
  return parse_measurements(embedded::eltwise_kernels, "the built-in table of functions");
}

namespace {

/// Returns those rows of function_measurements() whose kernels are the profile's, as rows of the
/// programs whose constants they calibrate.
MeasurementTable calibrating_functions() {
  const MeasurementTable all = function_measurements();
  MeasurementTable table = all;
  table.name = "eltwise_2026";
  table.title =
      "elementwise ops of one tile and of 1024 tiles, those whose kernels are the profile's";
  table.rows.clear();
  const auto program = std::ranges::find(all.columns, "program") - all.columns.begin();
  for (std::size_t row = 0; row < all.rows.size(); ++row) {
    const std::string& calibrates = all.text(row, "calibrates");
    if (calibrates.empty()) continue;
    table.rows.push_back(all.rows[row]);
    table.rows.back()[static_cast<std::size_t>(program)] = calibrates;
  }
  return table;
}

}  // namespace

std::vector<MeasurementTable> built_in_measurements() {
  const std::array<std::string_view, 8> texts{embedded::program_dispatch, embedded::matmul_traced,
                                              embedded::exp_kernel,       embedded::op_kernels,
                                              embedded::op_changes,       embedded::matmul_sweep,
                                              embedded::mlp_host,         embedded::mlp_traced};
  std::vector<MeasurementTable> tables;
  for (const std::string_view text : texts) {
    tables.push_back(parse_measurements(text, "a built-in table"));
  }
  tables.insert(tables.begin() + 3, calibrating_functions());
  return tables;
}

}  // namespace howard::calibration
