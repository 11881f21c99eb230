// SPDX-License-Identifier: Apache-2.0
#include "reports/formats/result_json.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "tests/error_of.h"
#include "tests/reports/sample_result.h"

namespace howard::reports {
namespace {

using harness::ExperimentResult;
using harness::Metric;
using nlohmann::json;

std::string text_of(const ExperimentResult& result) { return result_json({&result, 1}); }

std::string error_of(const std::string& text) {
  return howard::error_of([&] { parse_result_json(text, "old.json"); });
}

/// Checks the rules of a JSON schema (draft 7) that reports/formats/result.schema.json uses. It
/// fails for a keyword that it does not know, so that the schema cannot state a rule that is not
/// checked.
class SchemaChecker {
 public:
  explicit SchemaChecker(const json& schema) : root_(schema) {}

  /// Returns what breaks the schema, with its place; empty if nothing does.
  std::string violation(const json& value) const { return violation(root_, value, "$"); }

 private:
  static bool has_type(const json& value, const std::string& type) {
    if (type == "integer") return value.is_number_integer();
    return type == "object"    ? value.is_object()
           : type == "array"   ? value.is_array()
           : type == "string"  ? value.is_string()
           : type == "number"  ? value.is_number()
           : type == "boolean" ? value.is_boolean()
                               : type == "null" && value.is_null();
  }

  static bool has_any_type(const json& value, const json& types) {
    if (types.is_string()) return has_type(value, types);
    for (const json& type : types) {
      if (has_type(value, type)) return true;
    }
    return false;
  }

  std::string violation_of_members(const json& schema, const json& object,
                                   const std::string& place) const {
    for (const auto& [name, value] : object.items()) {
      const json none = json::object();
      const json& known = schema.contains("properties") ? schema["properties"] : none;
      const json rule =
          known.contains(name) ? known[name] : schema.value("additionalProperties", json(true));
      if (rule == json(false)) return place + "." + name + " is unknown";
      if (!rule.is_object()) continue;
      const std::string found = violation(rule, value, place + "." + name);
      if (!found.empty()) return found;
    }
    return "";
  }

  std::string violation_of(const std::string& keyword, const json& schema, const json& value,
                           const std::string& place) const {
    const json& rule = schema[keyword];
    if (keyword == "$ref") {
      return violation(root_.at(json::json_pointer(rule.get<std::string>().substr(1))), value,
                       place);
    }
    if (keyword == "type" && !has_any_type(value, rule)) return place + " is no " + rule.dump();
    if (keyword == "enum" && std::ranges::find(rule, value) == rule.end()) {
      return place + " is none of " + rule.dump();
    }
    if (keyword == "required") {
      for (const json& name : rule) {
        if (!value.contains(name.get<std::string>())) return place + " lacks " + name.dump();
      }
    }
    if (keyword == "items") {
      for (const json& item : value) {
        const std::string found = violation(rule, item, place + "[]");
        if (!found.empty()) return found;
      }
    }
    if (keyword == "minItems" && value.size() < rule) return place + " is too short";
    if (keyword == "maxItems" && value.size() > rule) return place + " is too long";
    if (keyword == "oneOf") {
      std::string found;
      for (const json& option : rule) {
        const std::string why = violation(option, value, place);
        if (why.empty()) return "";
        found += why + "; ";
      }
      return found;
    }
    return "";
  }

  std::string violation(const json& schema, const json& value, const std::string& place) const {
    for (const auto& [keyword, rule] : schema.items()) {
      static const std::vector<std::string> kRules{"$ref",  "type",     "enum",     "required",
                                                   "items", "minItems", "maxItems", "oneOf"};
      static const std::vector<std::string> kOthers{"$schema",
                                                    "$id",
                                                    "title",
                                                    "description",
                                                    "properties",
                                                    "definitions",
                                                    "additionalProperties"};
      if (std::ranges::find(kRules, keyword) != kRules.end()) {
        const std::string found = violation_of(keyword, schema, value, place);
        if (!found.empty()) return found;
      } else if (std::ranges::find(kOthers, keyword) == kOthers.end()) {
        return "the schema uses " + keyword;
      }
    }
    return value.is_object() ? violation_of_members(schema, value, place) : "";
  }

  const json& root_;
};

std::string schema_violation(const json& value) {
  static const json kSchema = json::parse(read_file(HOWARD_RESULT_SCHEMA));
  return SchemaChecker(kSchema).violation(value);
}

void expect_equal(const Metric& a, const Metric& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.value, b.value);
  EXPECT_EQ(a.unit, b.unit);
  EXPECT_EQ(a.better, b.better);
  EXPECT_EQ(a.virtual_time, b.virtual_time);
  EXPECT_EQ(a.samples, b.samples);
  EXPECT_EQ(a.ci95, b.ci95);
}

TEST(ResultJson, RoundTripLosesNothing) {
  ExperimentResult written = testing::sample_result();
  written.context.published_chip = false;
  const ExperimentResult read = parse_result_json(text_of(written), "x").at(0);
  EXPECT_EQ(read.experiment, written.experiment);
  EXPECT_EQ(read.interrupted, written.interrupted);
  EXPECT_EQ(read.context.version, written.context.version);
  EXPECT_EQ(read.context.git, written.context.git);
  EXPECT_EQ(read.context.compiler, written.context.compiler);
  EXPECT_EQ(read.context.build_type, written.context.build_type);
  EXPECT_EQ(read.context.cpu, written.context.cpu);
  EXPECT_EQ(read.context.threads, written.context.threads);
  EXPECT_EQ(read.context.chip, written.context.chip);
  EXPECT_EQ(read.context.software, written.context.software);
  EXPECT_EQ(read.context.constants, written.context.constants);
  EXPECT_EQ(read.context.published_chip, written.context.published_chip);
  EXPECT_EQ(read.context.seed, written.context.seed);
  EXPECT_EQ(read.context.warnings, written.context.warnings);
  ASSERT_EQ(read.points.size(), written.points.size());
  for (std::size_t i = 0; i < read.points.size(); ++i) {
    const harness::PointResult& a = read.points[i];
    const harness::PointResult& b = written.points[i];
    EXPECT_EQ(a.id(), b.id());
    EXPECT_EQ(a.parameters, b.parameters);
    EXPECT_EQ(a.skipped, b.skipped);
    EXPECT_EQ(a.failed, b.failed);
    EXPECT_EQ(a.details, b.details);
    EXPECT_EQ(a.warnings, b.warnings);
    ASSERT_EQ(a.metrics.size(), b.metrics.size());
    for (std::size_t j = 0; j < a.metrics.size(); ++j) expect_equal(a.metrics[j], b.metrics[j]);
    ASSERT_EQ(a.reference.has_value(), b.reference.has_value());
    EXPECT_EQ(a.relative_error(), b.relative_error());
    if (!a.reference) continue;
    EXPECT_EQ(a.reference->unit, b.reference->unit);
    EXPECT_EQ(a.reference->source, b.reference->source);
    EXPECT_EQ(a.reference->status, b.reference->status);
    EXPECT_EQ(a.reference->note, b.reference->note);
  }
  EXPECT_EQ(text_of(read), text_of(written));
}

TEST(ResultJson, AFormerNameOfAMetricIsReadAsThePresentOne) {
  ExperimentResult former = testing::sample_result();
  former.points[0].metrics.push_back({.name = "band", .value = 0.07, .unit = "1"});
  const ExperimentResult read = parse_result_json(text_of(former), "x").at(0);
  EXPECT_EQ(read.points[0].metrics.back().name, "expected_error");
  EXPECT_EQ(read.points[0].metrics.back().value, 0.07);
}

TEST(ResultJson, APointKeepsTheChipThatItChose) {
  ExperimentResult result = testing::sample_result();
  result.points[1].own_chip = {.chip = {"blackhole_p150", {"noc.link=28B/cycle"}},
                               .software = {"tt_metal_2025_12_blackhole", {}}};
  EXPECT_EQ(schema_violation(json::parse(text_of(result))), "");
  const ExperimentResult read = parse_result_json(text_of(result), "x").at(0);
  EXPECT_FALSE(read.points[0].own_chip);
  ASSERT_TRUE(read.points[1].own_chip);
  EXPECT_EQ(read.points[1].own_chip->chip, result.points[1].own_chip->chip);
  EXPECT_EQ(read.points[1].own_chip->software, result.points[1].own_chip->software);
}

TEST(ResultJson, EqualResultsGiveEqualBytes) {
  EXPECT_EQ(text_of(testing::sample_result()), text_of(testing::sample_result()));
}

TEST(ResultJson, FollowsItsSchema) {
  const ExperimentResult one = testing::sample_result();
  EXPECT_EQ(schema_violation(json::parse(text_of(one))), "");
  const std::vector<ExperimentResult> two{one, one};
  EXPECT_EQ(schema_violation(json::parse(result_json(two))), "");
}

TEST(ResultJson, TheSchemaRefusesWhatItDoesNotDescribe) {
  const json good = json::parse(text_of(testing::sample_result()));
  const std::vector<std::pair<std::string, json>> replacements{
      {"/schema", "howard.result/2"},
      {"/context/threads", "many"},
      {"/points/0/params/shape", 128},
      {"/points/0/backend", "moon"},
      {"/points/0/metrics/time/value", nullptr},
      {"/points/0/metrics/time/picoseconds", 1.5},
      {"/points/0/metrics/time/ci95", json::array({1})},
      {"/points/0/reference/status", "guessed"},
      {"/points/0/surprise", 1}};
  for (const auto& [place, value] : replacements) {
    json bad = good;
    bad[json::json_pointer(place)] = value;
    EXPECT_NE(schema_violation(bad), "") << place;
  }
  json lacking = good;
  lacking["points"][0].erase("reference");
  EXPECT_NE(schema_violation(lacking), "");
}

TEST(ResultJson, SaysOnWhichClockAndHowExactlyANumberWasTaken) {
  const json points = json::parse(text_of(testing::sample_result())).at("points");
  const json& emulated = points[0]["metrics"];
  EXPECT_EQ(emulated["time"]["clock"], "virtual");
  EXPECT_EQ(emulated["time"]["noise"], "exact");
  EXPECT_EQ(emulated["time"]["picoseconds"], 95'000'001);
  EXPECT_EQ(emulated["throughput"]["clock"], "virtual");
  EXPECT_FALSE(emulated["throughput"].contains("picoseconds"));
  const json& host = points[4]["metrics"];
  EXPECT_EQ(host["time"]["clock"], "wall");
  EXPECT_EQ(host["time"]["noise"], "sampled");
  EXPECT_EQ(host["time"]["samples"].size(), 7U);
}

TEST(ResultJson, SeveralExperimentsAreAnArray) {
  std::vector<ExperimentResult> written{testing::sample_result(), testing::sample_result()};
  written[1].experiment = "two_queues";
  const std::vector<ExperimentResult> read = parse_result_json(result_json(written), "x");
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[1].experiment, "two_queues");
  EXPECT_TRUE(parse_result_json(result_json({}), "x").empty());
}

TEST(ResultJson, OfARunningExperimentItIsWhatItWouldBeWithThesePointsAlone) {
  const ExperimentResult whole = testing::sample_result();
  ExperimentResult running = whole;
  running.points.clear();
  std::vector<const harness::PointResult*> points;
  for (const harness::PointResult& point : whole.points) points.push_back(&point);
  const auto text_behind = [&](std::span<const ExperimentResult> finished) {
    std::string text;
    write_result_json(finished, running, points, [&](std::string_view piece) { text += piece; });
    return text;
  };
  EXPECT_EQ(text_behind({}), text_of(whole));
  const std::vector<ExperimentResult> both{whole, whole};
  EXPECT_EQ(text_behind({&whole, 1}), result_json(both));
  EXPECT_EQ(json::parse(result_json(both)).dump(),
            json::parse("[" + text_of(whole) + "," + text_of(whole) + "]").dump());
}

TEST(ResultJson, TextThatIsNotUtf8DoesNotSpoilTheFile) {
  ExperimentResult result = testing::sample_result();
  result.points[2].skipped = "cannot read \xff\xfe";
  EXPECT_NO_THROW(parse_result_json(text_of(result), "x"));
}

TEST(ResultJson, ABadFileIsAnErrorThatNamesIt) {
  const std::string good = text_of(testing::sample_result());
  const auto replaced = [&good](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  EXPECT_EQ(error_of(good), "");
  EXPECT_EQ(error_of(replaced("howard.result/1", "howard.result/2")),
            "cannot read old.json at /schema: \"howard.result/2\"; accepted: \"howard.result/1\"; "
            "try a file that a run wrote");
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("7"), std::string("{}"),
        good.substr(0, good.size() / 2), replaced("\"emulated\"", "\"moon\""),
        replaced("\"params\": {", "\"params\": 7, \"x\": {"), replaced("\"exact\"", "\"sampled\""),
        replaced("\"threads\": 32", "\"threads\": \"32\""), replaced("95000001", "1e999")}) {
    EXPECT_NE(error_of(text).find("cannot read old.json"), std::string::npos) << text;
  }
}

TEST(ResultJson, ABadValueIsNamedWithItsPlaceAndWhatWouldDo) {
  const json good = json::parse(text_of(testing::sample_result()));
  struct Mistake {
    std::string place;
    json value;
    std::string said;  ///< What is said about the value and what would do.
  };
  const std::vector<Mistake> mistakes{
      {"/points/1/metrics/time/unit", 7, "7; accepted: a text"},
      {"/points/1/metrics/time/value", "fast", "\"fast\"; accepted: a number"},
      {"/points/0/metrics/time/picoseconds", 1.5, "1.5; accepted: a whole number of 64 bits"},
      {"/points/0/metrics/time/ci95", json::array({1}), "[1]; accepted: two numbers, or null"},
      {"/points/0/params", "none", "\"none\"; accepted: an object"},
      {"/context/seed", -1, "-1; accepted: a whole number from 0 on"},
      {"/context/threads", 1e12, "1000000000000.0; accepted: a whole number"},
      {"/interrupted", 0, "0; accepted: true or false"}};
  for (const Mistake& mistake : mistakes) {
    json bad = good;
    bad[json::json_pointer(mistake.place)] = mistake.value;
    const std::string wanted = "cannot read old.json at " + mistake.place + ": " + mistake.said;
    EXPECT_TRUE(error_of(bad.dump()).starts_with(wanted)) << error_of(bad.dump());
  }
  json lacking = good;
  lacking["points"][0].erase("backend");
  EXPECT_NE(error_of(lacking.dump()).find("at /points/0"), std::string::npos);
  EXPECT_NE(error_of(lacking.dump()).find("an object with \"backend\""), std::string::npos);
}

TEST(ResultJsonDeathTest, ANumberThatIsNotFiniteIsABug) {
  ExperimentResult result = testing::sample_result();
  result.points[0].metrics[0].value = std::numeric_limits<double>::quiet_NaN();
  EXPECT_DEATH(text_of(result), "finite");
}

TEST(ResultJsonDeathTest, TwoMetricsOfOneNameAreABug) {
  ExperimentResult result = testing::sample_result();
  result.points[0].metrics.push_back(result.points[0].metrics[0]);
  EXPECT_DEATH(text_of(result), "unique names");
}

}  // namespace
}  // namespace howard::reports
