// SPDX-License-Identifier: Apache-2.0
#include "experiments/checks/fidelity_tables.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "engines/chip/calibration/bands.h"
#include "reports/tables/columns.h"
#include "reports/tables/format.h"

namespace howard::experiments {

namespace embedded {
extern const std::string_view not_modelled;
}  // namespace embedded

namespace {

using reports::Table;
using Texts = std::vector<std::string>;

Table bands_table(std::string_view architecture) {
  Texts kinds, known, sources;
  std::vector<std::optional<double>> errors;
  for (const calibration::Band& band : calibration::built_in_bands(architecture)) {
    kinds.push_back(band.name);
    errors.emplace_back(band.share);
    known.emplace_back(name_of(band.known));
    sources.push_back(band.source);
  }
  Table table{.caption = "how far an emulated time may be from the hardware's, by what it is of",
              .columns = {},
              .rows = {},
              .notes = {}};
  add_words(table, "time of", kinds);
  add_quantities(table, "expected error", "1", errors);
  add_words(table, "known", known);
  add_words(table, "rests on", sources);
  return table;
}

/// Returns the word before what a source names, such as "calibrated", "datasheet" or "unknown".
std::string knowledge_of(const chip::Constant& constant) {
  if (constant.is_calibrated()) return "calibrated";
  const std::string_view source = constant.source;
  if (source.starts_with("estimated")) return "by analogy";
  return std::string(source.substr(0, source.find(':')));
}

Table constants_table(const chip::Constants& constants) {
  Texts names, values, known, bounds, meanings, sources;
  for (const std::string& name : constants.names()) {
    const chip::Constant& constant = constants.at(name);
    names.push_back(name);
    values.push_back(fmt::format("{} {}", reports::format_exact(constant.value), constant.unit));
    known.push_back(knowledge_of(constant));
    bounds.push_back(constant.bounds ? fmt::format("{:.6g} to {:.6g}", constant.bounds->front(),
                                                   constant.bounds->back())
                                     : "");
    meanings.push_back(constant.meaning);
    sources.push_back(constant.source);
  }
  Table table{
      .caption = fmt::format("constants of {}", constants.name()),
      .columns = {},
      .rows = {},
      .notes = {"bounds: the values that a calibration may choose; run_experiment calibrate "
                "says how well each calibrated constant is known"}};
  add_words(table, "constant", names);
  add_words(table, "value", values);
  add_words(table, "known", known);
  add_words(table, "bounds", bounds);
  add_words(table, "meaning", meanings);
  add_words(table, "source", sources);
  return table;
}

Table not_modelled_table() {
  Texts what, effect;
  for (const auto& entry : nlohmann::json::parse(embedded::not_modelled)) {
    what.push_back(entry.at("what"));
    effect.push_back(entry.at("effect"));
  }
  Table table{
      .caption = "what the emulator does not model", .columns = {}, .rows = {}, .notes = {}};
  add_words(table, "what", what);
  add_words(table, "what follows", effect);
  return table;
}

}  // namespace

std::vector<Table> fidelity_tables(const chip::ProfileConstants& constants) {
  return {not_modelled_table(), bands_table(constants.chip.architecture()),
          constants_table(constants.chip), constants_table(constants.software)};
}

}  // namespace howard::experiments
