// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/calibration/measurements.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/json_node.h"
#include "base/text.h"
#include "engines/chip/calibration/function_fit.h"

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
extern const std::string_view shard_kernels;
extern const std::string_view blackhole_dispatch_2025_11;
extern const std::string_view blackhole_dispatch_2026_01;
extern const std::string_view blackhole_dispatch_2026_04;
extern const std::string_view blackhole_products_130;
extern const std::string_view blackhole_products_110;
extern const std::string_view blackhole_products_2025_11;
extern const std::string_view blackhole_products_p100a;
extern const std::string_view blackhole_chosen_products;
extern const std::string_view blackhole_spilled_products;
extern const std::string_view blackhole_shard_kernels;
extern const std::string_view blackhole_op_kernels;
extern const std::string_view blackhole_eltwise_kernels;
}  // namespace embedded

namespace {

constexpr std::string_view kSchema = "howard.measurements/1";

[[noreturn]] void fail(std::string_view table, std::string value, std::string accepted) {
  throw Error({.attempted = "read measurements " + std::string(table),
               .value = std::move(value),
               .accepted = std::move(accepted)});
}

CoreGrid read_grid(const JsonNode& node) {
  const std::vector<std::string> sides = split(node.text(), 'x');
  const auto columns = parse_integer(sides.front());
  const auto rows = parse_integer(sides.back());
  if (sides.size() != 2 || !columns || !rows || *columns < 1 || *rows < 1 || *columns > 64 ||
      *rows > 64) {
    node.fail("columns x rows of cores: \"8x7\"");
  }
  return {static_cast<int>(*columns), static_cast<int>(*rows)};
}

double read_seconds(const JsonNode& unit) {
  return std::array{1e-9, 1e-6, 1e-3}.at(unit.word({"ns", "us", "ms"}));
}

constexpr std::tuple kMeasuredFields{
    json_field("column", &Measured::column, &JsonNode::filled_text),
    json_field("unit", &Measured::seconds_per_unit, read_seconds),
    json_field("tolerance", &Measured::tolerance, &JsonNode::positive),
};

using MeasuredCell = std::variant<double, std::string>;

MeasuredCell read_cell(const JsonNode& node) {
  if (node.is_text()) return node.text();
  if (!node.is_number()) node.fail("a number or a text");
  return node.number();
}

std::vector<MeasuredCell> read_cells(const JsonNode& row) {
  std::vector<MeasuredCell> cells;
  row.read(cells, read_cell);
  return cells;
}

constexpr std::tuple kTableFields{
    json_field("name", &MeasurementTable::name, &JsonNode::filled_text),
    json_field("kind", &MeasurementTable::kind, &JsonNode::filled_text),
    json_field("title", &MeasurementTable::title, &JsonNode::filled_text),
    json_field("source", &MeasurementTable::source, &JsonNode::filled_text),
    json_field("hardware", &MeasurementTable::hardware, &JsonNode::filled_text),
    json_field("grid", &MeasurementTable::grid, read_grid),
    json_field("measured", &MeasurementTable::measured, kMeasuredFields),
    json_field("columns", &MeasurementTable::columns),
    json_field("rows", &MeasurementTable::rows, read_cells),
    optional_field("architecture", &MeasurementTable::architecture, &JsonNode::filled_text),
    optional_field("chip", &MeasurementTable::chip, &JsonNode::filled_text),
    optional_field("software", &MeasurementTable::software, &JsonNode::filled_text),
    optional_field("fold", &MeasurementTable::fold, &JsonNode::filled_text),
    optional_field("programs", &MeasurementTable::programs),
};

void require_sound(const JsonNode& document, const MeasurementTable& table) {
  if (table.measured.empty()) document.member("measured").fail("at least one measured column");
  const std::vector<JsonNode> rows = document.member("rows").items();
  if (rows.empty()) document.member("rows").fail("at least one row");
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (table.rows[row].size() != table.columns.size()) {
      rows[row].fail(fmt::format("a list of {} cells, one a column", table.columns.size()));
    }
    for (const Measured& quantity : table.measured) {
      if (!(table.seconds(row, quantity) > 0)) {
        rows[row].fail(fmt::format("a positive {}", quantity.column));
      }
    }
  }
  if (!table.fold.empty()) static_cast<void>(table.text(0, table.fold));
}

const MeasuredCell& cell(const MeasurementTable& table, std::size_t row, std::string_view column) {
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
  const JsonDocument document(
      text, {.attempted = "read measurements " + std::string(origin),
             .accepted = fmt::format("a JSON object with \"schema\": \"{}\"", kSchema)});
  document.root().require_schema(kSchema);
  MeasurementTable table;
  document.root().read(table, kTableFields);
  require_sound(document.root(), table);
  return table;
}

MeasurementTable shard_measurements(std::string_view architecture) {
  return parse_measurements(
      architecture == "blackhole" ? embedded::blackhole_shard_kernels : embedded::shard_kernels,
      "the built-in table of shards");
}

std::vector<MeasurementTable> chosen_products() {
  const MeasurementTable all =
      parse_measurements(embedded::blackhole_chosen_products, "the built-in table of products");
  std::vector<MeasurementTable> tables;
  for (std::size_t row = 0; row < all.rows.size(); ++row) {
    const std::string& chip = all.text(row, "chip");
    auto table = std::ranges::find(tables, chip, &MeasurementTable::chip);
    if (table == tables.end()) {
      tables.push_back(all);
      table = tables.end() - 1;
      table->chip = chip;
      table->rows.clear();
      table->grid = chip::load_profiles({.profiles = {chip}, .settings = {}})
                        .chip.compute_grid(chip::DispatchCoreType::worker);
    }
    table->rows.push_back(all.rows[row]);
  }
  return tables;
}

MeasurementTable spilled_products() {
  return parse_measurements(embedded::blackhole_spilled_products,
                            "the built-in table of spilled products");
}

MeasurementTable function_measurements(std::string_view architecture) {
  return parse_measurements(
      architecture == "blackhole" ? embedded::blackhole_eltwise_kernels : embedded::eltwise_kernels,
      "the built-in table of functions");
}

namespace {

/// Returns those rows of function_measurements() whose kernels are the profile's, as rows of the
/// programs whose constants they calibrate.
MeasurementTable calibrating_functions(std::string_view architecture) {
  const MeasurementTable all = function_measurements(architecture);
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

std::vector<MeasurementTable> built_in_measurements(const chip::Constants& software) {
  // They are reported in this order; the functions have no text of their own.
  constexpr std::size_t kFunctionsAt = 3;
  const std::array<std::string_view, 16> texts{embedded::program_dispatch,
                                               embedded::matmul_traced,
                                               embedded::exp_kernel,
                                               embedded::op_kernels,
                                               embedded::op_changes,
                                               embedded::matmul_sweep,
                                               embedded::mlp_host,
                                               embedded::mlp_traced,
                                               embedded::blackhole_dispatch_2025_11,
                                               embedded::blackhole_dispatch_2026_01,
                                               embedded::blackhole_dispatch_2026_04,
                                               embedded::blackhole_products_130,
                                               embedded::blackhole_products_110,
                                               embedded::blackhole_products_2025_11,
                                               embedded::blackhole_products_p100a,
                                               embedded::blackhole_op_kernels};
  std::vector<MeasurementTable> tables;
  for (const std::string_view text : texts) {
    MeasurementTable table = parse_measurements(text, "a built-in table");
    const bool is_of_version =
        table.software.empty() || software.built_in().starts_with(table.software);
    if (table.architecture == software.architecture() && is_of_version) {
      tables.push_back(std::move(table));
    }
  }
  const auto place = static_cast<std::ptrdiff_t>(std::min(kFunctionsAt, tables.size()));
  tables.insert(tables.begin() + place, calibrating_functions(software.architecture()));
  return tables;
}

}  // namespace howard::calibration
