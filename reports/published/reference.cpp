// SPDX-License-Identifier: Apache-2.0
#include "reports/published/reference.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/json_node.h"

namespace howard::reports {

// The build writes HOWARD_PUBLISHED(experiment) for each file of this folder.
namespace embedded {
#define HOWARD_PUBLISHED(experiment) extern const std::string_view experiment;
#include <published_names.inc>
#undef HOWARD_PUBLISHED
}  // namespace embedded

namespace {

struct ReferenceFile {
  std::string_view experiment;
  const std::string_view* text;
};

constexpr std::array kFiles{
#define HOWARD_PUBLISHED(experiment) ReferenceFile{#experiment, &embedded::experiment},
#include <published_names.inc>
#undef HOWARD_PUBLISHED
};

constexpr std::string_view kReferenceSchema = "howard.reference/1";

/// This stands for every value of an axis that does not concern a row.
constexpr std::string_view kAny = "any";

std::string read_status(const JsonNode& node) {
  node.word({"calibration", "prediction", "artefact"});
  return node.text();
}

/// Returns a unit, which is empty for what ops compute.
std::string read_unit(const JsonNode& node) {
  node.word({"s", "FLOP/s", "1/s", "1", "count", ""});
  return node.text();
}

constexpr std::tuple kRowFields{
    json_field("params", &ReferenceRow::parameters, &JsonNode::named_texts),
    json_field("value", &ReferenceRow::value, &JsonNode::positive),
    json_field("status", &ReferenceRow::status, read_status),
    json_field("note", &ReferenceRow::note),
};

constexpr std::tuple kTableFields{
    json_field("title", &ReferenceTable::title),
    json_field("source", &ReferenceTable::source),
    json_field("metric", &ReferenceTable::metric),
    json_field("unit", &ReferenceTable::unit, read_unit),
    json_field("rows", &ReferenceTable::rows, kRowFields),
    optional_field("chips", &ReferenceTable::chips),
    optional_field("software", &ReferenceTable::software, &JsonNode::filled_text),
};

ReferenceTable read_table(const JsonNode& node) {
  ReferenceTable table;
  node.read(table, kTableFields);
  const harness::Parameters common = node.member("common").named_texts();
  for (ReferenceRow& row : table.rows) {
    row.parameters.insert(row.parameters.begin(), common.begin(), common.end());
    std::erase_if(row.parameters, [&](const auto& parameter) {
      if (parameter.second != kAny) return false;
      row.any.push_back(parameter.first);
      return true;
    });
  }
  return table;
}

/// Returns whether a row says what the point has on each of its axes, apart from those that do not
/// concern it.
bool matches(const ReferenceRow& row, const harness::Parameters& parameters) {
  const bool is_row = std::ranges::all_of(row.parameters, [&](const auto& wanted) {
    return harness::find_parameter(parameters, wanted.first) == wanted.second;
  });
  return is_row && std::ranges::all_of(parameters, [&](const auto& parameter) {
           return harness::find_parameter(row.parameters, parameter.first) ||
                  std::ranges::find(row.any, parameter.first) != row.any.end();
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
  const JsonDocument document(text,
                              {.attempted = fmt::format("read published figures from {}", file),
                               .accepted = std::string(kReferenceSchema)});
  document.root().require_schema(kReferenceSchema);
  const JsonNode experiment = document.root().member("experiment");
  if (experiment.text() + ".json" != file) {
    experiment.fail("the experiment the file is named after");
  }
  std::vector<ReferenceTable> tables;
  document.root().member("tables").read(tables, read_table);
  return tables;
}

namespace {

std::vector<ReferenceTable> all_tables(std::string_view experiment) {
  const auto file = std::ranges::find(kFiles, experiment, &ReferenceFile::experiment);
  if (file == kFiles.end()) return {};
  return parse_reference_tables(fmt::format("{}.json", experiment), *file->text);
}

}  // namespace

std::vector<ReferenceTable> reference_tables(std::string_view experiment) {
  return reference_tables(experiment, harness::RunContext{});
}

std::vector<ReferenceTable> reference_tables(std::string_view experiment,
                                             const harness::RunContext& context) {
  std::vector<ReferenceTable> tables = all_tables(experiment);
  const bool built_in = context.chip.settings.empty() && context.software.settings.empty();
  std::erase_if(tables, [&](const ReferenceTable& table) {
    if (table.chips.empty()) return !context.published_chip;
    const bool is_of_chip =
        std::ranges::find(table.chips, context.chip.profile) != table.chips.end();
    return !(built_in && is_of_chip && context.software.profile == table.software);
  });
  return tables;
}

namespace {

/// Returns the tables of the chip that a point chose, which is not the one that the report
/// measured.
std::vector<ReferenceTable> tables_of(const std::string& experiment,
                                      const harness::EmulatedOn& own) {
  harness::RunContext context{.chip = own.chip, .software = own.software};
  context.published_chip = false;
  return reference_tables(experiment, context);
}

}  // namespace

void attach_references(harness::ExperimentResult& result) {
  const std::vector<ReferenceTable> tables = reference_tables(result.experiment, result.context);
  // Times and rates of another machine do not belong to it; what an op computes does.
  std::vector<ReferenceTable> of_any_machine = reference_tables(result.experiment);
  std::erase_if(of_any_machine, [](const ReferenceTable& table) { return !table.unit.empty(); });
  for (harness::PointResult& point : result.points) {
    std::optional<harness::Reference> found;
    if (point.own_chip) {
      found = find_reference(tables_of(result.experiment, *point.own_chip), point.parameters);
    } else if (point.backend == harness::Backend::emulated) {
      found = find_reference(tables, point.parameters);
    }
    if (!found) found = find_reference(of_any_machine, point.parameters);
    if (found) point.reference = std::move(found);
  }
}

std::optional<double> also_published(std::string_view experiment, const harness::PointResult& point,
                                     std::string_view metric) {
  if (!point.reference) return std::nullopt;
  std::vector<ReferenceTable> tables = all_tables(experiment);
  std::erase_if(tables, [&](const ReferenceTable& table) { return table.metric != metric; });
  const auto found = find_reference(tables, point.parameters);
  return found ? std::optional(found->value) : std::nullopt;
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
