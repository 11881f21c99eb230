// SPDX-License-Identifier: Apache-2.0
//
// These tests check what a run does when streams take nothing, when it is asked to end and when it
// is given nonsense. They run the real program. tests/faults/sweep.sh does the same at random and
// on full disks.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "tests/cli/cli_fixture.h"

namespace howard::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Faults : public CliFixture {
 protected:
  fs::path results() const { return folder() / "results"; }
  /// Expects that the files of a run are whole and that nothing else is there.
  void expect_all_files() const {
    EXPECT_EQ(json::parse(content(results() / "matmul_sweep.json"))["points"].size(), 1U);
    EXPECT_TRUE(content(results() / "matmul_sweep.csv").starts_with("experiment,"));
    EXPECT_TRUE(content(results() / "matmul_sweep.gp").starts_with("# Draws "));
    for (const auto& entry : fs::directory_iterator(results())) {
      EXPECT_EQ(entry.path().stem(), "matmul_sweep") << entry.path();
    }
  }
};

const std::string kOnePoint =
    "matmul_sweep --backend emulated -a shape=512 -a dispatch=eth --results results ";

// 2>&- closes standard error, so the next file to be opened would be number 2 and receive the
// messages.
TEST_F(Faults, AStandardErrorThatTakesNothingChangesNothing) {
  for (const std::string closed : {"2>/dev/full", "2>&-"}) {
    fs::remove_all(results());
    const Outcome outcome = run(kOnePoint + "--color never >out " + closed + " #");
    EXPECT_EQ(outcome.status, 0) << closed;
    EXPECT_TRUE(contains(content(folder() / "out"), "512x512x512")) << closed;
    expect_all_files();
    EXPECT_EQ(run("matmul_sweep --nonsense >out " + closed + " #").status, 2) << closed;
    EXPECT_EQ(run("report missing.json >out " + closed + " #").status, 1) << closed;
  }
}

TEST_F(Faults, AStandardOutputThatTakesNothingIsSaidAndAllFilesAreWritten) {
  for (const std::string closed : {">/dev/full", ">&-"}) {
    fs::remove_all(results());
    const Outcome outcome = run(kOnePoint + closed + " 2>err #");
    EXPECT_EQ(outcome.status, 1) << closed;
    const std::string said = content(folder() / "err");
    EXPECT_TRUE(contains(said, "wrote results/matmul_sweep.")) << said;
    EXPECT_TRUE(contains(said, "run_experiment: cannot write standard output: ")) << said;
    expect_all_files();
    EXPECT_EQ(run(kOnePoint + closed + " 2>/dev/full <&- #").status, 1) << "all three";
    EXPECT_EQ(run("explain -a m=64 -a k=64 -a n=64 " + closed + " 2>&- #").status, 1);
    EXPECT_EQ(run(kOnePoint + "--json - " + closed + " 2>err #").status, 1);
    EXPECT_TRUE(contains(content(folder() / "err"), "cannot write standard output: "));
  }
}

TEST_F(Faults, AReaderThatGoesAwayEndsNoRun) {
  run(kOnePoint + "2>err | true #");
  EXPECT_FALSE(contains(content(folder() / "err"), "cannot")) << content(folder() / "err");
  expect_all_files();
}

TEST_F(Faults, AFileThatFindsNoRoomIsNamedAndTheOthersAreWritten) {
  // In blocks of 512 bytes the JSON fits and the PNG does not.
  const Outcome outcome = run(kOnePoint, "ulimit -f 32;");
  if (!fs::exists("/usr/bin/gnuplot")) GTEST_SKIP() << "no gnuplot";
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(contains(outcome.err, "results/matmul_sweep.png: ")) << outcome.err;
  EXPECT_FALSE(fs::exists(results() / "matmul_sweep.png"));
  EXPECT_FALSE(contains(outcome.err, "of an earlier one")) << outcome.err;
  expect_all_files();
}

TEST_F(Faults, AScriptThatFindsNoRoomForItsProgramSaysSoInALine) {
  put("script.py",
      "import ttnn\ndevice = ttnn.open_device(device_id=0)\n"
      "for i in range(100):\n    ttnn.zeros((32, i * i + 1), device=device)\n"
      "ttnn.close_device(device)\n");
  // Python would cache its modules in the build tree, cut short without an error.
  const Outcome outcome = run("python script.py", "export PYTHONDONTWRITEBYTECODE=1; ulimit -f 1;");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(contains(outcome.err, "cannot write results/script.workload.json: ")) << outcome.err;
  EXPECT_FALSE(contains(outcome.err, "Traceback")) << outcome.err;
  EXPECT_TRUE(fs::is_empty(results()));
}

// The checkpoint finds room, and the whole result, which takes its place, does not.
TEST_F(Faults, AFileOfThisRunThatCouldNotBeReplacedIsNotCalledAnOlderOne) {
  const Outcome outcome =
      run("matmul_sweep --backend host --repetitions 1 --min-time 1.2 -a shape=16,17,18,19",
          "ulimit -f 14;");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(contains(outcome.err, "cannot write ")) << outcome.err;
  EXPECT_FALSE(contains(outcome.err, "of an earlier one")) << outcome.err;
}

TEST_F(Faults, EverySignalThatAsksForAnEndKeepsWhatIsFinished) {
  for (const std::string signal : {"TERM", "HUP"}) {
    fs::remove_all(results());
    // Two signals come at once, as timeout(1) and terminals send them, once the first point is
    // written.
    const Outcome outcome =
        run("matmul_sweep --backend host --repetitions 1 --min-time 0.6 "
            "-a shape=16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31",
            "sh -c '\"$@\" & until [ -s results/matmul_sweep.json ]; do sleep 0.1; done; kill -" +
                signal + " $!; kill -" + signal + " $!; wait $!' sh");
    EXPECT_EQ(outcome.status, 130) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "; interrupted")) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "wrote results/matmul_sweep.")) << outcome.err;
    const json result = json::parse(content(results() / "matmul_sweep.json"));
    EXPECT_TRUE(result["interrupted"].get<bool>());
    EXPECT_GE(result["points"].size(), 1U);
  }
}

// Each of them waits for its input when the signal comes: a pipe into which nobody writes.
TEST_F(Faults, ACommandThatKeepsNothingSaysThatItWasInterrupted) {
  ASSERT_EQ(::mkfifo((folder() / "pipe.json").c_str(), 0600), 0);
  for (const std::string command :
       {"fit -c pipe.json", "explain -a m=64 -a k=64 -a n=64 --chip pipe.json",
        "tune -a m=64 -a k=64 -a n=64 --chip pipe.json", "report ."}) {
    const Outcome outcome =
        run(command, "sh -c '\"$@\" & exec 3>pipe.json; kill -TERM $!; wait $!' sh");
    EXPECT_EQ(outcome.status, 130) << command;
    EXPECT_TRUE(contains(outcome.err, "run_experiment: interrupted")) << command << outcome.err;
  }
}

TEST_F(Faults, AnIgnoredHangUpStaysIgnored) {
  const Outcome outcome = run(
      "matmul_sweep --backend host --repetitions 1 --min-time 0.6 -a shape=16,17,18",
      "sh -c 'trap \"\" HUP; \"$@\" & until [ -s results/matmul_sweep.json ]; do sleep 0.1; done; "
      "kill -HUP $!; wait $!' sh");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_FALSE(json::parse(content(results() / "matmul_sweep.json"))["interrupted"].get<bool>());
}

TEST_F(Faults, JsonThatIsNestedTooDeepIsRefusedInWords) {
  const std::string deep(100'000, '[');
  const std::string end(100'000, ']');
  put("list.json", deep + end);
  put("cut.json", deep);
  put("result.json", R"({"schema": "howard.result/1", "points": )" + deep + end + "}");
  put("trace.json", R"({"traceEvents": [{"args": )" + deep + end + "}]}");
  put("profile.json", R"({"schema": "howard.profile/1", "constants": )" + deep + end + "}");
  fs::create_directory(results());
  fs::copy(folder() / "result.json", results());
  for (const std::string command :
       {"report results", "analyze list.json", "analyze cut.json", "analyze result.json",
        "analyze trace.json", "compare result.json list.json", "compare cut.json result.json"}) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.status, 1) << command << outcome.err;
    EXPECT_TRUE(contains(outcome.err, " more than 200 deep")) << command << outcome.err;
  }
  const Outcome outcome = run(kOnePoint + "--chip ./profile.json");
  EXPECT_NE(outcome.status, 0);
  EXPECT_TRUE(contains(outcome.err, " more than 200 deep")) << outcome.err;
}

TEST_F(Faults, NumbersWhoseQuotientIsNoNumberAreRefusedInWords) {
  ASSERT_EQ(run("matmul_sweep --backend emulated -a shape=4096 -a dispatch=eth").status, 0);
  // This keeps the order of the file, whose beginning tells what it is.
  auto result = nlohmann::ordered_json::parse(content(results() / "matmul_sweep.json"));
  for (const auto& [time, published] : {std::pair{1e300, 1e-300}, std::pair{1e-300, 1e300}}) {
    for (auto& metric : result["points"][0]["metrics"]) metric["value"] = time;
    result["points"][0]["reference"]["value"] = published;
    put("results/matmul_sweep.json", result.dump());
    for (const std::string format : {"md", "csv", "latex", "google-benchmark"}) {
      const Outcome outcome = run("report results --format " + format);
      EXPECT_EQ(outcome.status, 1) << format;
      EXPECT_TRUE(contains(outcome.err, "accepted: a number of 1e-60 to 1e60, or 0"))
          << outcome.err;
    }
  }
}

}  // namespace
}  // namespace howard::cli
