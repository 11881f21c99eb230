// SPDX-License-Identifier: Apache-2.0
#include "reports/formats/result_json.h"

#include <algorithm>
#include <array>
#include <climits>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/json_node.h"
#include "reports/formats/json_text.h"

namespace howard::reports {
namespace {

using harness::Backend;
using harness::Better;
using harness::ExperimentResult;
using harness::Metric;
using harness::PointResult;
using harness::Reference;
using harness::RunContext;
using Words = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view kResultSchema = "howard.result/1";
constexpr std::string_view kKind = "JSON of schema howard.result/1";

/// Adds members whose names are data, so that a name could come twice. A reader would see only one
/// of them.
class UniqueMembers {
 public:
  explicit UniqueMembers(JsonText& out) : out_(out) {}
  void add(const std::string& name) {
    HOWARD_CHECK(std::ranges::find(names_, name) == names_.end(),
                 "metrics, details and axes of a point have unique names");
    names_.emplace_back(name);
    out_.member(name);
  }

 private:
  JsonText& out_;
  std::vector<std::string_view> names_;
};

void put(JsonText& out, const std::string& text) { out.text(text); }
void put(JsonText& out, double value) { out.number(value); }
void put(JsonText& out, bool value) { out.boolean(value); }
void put(JsonText& out, int value) { out.integer(value); }
void put(JsonText& out, std::uint64_t value) { out.natural(value); }
void put(JsonText& out, SimTime time) { out.integer(time.ps()); }
void put(JsonText& out, Backend backend) { out.text(name_of(backend)); }
void put(JsonText& out, Better better) { out.text(better == Better::lower ? "lower" : "higher"); }
void put(JsonText& out, const harness::ProfileName& profile) { out.text(profile.text()); }

void put(JsonText& out, const Words& words) {
  out.begin('{');
  UniqueMembers members(out);
  for (const auto& [word, value] : words) {
    members.add(word);
    out.text(value);
  }
  out.end('}');
}

template <class Items>
requires requires(const Items& items) { items.front(); }
void put(JsonText& out, const Items& items) {
  out.begin('[');
  for (const auto& item : items) {
    out.item();
    put(out, item);
  }
  out.end(']');
}

template <class Struct, class... Fields>
void put_object(JsonText& out, const Struct& object, const std::tuple<Fields...>& fields);

/// Writes a value that `reader` reads: an object where it is a list of fields.
template <class Value, class Reader>
void put_as_read(JsonText& out, const Value& value, const Reader& reader) {
  if constexpr (requires { value.has_value(); }) {
    value ? put_as_read(out, *value, reader) : out.null();
  } else if constexpr (requires { std::tuple_size<Reader>::value; }) {
    put_object(out, value, reader);
  } else {
    put(out, value);
  }
}

/// Writes the members that `fields` lists, in that order. An empty one that is not required is left
/// out.
template <class Struct, class... Fields>
void put_members(JsonText& out, const Struct& object, const std::tuple<Fields...>& fields) {
  const auto put_member = [&](const auto& field) {
    const auto& value = object.*field.place;
    if constexpr (requires { value.empty(); }) {
      if (!field.required && value.empty()) return;
    } else if constexpr (requires { value.has_value(); }) {
      if (!field.required && !value) return;
    }
    out.member(field.name);
    put_as_read(out, value, field.reader);
  };
  std::apply([&](const auto&... field) { (put_member(field), ...); }, fields);
}

template <class Struct, class... Fields>
void put_object(JsonText& out, const Struct& object, const std::tuple<Fields...>& fields) {
  out.begin('{');
  put_members(out, object, fields);
  out.end('}');
}

void put_named(JsonText& out, std::string_view name, std::string_view text) {
  out.member(name);
  out.text(text);
}

// These lists are both what is read and what is written. What follows from other members stands
// between the two halves of a metric's, and the metrics between those of a point's.
constexpr std::tuple kMetricValue{json_field("value", &Metric::value),
                                  json_field("unit", &Metric::unit)};
constexpr std::tuple kMetricSamples{
    json_field("samples", &Metric::samples),
    json_field("ci95", &Metric::ci95,
               [](const JsonNode& node) -> std::optional<std::array<double, 2>> {
                 if (node.is_null()) return std::nullopt;
                 const std::vector<double> ends = node.numbers();
                 if (ends.size() != 2) node.fail("two numbers, or null");
                 return std::array{ends[0], ends[1]};
               }),
    json_field("better", &Metric::better,
               [](const JsonNode& node) {
                 return node.word({"lower", "higher"}) == 0 ? Better::lower : Better::higher;
               }),
    optional_field("picoseconds", &Metric::virtual_time,
                   [](const JsonNode& node) { return SimTime::picoseconds(node.integer()); }),
};

void put(JsonText& out, const Metric& metric, Backend backend) {
  const bool on_virtual_clock = metric.virtual_time || backend == Backend::emulated;
  out.begin('{');
  put_members(out, metric, kMetricValue);
  put_named(out, "clock", on_virtual_clock ? "virtual" : "wall");
  put_named(out, "noise", metric.samples.empty() ? "exact" : "sampled");
  put_members(out, metric, kMetricSamples);
  out.end('}');
}

Metric to_metric(const std::string& name, const JsonNode& object) {
  Metric metric{.name = name};
  object.read(metric, kMetricValue);
  object.read(metric, kMetricSamples);
  // What follows from the rest is checked, so that a file edited by hand cannot contradict itself.
  object.member("clock").word({"virtual", "wall"});
  const JsonNode noise = object.member("noise");
  if ((noise.word({"exact", "sampled"}) == 0) != metric.samples.empty()) {
    noise.fail("\"sampled\" with samples, \"exact\" without");
  }
  return metric;
}

constexpr std::tuple kReferenceFields{
    json_field("metric", &Reference::metric), json_field("value", &Reference::value),
    json_field("unit", &Reference::unit),     json_field("source", &Reference::source),
    json_field("status", &Reference::status), json_field("note", &Reference::note),
};

Backend to_backend(const JsonNode& word) {
  return std::array{Backend::emulated, Backend::host, Backend::log}.at(
      word.word({"emulated", "host", "log"}));
}

harness::ProfileName to_profile_name(const JsonNode& node) {
  return harness::ProfileName::read(node.text());
}

constexpr std::tuple kChipFields{
    json_field("chip_profile", &harness::EmulatedOn::chip, to_profile_name),
    json_field("software_profile", &harness::EmulatedOn::software, to_profile_name),
};

constexpr std::tuple kPointBegin{
    json_field("params", &PointResult::parameters, &JsonNode::named_texts),
    json_field("backend", &PointResult::backend, to_backend),
    optional_field("own_chip", &PointResult::own_chip, kChipFields),
    json_field("skipped", &PointResult::skipped),
    json_field("failed", &PointResult::failed),
};
constexpr std::tuple kPointEnd{
    json_field("details", &PointResult::details, &JsonNode::named_texts),
    json_field("warnings", &PointResult::warnings),
    json_field("reference", &PointResult::reference, kReferenceFields),
};

void put(JsonText& out, const PointResult& point) {
  out.begin('{');
  put_named(out, "id", point.id());
  put_members(out, point, kPointBegin);
  out.member("metrics");
  out.begin('{');
  UniqueMembers metrics(out);
  for (const Metric& metric : point.metrics) {
    metrics.add(metric.name);
    put(out, metric, point.backend);
  }
  out.end('}');
  put_members(out, point, kPointEnd);
  out.end('}');
}

PointResult to_point(const JsonNode& object) {
  PointResult point;
  object.read(point, kPointBegin);
  for (const auto& [name, metric] : object.member("metrics").members()) {
    // Until 0.1.0 the expected error had another name.
    point.metrics.push_back(to_metric(name == "band" ? "expected_error" : name, metric));
  }
  object.read(point, kPointEnd);
  return point;
}

constexpr std::tuple kContextFields{
    json_field("version", &RunContext::version),
    json_field("git", &RunContext::git),
    json_field("compiler", &RunContext::compiler),
    json_field("build_type", &RunContext::build_type),
    json_field("cpu", &RunContext::cpu),
    json_field("threads", &RunContext::threads,
               [](const JsonNode& node) { return static_cast<int>(node.integer(0, INT_MAX)); }),
    json_field("chip_profile", &RunContext::chip, to_profile_name),
    json_field("software_profile", &RunContext::software, to_profile_name),
    // A file of a version before this member has its references already.
    optional_field("published_chip", &RunContext::published_chip),
    optional_field("constants", &RunContext::constants, &JsonNode::named_texts),
    json_field("seed", &RunContext::seed),
    json_field("warnings", &RunContext::warnings),
};

constexpr std::tuple kResultFields{
    json_field("experiment", &ExperimentResult::experiment),
    json_field("context", &ExperimentResult::context, kContextFields),
    json_field("interrupted", &ExperimentResult::interrupted),
};

/// Holds a result, and its points wherever they are.
struct Part {
  const ExperimentResult* result = nullptr;
  std::vector<const PointResult*> points;
};

std::vector<Part> parts_of(std::span<const ExperimentResult> results) {
  std::vector<Part> parts;
  for (const ExperimentResult& result : results) {
    parts.push_back({&result, {}});
    for (const PointResult& point : result.points) parts.back().points.push_back(&point);
  }
  return parts;
}

/// Hands the text over point by point.
void write(JsonText& out, const Part& part, const TextSink& sink) {
  out.begin('{');
  put_named(out, "schema", kResultSchema);
  put_members(out, *part.result, kResultFields);
  out.member("points");
  out.begin('[');
  for (const PointResult* const point : part.points) {
    out.item();
    put(out, *point);
    sink(out.take());
  }
  out.end(']');
  out.end('}');
}

void write(std::span<const Part> parts, const TextSink& sink) {
  JsonText out;
  const bool list = parts.size() != 1;
  if (list) out.begin('[');
  for (const Part& part : parts) {
    if (list) out.item();
    write(out, part, sink);
  }
  if (list) out.end(']');
  sink(out.take() + "\n");
}

ExperimentResult to_result(const JsonNode& object) {
  object.require_schema(kResultSchema);
  ExperimentResult result;
  object.read(result, kResultFields);
  object.member("points").read(result.points, to_point);
  return result;
}

}  // namespace

std::string result_json(std::span<const ExperimentResult> results) {
  std::string text;
  write_result_json(results, [&](std::string_view piece) { text += piece; });
  return text;
}

void write_result_json(std::span<const ExperimentResult> results, const TextSink& sink) {
  write(parts_of(results), sink);
}

void write_result_json(std::span<const ExperimentResult> finished, const ExperimentResult& running,
                       std::vector<const PointResult*> points, const TextSink& sink) {
  std::vector<Part> parts = parts_of(finished);
  parts.push_back({&running, std::move(points)});
  write(parts, sink);
}

std::vector<ExperimentResult> parse_result_json(std::string_view text, std::string_view source) {
  const JsonDocument document(text, {.attempted = "read " + std::string(source),
                                     .accepted = std::string(kKind),
                                     .hint = "a file that a run wrote"});
  const JsonNode root = document.root();
  if (!root.is_array()) return {to_result(root)};
  std::vector<ExperimentResult> results;
  root.read(results, to_result);
  return results;
}

}  // namespace howard::reports
