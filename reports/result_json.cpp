// SPDX-License-Identifier: Apache-2.0
#include "reports/result_json.h"

#include <climits>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/json_depth.h"
#include "base/text.h"
#include "reports/json_node.h"

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

double finite(double value) {
  HOWARD_CHECK(std::isfinite(value), "a reported number is finite");
  return value;
}

/// Adds a member whose name is data, and so could come twice and overwrite the first.
void add_unique(ordered_json& object, const std::string& name, ordered_json value) {
  HOWARD_CHECK(!object.contains(name), "metrics, details and axes of a point have unique names");
  object[name] = std::move(value);
}

ordered_json to_object(const Words& words) {
  ordered_json object = ordered_json::object();
  for (const auto& [name, value] : words) add_unique(object, name, value);
  return object;
}

Words to_words(const JsonNode& object) {
  Words words;
  for (const auto& [name, value] : object.members()) words.emplace_back(name, value.text());
  return words;
}

ordered_json to_object(const Metric& metric, Backend backend) {
  const bool on_virtual_clock = metric.virtual_time || backend == Backend::emulated;
  ordered_json object{{"value", finite(metric.value)},
                      {"unit", metric.unit},
                      {"clock", on_virtual_clock ? "virtual" : "wall"},
                      {"noise", metric.samples.empty() ? "exact" : "sampled"},
                      {"samples", ordered_json::array()},
                      {"ci95", nullptr},
                      {"better", metric.better == Better::lower ? "lower" : "higher"}};
  for (const double sample : metric.samples) object["samples"].push_back(finite(sample));
  if (metric.ci95) object["ci95"] = {finite(metric.ci95->front()), finite(metric.ci95->back())};
  if (metric.virtual_time) object["picoseconds"] = metric.virtual_time->ps();
  return object;
}

Metric to_metric(const std::string& name, const JsonNode& object) {
  Metric metric{.name = name,
                .value = object.member("value").number(),
                .unit = object.member("unit").text(),
                .better = object.member("better").is_first("lower", "higher") ? Better::lower
                                                                              : Better::higher,
                .samples = object.member("samples").numbers()};
  // What follows from the rest is checked, so that a file edited by hand can not contradict itself.
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

ordered_json to_object(const Reference& reference) {
  return {{"metric", reference.metric}, {"value", finite(reference.value)},
          {"unit", reference.unit},     {"source", reference.source},
          {"status", reference.status}, {"note", reference.note}};
}

Reference to_reference(const JsonNode& object) {
  return {.metric = object.member("metric").text(),
          .value = object.member("value").number(),
          .unit = object.member("unit").text(),
          .source = object.member("source").text(),
          .status = object.member("status").text(),
          .note = object.member("note").text()};
}

ordered_json to_object(const PointResult& point) {
  ordered_json object{{"id", point.id()},
                      {"params", to_object(point.parameters)},
                      {"backend", name_of(point.backend)},
                      {"skipped", nullptr},
                      {"failed", point.failed},
                      {"metrics", ordered_json::object()},
                      {"details", to_object(point.details)},
                      {"warnings", point.warnings},
                      {"reference", nullptr}};
  if (point.skipped) object["skipped"] = *point.skipped;
  for (const Metric& metric : point.metrics) {
    add_unique(object["metrics"], metric.name, to_object(metric, point.backend));
  }
  if (point.reference) object["reference"] = to_object(*point.reference);
  return object;
}

PointResult to_point(const JsonNode& object) {
  PointResult point{
      .backend =
          object.member("backend").is_first("emulated", "host") ? Backend::emulated : Backend::host,
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

ordered_json to_object(const RunContext& context) {
  return {{"version", context.version},
          {"git", context.git},
          {"compiler", context.compiler},
          {"build_type", context.build_type},
          {"cpu", context.cpu},
          {"threads", context.threads},
          {"chip_profile", context.chip_profile},
          {"software_profile", context.software_profile},
          {"published_chip", context.published_chip},
          {"seed", context.seed},
          {"warnings", context.warnings}};
}

RunContext to_context(const JsonNode& object) {
  const JsonNode threads = object.member("threads");
  if (threads.integer() < 0 || threads.integer() > INT_MAX) threads.fail("a number of threads");
  return {
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
}

/// A result, and its points wherever they are.
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

/// `object` on lines `indent` columns to the right of the one that it begins on.
void append(std::string& text, const ordered_json& object, std::size_t indent) {
  // Bytes that are not UTF-8 can only come from a quoted user input; the file stays readable.
  for (const char c : object.dump(2, ' ', false, ordered_json::error_handler_t::replace)) {
    text += c;
    if (c == '\n') text.append(indent, ' ');  // none is within a string
  }
}

/// Point by point: all of a large sweep as JSON objects at once would be ten times its text.
void append(std::string& text, const Part& part, std::size_t indent) {
  append(text,
         {{"schema", kResultSchema},
          {"experiment", part.result->experiment},
          {"context", to_object(part.result->context)},
          {"interrupted", part.result->interrupted},
          {"points", ordered_json::array()}},
         indent);
  if (part.points.empty()) return;
  text.resize(text.rfind(']'));
  for (const PointResult* const point : part.points) {
    if (text.back() != '[') text += ',';
    text.append("\n").append(indent + 4, ' ');
    append(text, to_object(*point), indent + 4);
  }
  text.append("\n").append(indent + 2, ' ').append("]\n").append(indent, ' ').append("}");
}

std::string text_of(std::span<const Part> parts) {
  std::string text;
  if (parts.size() == 1) {
    append(text, parts.front(), 0);
    return text + "\n";
  }
  text = "[";
  for (const Part& part : parts) {
    text += text.size() == 1 ? "\n  " : ",\n  ";
    append(text, part, 2);
  }
  return text + (parts.empty() ? "]\n" : "\n]\n");
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
  return text_of(parts_of(results));
}

std::string result_json(std::span<const ExperimentResult> finished, const ExperimentResult& running,
                        std::vector<const PointResult*> points) {
  std::vector<Part> parts = parts_of(finished);
  parts.push_back({&running, std::move(points)});
  return text_of(parts);
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
