// SPDX-License-Identifier: Apache-2.0
#include "reports/result_json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"
#include "base/error.h"

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

constexpr std::string_view kSchema = "howard.result/1";

/// A rule of the schema that a file breaks; becomes an Error once the file's name is known.
struct Violation {
  std::string what;
};

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

Words to_words(const ordered_json& object) {
  if (!object.is_object()) throw Violation{"params and details are objects"};
  Words words;
  for (const auto& [name, value] : object.items()) {
    words.emplace_back(name, value.get<std::string>());
  }
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

/// One of two words; anything else breaks the schema.
bool is_first(const ordered_json& word, std::string_view first, std::string_view second) {
  if (word == first) return true;
  if (word == second) return false;
  throw Violation{word.dump() + " is neither \"" + std::string(first) + "\" nor \"" +
                  std::string(second) + "\""};
}

Metric to_metric(const std::string& name, const ordered_json& object) {
  Metric metric{
      .name = name,
      .value = object.at("value").get<double>(),
      .unit = object.at("unit").get<std::string>(),
      .better = is_first(object.at("better"), "lower", "higher") ? Better::lower : Better::higher,
      .samples = object.at("samples").get<std::vector<double>>()};
  // What follows from the rest is checked, so that a file edited by hand can not contradict itself.
  is_first(object.at("clock"), "virtual", "wall");
  if (is_first(object.at("noise"), "exact", "sampled") != metric.samples.empty()) {
    throw Violation{"metric " + name + " is exact and has samples, or the reverse"};
  }
  if (const ordered_json& interval = object.at("ci95"); !interval.is_null()) {
    metric.ci95 = interval.get<std::array<double, 2>>();
  }
  if (object.contains("picoseconds")) {
    metric.virtual_time = SimTime::picoseconds(object.at("picoseconds").get<std::int64_t>());
  }
  return metric;
}

ordered_json to_object(const Reference& reference) {
  return {{"metric", reference.metric}, {"value", finite(reference.value)},
          {"unit", reference.unit},     {"source", reference.source},
          {"status", reference.status}, {"note", reference.note}};
}

Reference to_reference(const ordered_json& object) {
  return {.metric = object.at("metric").get<std::string>(),
          .value = object.at("value").get<double>(),
          .unit = object.at("unit").get<std::string>(),
          .source = object.at("source").get<std::string>(),
          .status = object.at("status").get<std::string>(),
          .note = object.at("note").get<std::string>()};
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

PointResult to_point(const ordered_json& object) {
  PointResult point{
      .backend =
          is_first(object.at("backend"), "emulated", "host") ? Backend::emulated : Backend::host,
      .parameters = to_words(object.at("params")),
      .failed = object.at("failed").get<bool>(),
      .details = to_words(object.at("details")),
      .warnings = object.at("warnings").get<std::vector<std::string>>(),
  };
  if (const ordered_json& reason = object.at("skipped"); !reason.is_null()) {
    point.skipped = reason.get<std::string>();
  }
  for (const auto& [name, metric] : object.at("metrics").items()) {
    point.metrics.push_back(to_metric(name, metric));
  }
  if (const ordered_json& reference = object.at("reference"); !reference.is_null()) {
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
          {"seed", context.seed},
          {"warnings", context.warnings}};
}

RunContext to_context(const ordered_json& object) {
  return {.version = object.at("version").get<std::string>(),
          .git = object.at("git").get<std::string>(),
          .compiler = object.at("compiler").get<std::string>(),
          .build_type = object.at("build_type").get<std::string>(),
          .cpu = object.at("cpu").get<std::string>(),
          .threads = object.at("threads").get<int>(),
          .chip_profile = object.at("chip_profile").get<std::string>(),
          .software_profile = object.at("software_profile").get<std::string>(),
          .seed = object.at("seed").get<std::uint64_t>(),
          .warnings = object.at("warnings").get<std::vector<std::string>>()};
}

ordered_json to_object(const ExperimentResult& result) {
  ordered_json object{{"schema", kSchema},
                      {"experiment", result.experiment},
                      {"context", to_object(result.context)},
                      {"interrupted", result.interrupted},
                      {"points", ordered_json::array()}};
  for (const PointResult& point : result.points) object["points"].push_back(to_object(point));
  return object;
}

ExperimentResult to_result(const ordered_json& object) {
  if (object.at("schema") != kSchema) {
    throw Violation{"schema " + object.at("schema").dump()};
  }
  ExperimentResult result{.experiment = object.at("experiment").get<std::string>(),
                          .context = to_context(object.at("context")),
                          .interrupted = object.at("interrupted").get<bool>()};
  for (const ordered_json& point : object.at("points")) result.points.push_back(to_point(point));
  return result;
}

}  // namespace

std::string result_json(std::span<const ExperimentResult> results) {
  ordered_json file = ordered_json::array();
  for (const ExperimentResult& result : results) file.push_back(to_object(result));
  if (results.size() == 1) file = ordered_json(file.front());
  // Bytes that are not UTF-8 can only come from a quoted user input; the file stays readable.
  return file.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::vector<ExperimentResult> parse_result_json(std::string_view text, std::string_view source) {
  const auto fail = [source](std::string why) {
    throw Error({.attempted = "read results from " + std::string(source),
                 .value = std::move(why),
                 .accepted = "JSON of schema " + std::string(kSchema),
                 .hint = "a file written by --json"});
  };
  std::vector<ExperimentResult> results;
  try {
    const ordered_json file = ordered_json::parse(text);
    if (!file.is_array()) return {to_result(file)};
    for (const ordered_json& object : file) results.push_back(to_result(object));
  } catch (const ordered_json::exception& failure) {
    fail(failure.what());
  } catch (const Violation& violation) {
    fail(violation.what);
  }
  return results;
}

}  // namespace howard::reports
