// SPDX-License-Identifier: Apache-2.0
//
// These tests compare the numbers that the program prints and writes in several places.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "tests/cli/cli_fixture.h"

namespace howard::cli {
namespace {

using nlohmann::json;

class Numbers : public CliFixture {};

TEST_F(Numbers, TheTableTheJsonTheCsvAndTheTimesSayTheSameNumbers) {
  const Outcome outcome = run("matmul_sweep --backend emulated --times times.txt");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const std::string csv = content(folder() / "results/matmul_sweep.csv");
  const std::string times = content(folder() / "times.txt");
  const json result = json::parse(content(folder() / "results/matmul_sweep.json"));
  ASSERT_EQ(result["points"].size(), 12U);
  for (const json& point : result["points"]) {
    const std::string id = point["id"];
    const std::string shape = point["params"]["shape"];
    const std::string dispatch = point["params"]["dispatch"];
    const auto picoseconds = point["metrics"]["time"]["picoseconds"].get<std::int64_t>();
    const double seconds = static_cast<double>(picoseconds) * 1e-12;
    EXPECT_DOUBLE_EQ(point["metrics"]["time"]["value"].get<double>(), seconds) << id;
    const double size = std::stod(shape);
    EXPECT_DOUBLE_EQ(point["metrics"]["throughput"]["value"].get<double>(),
                     2 * size * size * size / seconds)
        << id;
    EXPECT_TRUE(
        contains(times, "matmul_sweep/" + id + " time " + std::to_string(picoseconds) + "\n"))
        << id;
    std::smatch found;
    const std::regex row(shape + " +" + dispatch + " +([0-9.]+) ");
    ASSERT_TRUE(std::regex_search(outcome.out, found, row)) << id;
    EXPECT_NEAR(std::stod(found[1]), seconds * 1e6, 0.00501) << id << ", in microseconds";
    const std::regex line(shape + "," + dispatch + ",[^\n]*?,time,([^,]+),s,");
    ASSERT_TRUE(std::regex_search(csv, found, line)) << id;
    EXPECT_DOUBLE_EQ(std::stod(found[1]), seconds) << id;
  }
}

}  // namespace
}  // namespace howard::cli
