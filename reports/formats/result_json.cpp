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

void write(JsonText& out, std::string_view name, const Words& words) {
  out.member(name);
  out.begin('{');
  UniqueMembers members(out);
  for (const auto& [word, value] : words) {
    members.add(word);
    out.text(value);
  }
  out.end('}');
}

void write(JsonText& out, std::string_view name, std::string_view text) {
  out.member(name);
  out.text(text);
}

void write(JsonText& out, std::string_view name, const std::vector<std::string>& texts) {
  out.member(name);
  out.begin('[');
  for (const std::string& text : texts) {
    out.item();
    out.text(text);
  }
  out.end(']');
}

void write(JsonText& out, std::string_view name, std::span<const double> numbers) {
  out.member(name);
  out.begin('[');
  for (const double number : numbers) {
    out.item();
    out.number(number);
  }
  out.end(']');
}

void write(JsonText& out, std::string_view name, double value) {
  out.member(name);
  out.number(value);
}

void write(JsonText& out, std::string_view name, bool value) {
  out.member(name);
  out.boolean(value);
}

void write(JsonText& out, std::string_view name, int value) {
  out.member(name);
  out.integer(value);
}

void write(JsonText& out, std::string_view name, std::uint64_t value) {
  out.member(name);
  out.natural(value);
}

void write(JsonText& out, std::string_view name, const harness::ProfileName& profile) {
  write(out, name, std::string_view(profile.text()));
}

/// Writes an object of the members that `fields` lists, in that order. An empty one that is not
/// required is left out.
template <class Struct, class... Fields>
void write(JsonText& out, const Struct& object, const std::tuple<Fields...>& fields) {
  const auto write_field = [&](const auto& field) {
    const auto& value = object.*field.place;
    if constexpr (requires { value.empty(); }) {
      if (!field.required && value.empty()) return;
    }
    write(out, field.name, value);
  };
  out.begin('{');
  std::apply([&](const auto&... field) { (write_field(field), ...); }, fields);
  out.end('}');
}

void write(JsonText& out, const Metric& metric, Backend backend) {
  const bool on_virtual_clock = metric.virtual_time || backend == Backend::emulated;
  out.begin('{');
  write(out, "value", metric.value);
  write(out, "unit", metric.unit);
  write(out, "clock", std::string_view(on_virtual_clock ? "virtual" : "wall"));
  write(out, "noise", std::string_view(metric.samples.empty() ? "exact" : "sampled"));
  write(out, "samples", std::span<const double>(metric.samples));
  if (metric.ci95) {
    write(out, "ci95", std::span<const double>(*metric.ci95));
  } else {
    out.member("ci95");
    out.null();
  }
  write(out, "better", std::string_view(metric.better == Better::lower ? "lower" : "higher"));
  if (metric.virtual_time) {
    out.member("picoseconds");
    out.integer(metric.virtual_time->ps());
  }
  out.end('}');
}

constexpr std::tuple kMetricFields{
    json_field("value", &Metric::value),
    json_field("unit", &Metric::unit),
    json_field("better", &Metric::better,
               [](const JsonNode& node) {
                 return node.word({"lower", "higher"}) == 0 ? Better::lower : Better::higher;
               }),
    json_field("samples", &Metric::samples),
    optional_field("picoseconds", &Metric::virtual_time,
                   [](const JsonNode& node) { return SimTime::picoseconds(node.integer()); }),
};

Metric to_metric(const std::string& name, const JsonNode& object) {
  Metric metric{.name = name};
  object.read(metric, kMetricFields);
  // What follows from the rest is checked, so that a file edited by hand cannot contradict itself.
  object.member("clock").word({"virtual", "wall"});
  const JsonNode noise = object.member("noise");
  if ((noise.word({"exact", "sampled"}) == 0) != metric.samples.empty()) {
    noise.fail("\"sampled\" with samples, \"exact\" without");
  }
  if (const JsonNode interval = object.member("ci95"); !interval.is_null()) {
    const std::vector<double> ends = interval.numbers();
    if (ends.size() != 2) interval.fail("two numbers, or null");
    metric.ci95 = {ends[0], ends[1]};
  }
  return metric;
}

constexpr std::tuple kReferenceFields{
    json_field("metric", &Reference::metric), json_field("value", &Reference::value),
    json_field("unit", &Reference::unit),     json_field("source", &Reference::source),
    json_field("status", &Reference::status), json_field("note", &Reference::note),
};

void write(JsonText& out, const PointResult& point) {
  out.begin('{');
  write(out, "id", point.id());
  write(out, "params", point.parameters);
  write(out, "backend", name_of(point.backend));
  out.member("skipped");
  point.skipped ? out.text(*point.skipped) : out.null();
  write(out, "failed", point.failed);
  out.member("metrics");
  out.begin('{');
  UniqueMembers metrics(out);
  for (const Metric& metric : point.metrics) {
    metrics.add(metric.name);
    write(out, metric, point.backend);
  }
  out.end('}');
  write(out, "details", point.details);
  write(out, "warnings", point.warnings);
  out.member("reference");
  point.reference ? write(out, *point.reference, kReferenceFields) : out.null();
  out.end('}');
}

Backend to_backend(const JsonNode& word) {
  return std::array{Backend::emulated, Backend::host, Backend::log}.at(
      word.word({"emulated", "host", "log"}));
}

/// These members are read by their types; a point is written member by member, because the metrics
/// stand between them.
constexpr std::tuple kPointFields{
    json_field("backend", &PointResult::backend, to_backend),
    json_field("params", &PointResult::parameters, &JsonNode::named_texts),
    json_field("failed", &PointResult::failed),
    json_field("details", &PointResult::details, &JsonNode::named_texts),
    json_field("warnings", &PointResult::warnings),
    json_field("skipped", &PointResult::skipped),
    json_field("reference", &PointResult::reference, kReferenceFields),
};

PointResult to_point(const JsonNode& object) {
  PointResult point;
  object.read(point, kPointFields);
  for (const auto& [name, metric] : object.member("metrics").members()) {
    point.metrics.push_back(to_metric(name, metric));
  }
  return point;
}

harness::ProfileName to_profile_name(const JsonNode& node) {
  return harness::ProfileName::read(node.text());
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
  write(out, "schema", kResultSchema);
  write(out, "experiment", part.result->experiment);
  out.member("context");
  write(out, part.result->context, kContextFields);
  write(out, "interrupted", part.result->interrupted);
  out.member("points");
  out.begin('[');
  for (const PointResult* const point : part.points) {
    out.item();
    write(out, *point);
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

constexpr std::tuple kResultFields{
    json_field("experiment", &ExperimentResult::experiment),
    json_field("context", &ExperimentResult::context, kContextFields),
    json_field("interrupted", &ExperimentResult::interrupted),
    json_field("points", &ExperimentResult::points, to_point),
};

ExperimentResult to_result(const JsonNode& object) {
  object.require_schema(kResultSchema);
  ExperimentResult result;
  object.read(result, kResultFields);
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
