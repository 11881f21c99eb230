// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/cli_fixture.h"

namespace howard::cli {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kOps =
    "op_list --backend emulated -a ops=256x512/layernorm/linear:512/gelu -a engine=dynamic ";

class Learn : public CliFixture {
 protected:
  /// Writes the log of a pass over some ops, whose kernels take `factor` times as long as they
  /// take the emulator, and says where.
  std::string log(int factor) const {
    EXPECT_EQ(run(std::string(kOps) + "--device-logs logs").status, 0);
    for (const auto& entry : fs::recursive_directory_iterator(folder() / "logs")) {
      if (entry.path().filename() != "ops_perf_results.csv") continue;
      put("log.csv", slower(content(entry.path()), factor));
    }
    return "log.csv";
  }
  /// Returns the time of a pass in picoseconds.
  std::int64_t time(const std::string& options) const {
    const Outcome outcome = run(kOps + options + " --json result.json");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    result_ = json::parse(content(folder() / "result.json"));
    return result_["points"][0]["metrics"]["time"]["picoseconds"].get<std::int64_t>();
  }
  mutable json result_;

 private:
  /// Returns a log with each DEVICE KERNEL DURATION so many times as long.
  static std::string slower(const std::string& log, int factor) {
    std::string text;
    std::size_t column = 0;
    for (std::size_t begin = 0; begin < log.size();) {
      const std::size_t end = log.find('\n', begin);
      std::string line = log.substr(begin, end - begin);
      begin = end + 1;
      if (text.empty()) {
        const std::size_t place = line.find("DEVICE KERNEL DURATION [ns]");
        column = static_cast<std::size_t>(
            std::count(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(place), ','));
      } else {
        std::size_t place = 0;
        for (std::size_t i = 0; i < column; ++i) place = line.find(',', place) + 1;
        const std::size_t stop = line.find(',', place);
        const std::string cell = line.substr(place, stop - place);
        if (!cell.empty())
          line.replace(place, stop - place, std::to_string(factor * std::stoll(cell)));
      }
      text += line + '\n';
    }
    return text;
  }
};

TEST_F(Learn, WhatRanOnTheCardTakesWhatItTookThere) {
  const Outcome outcome = run("learn " + log(3) + " -o my_card.json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const char* const part : {"layernorm", "emulator off", " in ", "--card my_card.json"}) {
    EXPECT_TRUE(contains(outcome.out, part)) << part << "\n" << outcome.out;
  }
  const std::int64_t before = time(""), after = time("--card my_card.json");
  EXPECT_GT(after, before);
  EXPECT_EQ(result_["points"][0]["metrics"]["time"]["known"], nullptr);
  EXPECT_TRUE(contains(result_.dump(), "measured by you")) << result_["points"][0].dump(2);
  EXPECT_FALSE(result_["context"]["published_chip"].get<bool>());
  EXPECT_EQ(result_["context"]["chip_profile"], "wormhole_b0_n300 with card=my_card");
  const Outcome compared =
      run("analyze log.csv --compare-emulated --card my_card.json --json compared.json");
  ASSERT_EQ(compared.status, 0) << compared.err;
  EXPECT_TRUE(contains(compared.out, "card my_card was learnt from this log")) << compared.out;
  for (const json& point : json::parse(content(folder() / "compared.json"))["points"]) {
    EXPECT_EQ(point["metrics"]["emulated"]["value"], point["metrics"]["measured"]["value"])
        << point.dump();
  }
}

TEST_F(Learn, ACardGrowsByLogsAndIsNotTaughtTwice) {
  ASSERT_EQ(run("learn " + log(1) + " -o my_card.json").status, 0);
  const Outcome twice = run("learn my_card.json log.csv -o both.json");
  EXPECT_EQ(twice.status, 1);
  EXPECT_TRUE(contains(twice.err, "log.csv is learnt already")) << twice.err;
  EXPECT_TRUE(contains(run("learn my_card.json my_card.json").err, "log.csv is learnt already"));
  fs::copy_file(folder() / "log.csv", folder() / "second.csv");
  const Outcome more = run("learn second.csv my_card.json -o both.json");
  ASSERT_EQ(more.status, 0) << more.err;
  const json card = json::parse(content(folder() / "both.json"));
  EXPECT_EQ(card["name"], "both");
  EXPECT_EQ(card["logs"], json::parse(R"(["log.csv", "second.csv"])"));
  for (const json& kernel : card["kernels"]) EXPECT_EQ(kernel["runs"].get<int>() % 2, 0);
}

TEST_F(Learn, ACardIsRefusedWhereItSaysNothing) {
  ASSERT_EQ(run("learn " + log(1) + " -o my_card.json").status, 0);
  const Outcome chip = run(std::string(kOps) + "--card my_card.json --chip blackhole_p150");
  EXPECT_EQ(chip.status, 1);
  EXPECT_TRUE(contains(chip.err, "--chip wormhole_b0_n300")) << chip.err;
  const Outcome constant = run(std::string(kOps) + "--card my_card.json --set noc.link=30B/cycle");
  EXPECT_NE(constant.status, 0);
  EXPECT_TRUE(contains(constant.err, "what a card measured follows none")) << constant.err;
  put("cut.json", content(folder() / "my_card.json").substr(0, 300));
  EXPECT_TRUE(contains(run("learn cut.json log.csv").err, "cut.json: it is not JSON"));
  EXPECT_EQ(run("learn").status, 2);
  EXPECT_TRUE(contains(run("learn my_card.json --card my_card.json").err, "--card"));
  put("empty.csv", "OP CODE,DEVICE FW START CYCLE,DEVICE KERNEL DURATION [ns]\n");
  EXPECT_EQ(run("learn empty.csv").status, 1);
  EXPECT_EQ(run(std::string(kOps) + "--card matmul.json").status, 2);
}

}  // namespace
}  // namespace howard::cli
