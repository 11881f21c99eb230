// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/json_lines.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_depth.h"
#include "base/text.h"
#include "reports/formats/json_node.h"

namespace howard::tracking {
namespace {

using nlohmann::ordered_json;
using reports::JsonNode;

constexpr std::string_view kRunSchema = "howard.run/1";
constexpr std::string_view kRunKind = "JSON of schema howard.run/1";

std::string line_of(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

ordered_json conditions_value(const Conditions& conditions, const Constants& constants) {
  ordered_json value{{"machine", conditions.machine},   {"chip", conditions.chip},
                     {"software", conditions.software}, {"build", conditions.build},
                     {"compiler", conditions.compiler}, {"tool", conditions.tool},
                     {"seed", conditions.seed}};
  if (!constants.empty()) value["constants"] = constants;
  return value;
}

void read_conditions(const JsonNode& node, Conditions& conditions, Constants& constants) {
  conditions = {.machine = node.member("machine").text(),
                .chip = node.member("chip").text(),
                .software = node.member("software").text(),
                .build = node.member("build").text(),
                .compiler = node.member("compiler").text(),
                .tool = node.member("tool").text(),
                .seed = node.member("seed").natural()};
  constants.clear();
  if (!node.has("constants")) return;
  for (const auto& [name, text] : node.member("constants").members()) {
    constants.emplace(name, text.text());
  }
}

ordered_json row_value(const Row& row) {
  ordered_json value{{"benchmark", row.series.benchmark},
                     {"metric", row.series.metric},
                     {"kind", name_of(row.series.kind)}};
  switch (row.series.kind) {
    case Kind::exact:
      value["picoseconds"] = row.picoseconds;
      break;
    case Kind::sampled:
      value["value"] = row.value;
      value["unit"] = row.series.unit;
      if (!row.samples.empty()) value["samples"] = row.samples;
      break;
    case Kind::words:
    case Kind::skipped:
    case Kind::failed:
      value["words"] = row.words;
      break;
  }
  if (row.series.better == harness::Better::higher) value["better"] = "higher";
  return value;
}

Row read_row(const JsonNode& node) {
  Row row{.series = {.benchmark = node.member("benchmark").text(),
                     .metric = node.member("metric").text(),
                     .unit = ""}};
  const JsonNode kind = node.member("kind");
  const auto known = kind_of(kind.text());
  if (!known) kind.fail("exact, sampled, words, skipped or failed");
  row.series.kind = *known;
  if (node.has("better") && !node.member("better").is_first("lower", "higher")) {
    row.series.better = harness::Better::higher;
  }
  if (*known == Kind::exact) {
    row.series.unit = "s";
    row.picoseconds = node.member("picoseconds").integer();
    row.value = static_cast<double>(row.picoseconds) * 1e-12;
  } else if (*known == Kind::sampled) {
    row.series.unit = node.member("unit").text();
    row.value = node.member("value").number();
    if (node.has("samples")) row.samples = node.member("samples").numbers();
  } else {
    row.words = node.member("words").text();
  }
  return row;
}

ordered_json parsed(std::string_view text, std::string_view source) {
  require_json_depth(text, "read " + std::string(source));
  try {
    return ordered_json::parse(text);
  } catch (const ordered_json::exception& failure) {
    throw Error({.attempted = "read " + std::string(source),
                 .value = json_failure(failure.what()),
                 .accepted = std::string(kRunKind),
                 .hint = "a file that history --export has written"});
  }
}

}  // namespace

std::string conditions_json(const Conditions& conditions, const Constants& constants) {
  return line_of(conditions_value(conditions, constants));
}

void parse_conditions(std::string_view json, Conditions& conditions, Constants& constants) {
  const ordered_json value = parsed(json, "the database's conditions");
  read_conditions(JsonNode(value, "the database's conditions", kRunKind), conditions, constants);
}

std::string run_line(const Run& run) {
  ordered_json value{{"schema", kRunSchema},          {"id", run.id},
                     {"commit", run.commit},          {"parent", run.parent},
                     {"branch", run.branch},          {"time", run.time},
                     {"commit_time", run.commit_time}};
  value["conditions"] = conditions_value(run.conditions, run.constants);
  ordered_json& rows = value["rows"] = ordered_json::array();
  for (const Row& row : run.rows) rows.push_back(row_value(row));
  return line_of(value);
}

Run parse_run_line(std::string_view line, std::string_view source) {
  const ordered_json value = parsed(line, source);
  const JsonNode node(value, source, kRunKind);
  const JsonNode schema = node.member("schema");
  if (schema.text() != kRunSchema) schema.fail("\"" + std::string(kRunSchema) + "\"");
  Run run{.id = node.member("id").text(),
          .commit = node.member("commit").text(),
          .parent = node.member("parent").text(),
          .branch = node.member("branch").text(),
          .time = node.member("time").integer(),
          .commit_time = node.member("commit_time").integer()};
  if (run.id.empty()) node.member("id").fail("an id");
  read_conditions(node.member("conditions"), run.conditions, run.constants);
  for (const JsonNode& row : node.member("rows").items()) run.rows.push_back(read_row(row));
  return run;
}

}  // namespace howard::tracking
