// SPDX-License-Identifier: Apache-2.0
#include "reports/formats/result_json.h"

#include <algorithm>
#include <climits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/json_depth.h"
#include "base/text.h"
#include "reports/formats/json_node.h"
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
using nlohmann::ordered_json;
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

void write(JsonText& out, const char* name, const Words& words) {
  out.member(name);
  out.begin('{');
  UniqueMembers members(out);
  for (const auto& [word, value] : words) {
    members.add(word);
    out.text(value);
  }
  out.end('}');
}

void write(JsonText& out, const char* name, std::string_view text) {
  out.member(name);
  out.text(text);
}

void write(JsonText& out, const char* name, const std::vector<std::string>& texts) {
  out.member(name);
  out.begin('[');
  for (const std::string& text : texts) {
    out.item();
    out.text(text);
  }
  out.end(']');
}

void write(JsonText& out, const char* name, std::span<const double> numbers) {
  out.member(name);
  out.begin('[');
  for (const double number : numbers) {
    out.item();
    out.number(number);
  }
  out.end(']');
}

Words to_words(const JsonNode& object) {
  Words words;
  for (const auto& [name, value] : object.members()) words.emplace_back(name, value.text());
  return words;
}

void write(JsonText& out, const Metric& metric, Backend backend) {
  const bool on_virtual_clock = metric.virtual_time || backend == Backend::emulated;
  out.begin('{');
  out.member("value");
  out.number(metric.value);
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

Metric to_metric(const std::string& name, const JsonNode& object) {
  Metric metric{.name = name,
                .value = object.member("value").number(),
                .unit = object.member("unit").text(),
                .better = object.member("better").is_first("lower", "higher") ? Better::lower
                                                                              : Better::higher,
                .samples = object.member("samples").numbers()};
  // What follows from the rest is checked, so that a file edited by hand cannot contradict itself.
  object.member("clock").is_first("virtual", "wall");
  const JsonNode noise = object.member("noise");
  if (noise.is_first("exact", "sampled") != metric.samples.empty()) {
    noise.fail("\"sampled\" with samples, \"exact\" without");
  }
  if (const JsonNode interval = object.member("ci95"); !interval.is_null()) {
    const std::vector<double> ends = interval.numbers();
    if (ends.size() != 2) interval.fail("two numbers, or null");
    metric.ci95 = {ends[0], ends[1]};
  }
  if (object.has("picoseconds")) {
    metric.virtual_time = SimTime::picoseconds(object.member("picoseconds").integer());
  }
  return metric;
}

void write(JsonText& out, const Reference& reference) {
  out.begin('{');
  write(out, "metric", reference.metric);
  out.member("value");
  out.number(reference.value);
  write(out, "unit", reference.unit);
  write(out, "source", reference.source);
  write(out, "status", reference.status);
  write(out, "note", reference.note);
  out.end('}');
}

Reference to_reference(const JsonNode& object) {
  return {.metric = object.member("metric").text(),
          .value = object.member("value").number(),
          .unit = object.member("unit").text(),
          .source = object.member("source").text(),
          .status = object.member("status").text(),
          .note = object.member("note").text()};
}

void write(JsonText& out, const PointResult& point) {
  out.begin('{');
  write(out, "id", point.id());
  write(out, "params", point.parameters);
  write(out, "backend", name_of(point.backend));
  out.member("skipped");
  point.skipped ? out.text(*point.skipped) : out.null();
  out.member("failed");
  out.boolean(point.failed);
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
  point.reference ? write(out, *point.reference) : out.null();
  out.end('}');
}

Backend to_backend(const JsonNode& word) {
  const std::string text = word.text();
  for (const Backend backend : {Backend::emulated, Backend::host, Backend::log}) {
    if (text == name_of(backend)) return backend;
  }
  word.fail("\"emulated\", \"host\" or \"log\"");
}

PointResult to_point(const JsonNode& object) {
  PointResult point{
      .backend = to_backend(object.member("backend")),
      .parameters = to_words(object.member("params")),
      .failed = object.member("failed").boolean(),
      .details = to_words(object.member("details")),
      .warnings = object.member("warnings").texts(),
  };
  if (const JsonNode reason = object.member("skipped"); !reason.is_null()) {
    point.skipped = reason.text();
  }
  for (const auto& [name, metric] : object.member("metrics").members()) {
    point.metrics.push_back(to_metric(name, metric));
  }
  if (const JsonNode reference = object.member("reference"); !reference.is_null()) {
    point.reference = to_reference(reference);
  }
  return point;
}

void write(JsonText& out, const RunContext& context) {
  out.begin('{');
  write(out, "version", context.version);
  write(out, "git", context.git);
  write(out, "compiler", context.compiler);
  write(out, "build_type", context.build_type);
  write(out, "cpu", context.cpu);
  out.member("threads");
  out.integer(context.threads);
  write(out, "chip_profile", context.chip_profile);
  write(out, "software_profile", context.software_profile);
  out.member("published_chip");
  out.boolean(context.published_chip);
  if (!context.constants.empty()) write(out, "constants", context.constants);
  out.member("seed");
  out.natural(context.seed);
  write(out, "warnings", context.warnings);
  out.end('}');
}

RunContext to_context(const JsonNode& object) {
  const JsonNode threads = object.member("threads");
  if (threads.integer() < 0 || threads.integer() > INT_MAX) threads.fail("a number of threads");
  RunContext context{
      .version = object.member("version").text(),
      .git = object.member("git").text(),
      .compiler = object.member("compiler").text(),
      .build_type = object.member("build_type").text(),
      .cpu = object.member("cpu").text(),
      .threads = static_cast<int>(threads.integer()),
      .chip_profile = object.member("chip_profile").text(),
      .software_profile = object.member("software_profile").text(),
      // A file of a version before this member has its references already.
      .published_chip = !object.has("published_chip") || object.member("published_chip").boolean(),
      .seed = object.member("seed").natural(),
      .warnings = object.member("warnings").texts()};
  if (object.has("constants")) context.constants = to_words(object.member("constants"));
  return context;
}

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
  write(out, part.result->context);
  out.member("interrupted");
  out.boolean(part.result->interrupted);
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

ExperimentResult to_result(const JsonNode& object) {
  const JsonNode schema = object.member("schema");
  if (schema.text() != kResultSchema) schema.fail("\"" + std::string(kResultSchema) + "\"");
  ExperimentResult result{.experiment = object.member("experiment").text(),
                          .context = to_context(object.member("context")),
                          .interrupted = object.member("interrupted").boolean()};
  for (const JsonNode& point : object.member("points").items()) {
    result.points.push_back(to_point(point));
  }
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
  require_json_depth(text, "read " + std::string(source));
  ordered_json file;
  try {
    file = ordered_json::parse(text);
  } catch (const ordered_json::exception& failure) {
    throw Error({.attempted = "read " + std::string(source),
                 .value = json_failure(failure.what()),
                 .accepted = std::string(kKind),
                 .hint = "a file that a run wrote"});
  }
  const JsonNode root(file, source, kKind);
  if (!root.is_array()) return {to_result(root)};
  std::vector<ExperimentResult> results;
  for (const JsonNode& object : root.items()) results.push_back(to_result(object));
  return results;
}

}  // namespace howard::reports
