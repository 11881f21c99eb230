// SPDX-License-Identifier: Apache-2.0
#include "reports/published/reference.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace howard::reports {

namespace embedded {
extern const std::string_view all_reduce;
extern const std::string_view core_grid;
extern const std::string_view dispatch_gaps;
extern const std::string_view gpt2_full;
extern const std::string_view gpt2_trace;
extern const std::string_view gradient_check;
extern const std::string_view matmul_sweep;
extern const std::string_view mlp_engines;
extern const std::string_view shape_sweep;
extern const std::string_view two_queues;
}  // namespace embedded

namespace {

using nlohmann::ordered_json;

struct ReferenceFile {
  std::string_view experiment;
  const std::string_view* text;
};

constexpr std::array<ReferenceFile, 10> kFiles{{
    {"all_reduce", &embedded::all_reduce},
    {"core_grid", &embedded::core_grid},
    {"dispatch_gaps", &embedded::dispatch_gaps},
    {"gpt2_full", &embedded::gpt2_full},
    {"gpt2_trace", &embedded::gpt2_trace},
    {"gradient_check", &embedded::gradient_check},
    {"matmul_sweep", &embedded::matmul_sweep},
    {"mlp_engines", &embedded::mlp_engines},
    {"shape_sweep", &embedded::shape_sweep},
    {"two_queues", &embedded::two_queues},
}};

constexpr std::string_view kReferenceSchema = "howard.reference/1";
const std::array<std::string, 3> kStatuses{"calibration", "prediction", "artefact"};
const std::array<std::string, 4> kUnits{"s", "FLOP/s", "1", "count"};

/// Throws an Error with a place in a reference file: "matmul_sweep.json, table 1, row 3".
[[noreturn]] void fail(const std::string& place, const std::string& value,
                       const std::string& accepted) {
  throw Error({.attempted = "read published figures from " + place,
               .value = value,
               .accepted = accepted,
               .hint = ""});
}

const ordered_json& member(const ordered_json& object, const std::string& key,
                           const std::string& place) {
  const auto found = object.find(key);
  if (found == object.end()) fail(place, "no \"" + key + "\"", "an object that has it");
  return *found;
}

std::string text_member(const ordered_json& object, const std::string& key,
                        const std::string& place) {
  const ordered_json& value = member(object, key, place);
  if (!value.is_string()) fail(place, "\"" + key + "\": " + value.dump(), "a string");
  return value.get<std::string>();
}

std::string word_member(const ordered_json& object, const std::string& key,
                        std::span<const std::string> words, const std::string& place) {
  std::string word = text_member(object, key, place);
  if (std::ranges::find(words, word) == words.end()) {
    fail(place, key + " \"" + word + "\"", join(words, ", "));
  }
  return word;
}

const ordered_json& list_member(const ordered_json& object, const std::string& key,
                                const std::string& place) {
  const ordered_json& list = member(object, key, place);
  if (!list.is_array()) fail(place, "\"" + key + "\": " + list.dump(), "a list");
  return list;
}

void append_parameters(const ordered_json& object, const std::string& key, const std::string& place,
                       harness::Parameters& parameters) {
  const ordered_json& axes = member(object, key, place);
  if (!axes.is_object()) fail(place, "\"" + key + "\": " + axes.dump(), "an object");
  for (const auto& [axis, value] : axes.items()) {
    parameters.emplace_back(axis, text_member(axes, axis, place));
  }
}

ReferenceRow parse_row(const ordered_json& row, const harness::Parameters& common,
                       const std::string& place) {
  ReferenceRow parsed{.parameters = common,
                      .status = word_member(row, "status", kStatuses, place),
                      .note = text_member(row, "note", place)};
  append_parameters(row, "params", place, parsed.parameters);
  const ordered_json& value = member(row, "value", place);
  if (!value.is_number() || value.get<double>() <= 0) {
    fail(place, "value " + value.dump(), "a positive number");
  }
  parsed.value = value.get<double>();
  return parsed;
}

/// Returns a unit, which is empty for what ops compute.
std::string unit_member(const ordered_json& table, const std::string& place) {
  if (text_member(table, "unit", place).empty()) return "";
  return word_member(table, "unit", kUnits, place);
}

ReferenceTable parse_table(const ordered_json& table, const std::string& place) {
  const ordered_json& timing = member(table, "timing", place);
  ReferenceTable parsed{
      .title = text_member(table, "title", place),
      .source = text_member(table, "source", place),
      .true_source = text_member(table, "true_source", place),
      .timing = {.timed_region = text_member(timing, "timed_region", place),
                 .sync = text_member(timing, "sync", place),
                 .warmup = text_member(timing, "warmup", place),
                 .iterations = text_member(timing, "iterations", place),
                 .statistic = text_member(timing, "statistic", place)},
      .metric = text_member(table, "metric", place),
      .unit = unit_member(table, place),
  };
  harness::Parameters common;
  append_parameters(table, "common", place, common);
  const ordered_json& rows = list_member(table, "rows", place);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    parsed.rows.push_back(parse_row(rows.at(i), common, fmt::format("{}, row {}", place, i + 1)));
  }
  return parsed;
}

/// These axes are in no published table, with the values at which a point is what it is without
/// them; where there is no such value, a point with the axis is none of a table.
const std::array<std::pair<std::string, std::string>, 15> kUnpublishedAxes{{
    {"trace", "no"},
    {"queues", "1"},
    {"fused", "no"},
    {"grid", "default"},
    {"config", ""},
    {"weights", ""},
    {"output", ""},
    {"dim", "384"},
    {"sequence", "256"},
    {"heads", "6"},
    {"ffn", "1536"},
    {"vocabulary", "256"},
    {"gelu_backward", "fused"},
    {"layernorm", "fused"},
    {"optimizer", "composite"},
}};

bool matches(const ReferenceRow& row, const harness::Parameters& parameters) {
  const bool is_row = std::ranges::all_of(row.parameters, [&](const auto& wanted) {
    return harness::find_parameter(parameters, wanted.first) == wanted.second;
  });
  return is_row && std::ranges::all_of(kUnpublishedAxes, [&](const auto& axis) {
           const bool published = harness::find_parameter(row.parameters, axis.first).has_value();
           return published ||
                  harness::find_parameter(parameters, axis.first).value_or(axis.second) ==
                      axis.second;
         });
}

std::optional<harness::Reference> find_reference(std::span<const ReferenceTable> tables,
                                                 const harness::Parameters& parameters) {
  for (const ReferenceTable& table : tables) {
    for (const ReferenceRow& row : table.rows) {
      if (!matches(row, parameters)) continue;
      return harness::Reference{.metric = table.metric,
                                .value = row.value,
                                .unit = table.unit,
                                .source = table.source,
                                .status = row.status,
                                .note = row.note};
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<ReferenceTable> parse_reference_tables(std::string_view file, std::string_view text) {
  const std::string place(file);
  const ordered_json content = ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (content.is_discarded()) fail(place, "a text that is not JSON", std::string(kReferenceSchema));
  if (const std::string schema = text_member(content, "schema", place);
      schema != kReferenceSchema) {
    fail(place, "schema \"" + schema + "\"", std::string(kReferenceSchema));
  }
  if (const std::string name = text_member(content, "experiment", place); name + ".json" != file) {
    fail(place, "experiment \"" + name + "\"", "the experiment the file is named after");
  }
  std::vector<ReferenceTable> tables;
  const ordered_json& list = list_member(content, "tables", place);
  for (std::size_t i = 0; i < list.size(); ++i) {
    tables.push_back(parse_table(list.at(i), fmt::format("{}, table {}", place, i + 1)));
  }
  return tables;
}

std::vector<std::string> experiments_with_references() {
  std::vector<std::string> names;
  for (const ReferenceFile& file : kFiles) names.emplace_back(file.experiment);
  return names;
}

std::vector<ReferenceTable> reference_tables(std::string_view experiment) {
  const auto file = std::ranges::find(kFiles, experiment, &ReferenceFile::experiment);
  if (file == kFiles.end()) return {};
  return parse_reference_tables(fmt::format("{}.json", experiment), *file->text);
}

void attach_references(harness::ExperimentResult& result) {
  const std::vector<ReferenceTable> tables = reference_tables(result.experiment);
  for (harness::PointResult& point : result.points) {
    auto found = find_reference(tables, point.parameters);
    // Times and rates belong to another machine; what an op computes does not.
    const bool same_machine =
        point.backend == harness::Backend::emulated && result.context.published_chip;
    const bool comparable = same_machine || (found && found->unit.empty());
    if (found && comparable) point.reference = std::move(found);
  }
}

std::optional<double> published_value(const harness::PointResult& point, std::string_view metric) {
  if (!point.reference) return std::nullopt;
  const harness::Reference& reference = *point.reference;
  if (reference.metric == metric) return reference.value;
  const harness::Metric* wanted = point.find_metric(metric);
  const harness::Metric* published = point.find_metric(reference.metric);
  if (wanted == nullptr || published == nullptr || reference.value == 0) return std::nullopt;
  const bool time_and_rate = (wanted->unit == "s" && reference.unit.ends_with("/s")) ||
                             (wanted->unit.ends_with("/s") && reference.unit == "s");
  if (!time_and_rate) return std::nullopt;
  return wanted->value * (published->value / reference.value);
}

}  // namespace howard::reports
