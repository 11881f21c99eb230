// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/formats/machine_formats.h"

#include <gtest/gtest.h>

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "tests/tracking/made_run.h"

namespace howard::tracking {
namespace {

using nlohmann::json;

const std::string kHostile = "a<b>&\"'\n\x01\xff::error::x,%y";

/// Returns a comparison with a row of every verdict.
Comparison every_verdict() {
  Comparison comparison{.before = "old & <", .after = "new"};
  for (const Verdict verdict :
       {Verdict::same, Verdict::faster, Verdict::slower, Verdict::ambiguous, Verdict::stale,
        Verdict::added, Verdict::missing, Verdict::failed}) {
    JudgedRow row{.series = {kHostile + std::string(name_of(verdict)), "time", "s",
                             harness::Better::lower, Kind::sampled},
                  .verdict = verdict,
                  .before = 1e-3,
                  .after = 2e-3,
                  .reason = "because of " + kHostile};
    if (verdict == Verdict::ambiguous) row.needed = 40;
    comparison.rows.push_back(row);
  }
  return comparison;
}

TEST(MachineFormats, JUnitIsXmlWhoseCountsAreThoseOfItsCases) {
  std::istringstream text(junit_xml(every_verdict()));
  boost::property_tree::ptree tree;
  ASSERT_NO_THROW(boost::property_tree::read_xml(text, tree)) << junit_xml(every_verdict());
  const auto& suite = tree.get_child("testsuites.testsuite");
  int cases = 0, failures = 0, errors = 0, skipped = 0;
  for (const auto& [name, node] : suite) {
    if (name != "testcase") continue;
    ++cases;
    failures += static_cast<int>(node.count("failure"));
    errors += static_cast<int>(node.count("error"));
    skipped += static_cast<int>(node.count("skipped"));
    EXPECT_FALSE(node.get<std::string>("<xmlattr>.name").empty());
    EXPECT_FALSE(node.get<std::string>("<xmlattr>.classname").empty());
    EXPECT_TRUE(
        std::regex_match(node.get<std::string>("<xmlattr>.time"), std::regex("[0-9]+\\.[0-9]+")));
  }
  EXPECT_EQ(cases, 8);
  EXPECT_EQ(failures, 3) << "slower, missing, new";
  EXPECT_EQ(errors, 1);
  EXPECT_EQ(skipped, 1);
  for (const char* const element : {"testsuites", "testsuites.testsuite"}) {
    const auto attribute = [&](const char* name) {
      return tree.get<int>(std::string(element) + ".<xmlattr>." + name);
    };
    EXPECT_EQ(attribute("tests"), cases);
    EXPECT_EQ(attribute("failures"), failures);
    EXPECT_EQ(attribute("errors"), errors);
  }
}

TEST(MachineFormats, JUnitOfARunHasASuiteForEachExperimentAndACaseForEachBenchmark) {
  tracking::Run run =
      run_with({exact_row("sweep/a", 1'500'000), exact_row("sweep/a", 5, "k.matmul"),
                words_row("sweep/" + kHostile, "", "no <room>", Kind::failed),
                words_row("grid/b", "", "needs two chips", Kind::skipped)});
  run.conditions.chip = "chip & <>";
  const std::string text = junit_xml(std::vector{run});
  std::istringstream stream(text);
  boost::property_tree::ptree tree;
  ASSERT_NO_THROW(boost::property_tree::read_xml(stream, tree)) << text;
  EXPECT_EQ(tree.get<int>("testsuites.<xmlattr>.tests"), 3);
  EXPECT_EQ(tree.get<int>("testsuites.<xmlattr>.errors"), 1);
  std::map<std::string, const boost::property_tree::ptree*> suites;
  for (const auto& [name, node] : tree.get_child("testsuites")) {
    if (name == "testsuite") suites[node.get<std::string>("<xmlattr>.name")] = &node;
  }
  ASSERT_EQ(suites.size(), 2U);
  const auto& sweep = *suites.at("sweep");
  EXPECT_EQ(sweep.get<int>("<xmlattr>.tests"), 2);
  EXPECT_EQ(sweep.get<int>("<xmlattr>.errors"), 1);
  EXPECT_EQ(std::next(sweep.begin())->first, "properties") << "before the cases";
  EXPECT_EQ(sweep.get<std::string>("testcase.<xmlattr>.time"), "0.000001500000");
  EXPECT_EQ(sweep.get<std::string>("testcase.system-out"), "time 1.500 us");
  EXPECT_EQ(suites.at("grid")->get<std::string>("testcase.skipped.<xmlattr>.message"),
            "needs two chips");
}

TEST(MachineFormats, AFailedBenchmarkOfARunIsAnErrorForGithub) {
  const std::vector<tracking::Run> runs{
      run_with({exact_row("a", 1), words_row("b", "", "no room\nleft", Kind::failed)})};
  EXPECT_EQ(github_annotations(runs), "::error title=performance%3A failed::b: no room%0Aleft\n");
}

TEST(MachineFormats, AnnotationsAreOneCommandALineAndNoNameBreaksOut) {
  std::istringstream lines(github_annotations(every_verdict()));
  int errors = 0, warnings = 0, notices = 0;
  for (std::string line; std::getline(lines, line);) {
    ASSERT_TRUE(std::regex_match(line, std::regex("::(error|warning|notice) title=[^:,]*::.*")))
        << line;
    EXPECT_EQ(line.find("%y"), std::string::npos) << "a percent sign is escaped";
    errors += line.starts_with("::error") ? 1 : 0;
    warnings += line.starts_with("::warning") ? 1 : 0;
    notices += line.starts_with("::notice") ? 1 : 0;
  }
  EXPECT_EQ(errors, 3) << "slower, missing, failed";
  EXPECT_EQ(warnings, 1);
  EXPECT_EQ(notices, 3) << "faster, stale, new";
}

TEST(MachineFormats, GithubShowsTenOfAKindSoTheOthersAreCounted) {
  Comparison comparison;
  for (int i = 0; i < 25; ++i) {
    comparison.rows.push_back(
        {.series = exact_row("a" + std::to_string(i), 1).series, .verdict = Verdict::slower});
  }
  const std::string text = github_annotations(comparison);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 11);
  EXPECT_NE(text.find("15 more"), std::string::npos);
}

TEST(MachineFormats, WhatIsAmbiguousIsOneWarningWhichNamesTheFarthest) {
  Comparison comparison;
  for (int i = 0; i < 25; ++i) {
    comparison.rows.push_back({.series = sampled_row("a" + std::to_string(i), 1).series,
                               .verdict = Verdict::ambiguous,
                               .before = 1,
                               .after = i == 7 ? 1.19 : 1});
  }
  const std::string text = github_annotations(comparison);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  EXPECT_NE(text.find("25 of 25 metrics: too few"), std::string::npos) << text;
  EXPECT_NE(text.find("the farthest is a7"), std::string::npos) << text;
}

TEST(MachineFormats, TheSummaryFitsIntoWhatGithubTakes) {
  Comparison comparison;
  for (int i = 0; i < 30'000; ++i) {
    comparison.rows.push_back({.series = exact_row("a" + std::to_string(i), 1).series,
                               .verdict = Verdict::slower,
                               .before_ps = 1,
                               .after_ps = 2});
  }
  const std::string text = github_summary(comparison);
  EXPECT_LT(text.size(), std::size_t{1} << 20);
  EXPECT_NE(text.find("30000 regressions found"), std::string::npos) << text.substr(0, 200);
  EXPECT_NE(text.find("more rows are not shown"), std::string::npos);
}

std::vector<tracking::Run> sample_runs() {
  Row throughput = sampled_row("b", 5e6);
  throughput.series.metric = "rate of items";
  throughput.series.unit = "1/s";
  throughput.series.better = harness::Better::higher;
  Row sampled = sampled_row(kHostile, 2e-3);
  sampled.samples = {1e-3, 2e-3, 3e-3, 2e-3, 2e-3, 2e-3, 2e-3};
  return {run_with({exact_row("a/1", 1500), exact_row("a/1", 5, "kernel_time.matmul"), sampled,
                    throughput, words_row("a/1", "bound_by", "math")})};
}

TEST(MachineFormats, ActionBenchmarkIsAListOfNamesUnitsAndNumbersOfOneDirection) {
  const std::vector<tracking::Run> runs = sample_runs();
  const json smaller = json::parse(action_benchmark_json(runs, harness::Better::lower));
  ASSERT_EQ(smaller.size(), 2U) << "neither parts nor words";
  for (const json& entry : smaller) {
    EXPECT_TRUE(entry.at("name").is_string() && entry.at("unit").is_string());
    EXPECT_TRUE(entry.at("value").is_number());
  }
  EXPECT_EQ(smaller[0]["name"], "a/1");
  EXPECT_EQ(smaller[0]["unit"], "ns");
  EXPECT_DOUBLE_EQ(smaller[0]["value"], 1.5);
  EXPECT_TRUE(smaller[1].at("range").is_string());
  const json bigger = json::parse(action_benchmark_json(runs, harness::Better::higher));
  ASSERT_EQ(bigger.size(), 1U);
  EXPECT_EQ(bigger[0]["name"], "b rate of items");
}

TEST(MachineFormats, BencherHasAMeasureWithBoundsAroundItsValueForEachBenchmark) {
  const json file = json::parse(bencher_json(sample_runs()));
  EXPECT_EQ(file.size(), 3U);
  for (const auto& [benchmark, measures] : file.items()) {
    for (const auto& [measure, numbers] : measures.items()) {
      const double value = numbers.at("value");
      EXPECT_LE(numbers.value("lower_value", value), value);
      EXPECT_GE(numbers.value("upper_value", value), value);
      for (const auto& [key, number] : numbers.items()) {
        EXPECT_TRUE((std::set<std::string>{"value", "lower_value", "upper_value"}.contains(key)));
        EXPECT_TRUE(number.is_number());
      }
    }
  }
  EXPECT_DOUBLE_EQ(file["a/1"]["latency"]["value"], 1.5);
}

TEST(MachineFormats, OpenMetricsKeepsItsGrammar) {
  const std::string text = openmetrics_text(sample_runs());
  ASSERT_TRUE(text.ends_with("\n# EOF\n"));
  std::istringstream lines(text);
  std::set<std::string> families;
  std::string family;
  const std::regex sample(
      R"re(([a-zA-Z_:][a-zA-Z0-9_:]*)\{([a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)+\} [-+0-9.e]+)re");
  for (std::string line; std::getline(lines, line);) {
    if (line == "# EOF") break;
    if (line.starts_with("# TYPE ")) {
      family = line.substr(7, line.find(' ', 7) - 7);
      EXPECT_TRUE(families.insert(family).second) << "each family once: " << line;
      EXPECT_TRUE(line.ends_with(" gauge"));
    } else if (line.starts_with("# UNIT ")) {
      EXPECT_EQ(line, "# UNIT " + family + " seconds");
      EXPECT_TRUE(family.ends_with("_seconds"));
    } else {
      std::smatch match;
      ASSERT_TRUE(std::regex_match(line, match, sample)) << line;
      EXPECT_EQ(match[1], family) << "below its type";
    }
  }
  EXPECT_NE(text.find("benchmark_time_seconds{benchmark=\"a/1\",kind=\"exact\"} 1.5e-09"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace howard::tracking
