// SPDX-License-Identifier: Apache-2.0
//
// These tests store runs, look at their history and compare them in a git checkout of their own.
// They run the real program.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/cli_fixture.h"

namespace howard::cli {
namespace {

using nlohmann::json;

const std::string kSweep = "matmul_sweep --backend emulated -a shape=512 -a dispatch=eth ";

class Tracking : public CliFixture {
 protected:
  /// Runs git in the test's folder, without the user's settings.
  void git(const std::string& words) const {
    const std::string command =
        "cd '" + folder().string() +
        "' && GIT_CONFIG_GLOBAL=/dev/null git -c user.name=t -c user.email=t@example.org " + words +
        (words.find('>') == std::string::npos ? " >/dev/null 2>&1" : "");
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
  /// Makes a commit in which constant.txt holds `picoseconds`.
  void commit(const std::string& picoseconds, const std::string& subject = "time") const {
    put("constant.txt", picoseconds + "\n");
    git("add constant.txt");
    git("commit --allow-empty -m '" + subject + "'");
  }
  void put_times(const std::string& file, const std::string& picoseconds) const {
    put(file, "howard.times/1\n# chip c, software s, seed 1\na time " + picoseconds + "\n");
  }
  void put_google(const std::string& file, double microseconds) const {
    put(file, google(microseconds));
  }
  static std::string google(double microseconds) {
    return R"({"context": {}, "benchmarks": [{"name": "BM_a", "run_type": "iteration",)"
           R"( "real_time": )" +
           std::to_string(microseconds) + R"(, "time_unit": "us"}]})";
  }
};

TEST_F(Tracking, RunsAreStoredByCommitShownAndComparedWithTheMergeBase) {
  git("init -b main");
  for (const char* const picoseconds : {"100", "100", "120"}) {
    commit(picoseconds);
    put_times("a.txt", picoseconds);
    const Outcome stored = run("track a.txt --db perf.db");
    ASSERT_EQ(stored.status, 0) << stored.err;
    EXPECT_TRUE(contains(stored.out, "1 metric of commit ") && contains(stored.out, "(main)"))
        << stored.out;
  }
  const Outcome elsewhere = run("history a --db perf.db --branch mian");
  EXPECT_EQ(elsewhere.status, 1);
  EXPECT_TRUE(contains(elsewhere.err, "the history of branch mian: perf.db has no run of it"))
      << elsewhere.err;
  const Outcome shown = run("history a --db perf.db");
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_TRUE(contains(shown.out, "120 ps") && contains(shown.out, "changed +20 %")) << shown.out;
  EXPECT_TRUE(contains(shown.out, "▁▁█") || contains(shown.out, "009")) << shown.out;

  git("checkout -b topic main~1");
  commit("130");
  put_times("b.txt", "130");
  ASSERT_EQ(run("track b.txt").status, 0) << "perf.db is the default";
  const Outcome slower = run("compare HEAD");
  EXPECT_EQ(slower.status, 3) << slower.err;
  EXPECT_TRUE(contains(slower.out, "100") && contains(slower.out, "130") &&
              !contains(slower.out, "120"))
      << "the merge base has 100: " << slower.out;
  EXPECT_EQ(run("compare main topic --db perf.db").status, 3);
  EXPECT_EQ(run("compare main main --db perf.db").status, 0);
  // What main has by now is not the branch's fault.
  put_times("c.txt", "120");
  const Outcome stale = run("compare main~1 c.txt --db perf.db");
  EXPECT_EQ(stale.status, 0) << stale.out;
  EXPECT_TRUE(contains(stale.out, "1 stale")) << stale.out;
  EXPECT_EQ(run("compare main~1 c.txt --db perf.db --strict").status, 4);
  git("rev-parse --short=12 main > tip.txt");
  const std::string tip = content(folder() / "tip.txt").substr(0, 12);
  EXPECT_TRUE(contains(run("compare main~1 c.txt --db perf.db --format md").out,
                       "the baseline's branch has had this level since " + tip + " (main)"));
  EXPECT_EQ(run("compare nowhere main --db perf.db").status, 1);
}

TEST_F(Tracking, ALaterCommitOfTheSameBranchThatIsSlowerIsNoStaleFinding) {
  git("init -b main");
  for (const char* const picoseconds : {"100", "100", "136", "136", "136"}) {
    commit(picoseconds);
    put_times("a.txt", picoseconds);
    ASSERT_EQ(run("track a.txt").status, 0);
    if (picoseconds == std::string("100")) git("tag --force v1");
  }
  for (const char* const later : {"main", "main~1", "main~2", "a.txt"}) {
    const Outcome slower = run(std::string("compare v1 ") + later + " --db perf.db");
    EXPECT_EQ(slower.status, 3) << later << slower.out << slower.err;
    EXPECT_TRUE(contains(slower.out, "1 slower")) << slower.out;
  }
}

TEST_F(Tracking, ASlowCommitShowsAgainstTheRunsBeforeItAndIsNoneOfThem) {
  git("init -b main");
  for (int i = 0; i < 12; ++i) {
    commit(std::to_string(i));
    put_google("a.json", i < 11 ? 100 + i % 3 : 150);
    ASSERT_EQ(run("track a.json").status, 0);
  }
  const Outcome slower = run("compare main~1 main --db perf.db");
  EXPECT_EQ(slower.status, 3) << slower.out << slower.err;
  EXPECT_EQ(run("compare main --db perf.db").status, 3) << "the baseline is the run before";
  EXPECT_EQ(run("compare main~2 main~1 --db perf.db").status, 0);
}

TEST_F(Tracking, WhatWasMeasuredOnceCountsOnceWhicheverWayItComes) {
  git("init -b main");
  commit("1");
  for (int i = 0; i < 3; ++i) {
    put_google("old.json", 100);
    const Outcome stored = run("track old.json");
    EXPECT_EQ(contains(stored.out, "is there already"), i > 0) << stored.out;
  }
  commit("2");
  put_google("new.json", 103);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(run("track new.json").status, 0);
  const Outcome stored = run("compare HEAD~1 HEAD --db perf.db");
  EXPECT_EQ(stored.status, 0) << stored.out;
  EXPECT_TRUE(contains(stored.out, "1 ambiguous")) << stored.out;
  std::filesystem::create_directories(folder() / "a");
  std::filesystem::create_directories(folder() / "b");
  for (const char* const copy : {"1.json", "2.json", "3.json"}) {
    put_google(std::string("a/") + copy, 100);
    put_google(std::string("b/") + copy, 103);
  }
  const Outcome folders = run("compare a b");
  EXPECT_EQ(folders.status, 0) << folders.out;
  EXPECT_TRUE(contains(folders.out, "1 ambiguous")) << folders.out;
  EXPECT_TRUE(contains(folders.err, "2 of the 3 runs in b are copies")) << folders.err;
}

TEST_F(Tracking, ACommitIsComparedByTheNameThatItWasTrackedUnder) {
  for (const auto& [name, picoseconds] : {std::pair{"v1.0", "100"}, std::pair{"v1.1", "120"}}) {
    put_times("a.txt", picoseconds);
    ASSERT_EQ(run(std::string("track a.txt --db perf.db --commit ") + name).status, 0);
  }
  const Outcome slower = run("compare v1.0 v1.1 --db perf.db");
  EXPECT_EQ(slower.status, 3) << slower.out << slower.err;
}

TEST_F(Tracking, TheFirstRunOfTheBaseHasNothingToBeComparedWith) {
  git("init -b main");
  commit("1");
  put_times("a.txt", "100");
  ASSERT_EQ(run("track a.txt").status, 0);
  const Outcome first = run("compare HEAD --db perf.db --base main");
  EXPECT_EQ(first.status, 0) << first.out << first.err;
  EXPECT_TRUE(contains(first.err, "there is nothing to compare with")) << first.err;
  commit("2");
  put_times("a.txt", "120");
  ASSERT_EQ(run("track a.txt").status, 0);
  EXPECT_EQ(run("compare HEAD --db perf.db --base main").status, 3) << "the commit before it";
}

TEST_F(Tracking, TwoFilesAreComparedByAThreshold) {
  put_google("old.json", 100);
  put_google("new.json", 119);
  EXPECT_EQ(run("compare old.json new.json").status, 0) << "one run of each decides nothing";
  const Outcome gate = run("compare old.json new.json --threshold 5%");
  EXPECT_EQ(gate.status, 3) << gate.out << gate.err;
  EXPECT_TRUE(contains(gate.out, "without regard to noise")) << gate.out;
  EXPECT_EQ(run("compare old.json new.json --threshold 0.2").status, 0);
  const Outcome refused = run("compare old.json new.json --threshold 5");
  EXPECT_EQ(refused.status, 2);
  EXPECT_TRUE(contains(refused.err, "a share from 0 to 1")) << refused.err;
}

TEST_F(Tracking, AFolderOfCriterionIsRead) {
  std::filesystem::create_directories(folder() / "criterion/sum/8/new");
  put("criterion/sum/8/new/estimates.json", R"({"median": {"point_estimate": 100.0}})");
  put("criterion/sum/8/new/benchmark.json", R"({"full_id": "sum of/8"})");
  put("criterion/sum/8/new/sample.json", R"({"iters": [1, 2], "times": [100.0, 240.0]})");
  ASSERT_EQ(run("track criterion --commit v1").status, 0);
  EXPECT_TRUE(contains(run("history").out, "sum of/8"));
}

TEST_F(Tracking, ExportsAreImportedOnce) {
  put_times("a.txt", "100");
  put_google("b.json", 3);
  ASSERT_EQ(run("track a.txt b.json --db perf.db --commit cafe01 --branch main").status, 0);
  ASSERT_EQ(run("history --db perf.db --export runs.jsonl").status, 0);
  const Outcome imported = run("track --import runs.jsonl --db copy.db");
  EXPECT_TRUE(contains(imported.out, "2 runs imported, 0 known")) << imported.out << imported.err;
  EXPECT_TRUE(contains(run("track --import runs.jsonl --db copy.db").out, "0 runs imported, 2"));
  ASSERT_EQ(run("history --db copy.db --export again.jsonl").status, 0);
  EXPECT_EQ(content(folder() / "runs.jsonl"), content(folder() / "again.jsonl"));
  EXPECT_TRUE(contains(run("history --db copy.db").out, "BM_a"));
}

TEST_F(Tracking, TwoProgramsAreComparedInFreshProcesses) {
  put_google("fast.json", 100);
  put_google("slow.json", 150);
  const std::string fast = "--exec-a 'cat fast.json' ";
  EXPECT_EQ(run("compare " + fast + "--exec-b 'cat fast.json'").status, 0);
  const Outcome slower = run("compare " + fast + "--exec-b 'cat slow.json'");
  EXPECT_EQ(slower.status, 3) << slower.err;
  EXPECT_TRUE(contains(slower.out, "+50.0")) << slower.out;
  EXPECT_TRUE(contains(slower.out, "15 pairs of processes and 16 more for 1 suspect"))
      << slower.out;
  const Outcome few = run("compare --pairs 3 " + fast + "--exec-b 'cat fast.json' --strict");
  EXPECT_EQ(few.status, 5);
  EXPECT_TRUE(contains(few.out, "ambiguous")) << few.out;
  const Outcome crash = run("compare " + fast + "--exec-b 'echo no room >&2; exit 3'");
  EXPECT_EQ(crash.status, 1);
  EXPECT_TRUE(contains(crash.err, "it ended with status 3; it said: no room")) << crash.err;
  EXPECT_EQ(run("compare --exec-a true --exec-b true --whole --pairs 1").status, 0);
}

TEST_F(Tracking, AComparisonIsWrittenInTheFormatsOfOthers) {
  put_times("a.txt", "100");
  put_times("b.txt", "200");
  const Outcome github =
      run("compare a.txt b.txt --format github --also junit=j.xml --also bencher=b.json "
          "--also openmetrics=o.txt --also action-benchmark-smaller=s.json",
          "GITHUB_STEP_SUMMARY=summary.md");
  EXPECT_EQ(github.status, 3) << github.err;
  EXPECT_TRUE(contains(github.out, "::error title=performance%3A slower::a: slower")) << github.out;
  EXPECT_TRUE(contains(content(folder() / "summary.md"), "1 regression found"));
  EXPECT_TRUE(contains(content(folder() / "j.xml"), "failures=\"1\""));
  EXPECT_TRUE(contains(content(folder() / "b.json"), "latency"));
  EXPECT_TRUE(contains(content(folder() / "o.txt"), "benchmark_time_seconds{benchmark=\"a\""));
  EXPECT_TRUE(contains(content(folder() / "s.json"), "\"unit\": \"ns\""));
  EXPECT_EQ(run("compare a.txt b.txt --also pdf=x").status, 2);
}

// This is the recipe of docs/tracking.md. The third of five commits moves the time; the fourth does
// not build.
TEST_F(Tracking, GitBisectRunFindsTheCommitThatMovedAnExactTime) {
  git("init -b main");
  for (const int number : {0, 1, 2, 3, 4}) {
    commit(number == 3  ? "does not build"
           : number < 2 ? "100"
                        : "101",
           "number " + std::to_string(number));
  }
  put_times("good.txt", "100");
  put("step.sh",
      "read time <constant.txt && test \"$time\" -gt 0 || exit 125\n"
      "printf 'howard.times/1\\n# chip c, software s, seed 1\\na time %s\\n' $time >now.txt\n"
      "\"$HOWARD\" compare good.txt now.txt --strict\n"
      "case $? in 0) exit 0 ;; 3 | 4) exit 1 ;; *) exit 125 ;; esac\n");
  git("bisect start main main~4");
  ::setenv("HOWARD", HOWARD_RUN_EXPERIMENT, 1);
  git("bisect run sh step.sh >found.txt 2>&1");
  const std::string found = content(folder() / "found.txt");
  EXPECT_TRUE(contains(found, "is the first bad commit")) << found;
  EXPECT_TRUE(contains(found, "    number 2\n")) << found;
}

TEST_F(Tracking, APageSaysWhatHasChangedAndHowItWentBefore) {
  git("init -b main");
  for (const char* const finish : {"40us", "50us"}) {
    commit(finish);
    const std::string results = std::string("of_") + finish;
    ASSERT_EQ(run(kSweep + "--results " + results + " --set host.finish=" + finish).status, 0);
    ASSERT_EQ(run("track " + results + " --db p.db --commit HEAD").status, 0);
  }
  ASSERT_EQ(run(kSweep + "--results new").status, 0);
  const auto page_of = [&](const std::string& arguments, int status) {
    const Outcome outcome = run("report new --page=p.html " + arguments);
    EXPECT_EQ(outcome.status, status) << outcome.err;
    return outcome.err + content(folder() / "p.html");
  };
  const std::string refused = page_of("--against of_50us", 1);
  EXPECT_TRUE(contains(refused, "--anyway")) << "the rest of the page is there";
  EXPECT_TRUE(contains(refused, "<h2>matmul_sweep</h2>"));
  const std::string changed = page_of("--against of_50us --anyway", 0);
  EXPECT_TRUE(contains(changed, "<h2>Changes since of_50us</h2>"));
  EXPECT_TRUE(contains(changed, "constants that moved: host.finish: 50 us -&gt; 40 us") ||
              contains(changed, "constants that moved: host.finish: 50 us -> 40 us"));
  EXPECT_TRUE(contains(changed, "nothing is slower, missing or failed: 1 faster"));
  EXPECT_FALSE(contains(changed, "<h2>History</h2>"));
  // What is checked out is compared with the commit before it, whatever made the results.
  commit("of this checkout");
  const std::string with_base = page_of("--db p.db --anyway", 0);
  EXPECT_TRUE(contains(with_base, "<h2>Changes since ")) << with_base.substr(0, 2000);
  const std::string with_history = page_of("--db p.db --against main --anyway", 0);
  EXPECT_TRUE(contains(with_history, "<h2>History</h2>"));
  EXPECT_TRUE(contains(with_history, "these results: "));
  EXPECT_TRUE(contains(page_of("--db none.db", 1), "no such file")) << "named on the page";
  EXPECT_EQ(run("report new --against of_50us").status, 2) << "tables compare nothing";
  EXPECT_EQ(run("report new --page --anyway").status, 2);
}

TEST_F(Tracking, AReportIsWrittenInTheFormatsOfOthers) {
  ASSERT_EQ(run(kSweep + "--results a").status, 0);
  ASSERT_EQ(run("all_reduce --results b").status, 0);
  const Outcome both = run("report a b/all_reduce.json --format junit");
  EXPECT_EQ(both.status, 0) << both.err;
  EXPECT_TRUE(contains(both.out, "<testsuite name=\"matmul_sweep\" tests=\"1\"")) << both.out;
  EXPECT_TRUE(contains(both.out, "<testsuite name=\"all_reduce\" tests=\"6\"")) << both.out;
  const Outcome github = run("report a b --format github", "GITHUB_STEP_SUMMARY=s.md");
  EXPECT_TRUE(github.out.starts_with("### Performance: 2 experiments, 7 points\n")) << github.out;
  EXPECT_EQ(content(folder() / "s.md"), github.out) << "nothing failed";
  for (const char* const format : {"action-benchmark-smaller", "action-benchmark-bigger", "bencher",
                                   "openmetrics", "google-benchmark"}) {
    EXPECT_EQ(run(std::string("report a b --format ") + format).status, 0) << format;
  }
  EXPECT_TRUE(run("report a a/matmul_sweep.json --format github")
                  .out.starts_with("### Performance: 1 experiment, 1 point\n"))
      << "a file that is named twice is read once";
  ASSERT_EQ(run(kSweep + "--results c").status, 0);
  const Outcome twice = run("report a c");
  EXPECT_EQ(twice.status, 1);
  EXPECT_TRUE(contains(twice.err, "is in a/matmul_sweep.json and in c/matmul_sweep.json"))
      << twice.err;
}

TEST_F(Tracking, TheGateTestsItself) {
  put_google("a.json", 100);
  const Outcome outcome =
      run("selftest-gate --exec 'cat a.json' --comparisons 2 --pairs 8 --json gate.json");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "0 of 2 suites raised a false alarm")) << outcome.out;
  const json found = json::parse(content(folder() / "gate.json"));
  EXPECT_EQ(found.at("schema"), "howard.gate/2");
  EXPECT_EQ(found.at("suites_with_an_alarm").at("of"), 2);
  EXPECT_EQ(found.at("rows_with_an_alarm").at("count"), 0);
  EXPECT_EQ(run("selftest-gate --exec 'cat a.json' --json a.json/gate.json").status, 1);
  put_times("exact.txt", "1");
  const Outcome exact = run("selftest-gate --exec 'cat exact.txt'");
  EXPECT_TRUE(contains(exact.err, "no row of the suite is sampled")) << exact.err;
}

TEST_F(Tracking, TheGateTestsItselfWithProducts) {
  const Outcome outcome = run("selftest-gate --comparisons 1 --pairs 1");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "of 1 suites raised a false alarm")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "of 8 rows")) << outcome.out;
  EXPECT_FALSE(std::filesystem::exists(folder() / "results"));
}

TEST_F(Tracking, ABadDatabaseIsAClearError) {
  EXPECT_TRUE(contains(run("history --db none.db").err, "no such file"));
  put("bad.db", "this is no database, and it is long enough to be seen as one that is broken\n");
  for (const char* const command : {"history --db bad.db", "track a.txt --db bad.db"}) {
    put_times("a.txt", "1");
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.status, 1) << command;
    EXPECT_TRUE(contains(outcome.err, "bad.db")) << outcome.err;
  }
  const Outcome full = run("track a.txt --db full.db", "ulimit -f 1;");
  EXPECT_EQ(full.status, 1);
  EXPECT_TRUE(contains(full.err, "full.db")) << full.err;
  EXPECT_FALSE(std::filesystem::exists(folder() / "full.db"));
  put("empty.json", "{}");
  EXPECT_EQ(run("track empty.json --db x.db").status, 1);
  EXPECT_EQ(run("history nothing --db x.db").status, 1);
  EXPECT_EQ(run("history --last 0").status, 2);
}

}  // namespace
}  // namespace howard::cli
