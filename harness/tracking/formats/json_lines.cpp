// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/formats/json_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "base/json_node.h"

namespace howard::tracking {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kRunSchema = "howard.run/1";
constexpr std::string_view kRunKind = "JSON of schema howard.run/1";

std::string line_of(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

/// Returns the text's 64-bit FNV-1a checksum.
std::uint64_t checksum(std::string_view text) {
  std::uint64_t sum = 0xcbf29ce484222325;
  for (const char letter : text) {
    sum = (sum ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  }
  return sum;
}

constexpr std::tuple kConditionFields{
    json_field("machine", &Conditions::machine),   json_field("chip", &Conditions::chip),
    json_field("software", &Conditions::software), json_field("build", &Conditions::build),
    json_field("compiler", &Conditions::compiler), json_field("tool", &Conditions::tool),
    json_field("seed", &Conditions::seed),
};

constexpr std::tuple kRunFields{
    json_field("id", &Run::id, &JsonNode::filled_text),
    json_field("commit", &Run::commit),
    json_field("parent", &Run::parent),
    json_field("branch", &Run::branch),
    json_field("time", &Run::time),
    json_field("commit_time", &Run::commit_time),
};

/// Adds the members that `fields` lists to a JSON object, in that order.
template <class Struct, class... Fields>
void put(ordered_json& value, const Struct& object, const std::tuple<Fields...>& fields) {
  std::apply(
      [&](const auto&... field) { ((value[std::string(field.name)] = object.*field.place), ...); },
      fields);
}

ordered_json conditions_value(const Conditions& conditions, const Constants& constants) {
  ordered_json value;
  put(value, conditions, kConditionFields);
  if (!constants.empty()) value["constants"] = constants;
  return value;
}

void read_conditions(const JsonNode& node, Conditions& conditions, Constants& constants) {
  node.read(conditions, kConditionFields);
  constants.clear();
  if (!node.has("constants")) return;
  for (auto& [name, text] : node.member("constants").named_texts()) {
    constants.emplace(std::move(name), std::move(text));
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
  if (node.has("better") && node.member("better").word({"lower", "higher"}) == 1) {
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

JsonDocument parsed(std::string_view text, std::string_view source) {
  return JsonDocument(text, {.attempted = "read " + std::string(source),
                             .accepted = std::string(kRunKind),
                             .hint = "a file that history --export has written"});
}

}  // namespace

std::string conditions_json(const Conditions& conditions, const Constants& constants) {
  return line_of(conditions_value(conditions, constants));
}

void parse_conditions(std::string_view json, Conditions& conditions, Constants& constants) {
  read_conditions(parsed(json, "the database's conditions").root(), conditions, constants);
}

std::string run_line(const Run& run) {
  ordered_json value{{"schema", kRunSchema}};
  put(value, run, kRunFields);
  value["conditions"] = conditions_value(run.conditions, run.constants);
  ordered_json& rows = value["rows"] = ordered_json::array();
  for (const Row& row : run.rows) rows.push_back(row_value(row));
  return line_of(value);
}

std::string content_id(const Run& run) {
  Run measured{.conditions = run.conditions, .constants = run.constants, .rows = run.rows};
  std::ranges::stable_sort(measured.rows, {}, &Row::series);
  const auto is_measured = [](const Row& row) { return !row.samples.empty(); };
  const std::string origin = run.commit + '\n' + run.branch;
  std::string content = run_line(measured) + run.date;
  if (run.date.empty() && std::ranges::none_of(run.rows, is_measured)) content += origin;
  return fmt::format("{:016x}{:016x}", checksum(content), checksum(origin));
}

Run parse_run_line(std::string_view line, std::string_view source) {
  const JsonDocument document = parsed(line, source);
  const JsonNode node = document.root();
  node.require_schema(kRunSchema);
  Run run;
  node.read(run, kRunFields);
  read_conditions(node.member("conditions"), run.conditions, run.constants);
  node.member("rows").read(run.rows, read_row);
  return run;
}

}  // namespace howard::tracking
