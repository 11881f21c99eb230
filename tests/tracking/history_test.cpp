// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/history.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "harness/tracking/formats/json_lines.h"
#include "harness/tracking/series_history.h"
#include "tests/error_of.h"
#include "tests/tracking/made_run.h"

namespace howard::tracking {
namespace {

namespace fs = std::filesystem;

class HistoryFile : public ::testing::Test {
 protected:
  HistoryFile() { fs::create_directories(folder_); }
  ~HistoryFile() override {
    fs::permissions(folder_, fs::perms::owner_all);
    fs::remove_all(folder_);
  }

  std::string error_of(History::Access access = History::Access::read) const {
    return howard::error_of([&] { const History history(path_, access); });
  }

  const fs::path folder_ = fs::path(::testing::TempDir()) /
                           ("howard_history_" + std::to_string(::getpid()) + "_" +
                            ::testing::UnitTest::GetInstance()->current_test_info()->name());
  const fs::path path_ = folder_ / "perf.db";
};

Run full_run(const std::string& commit, std::int64_t time, std::int64_t picoseconds) {
  tracking::Run run = run_with(
      {exact_row("a", picoseconds), exact_row("a", 7, "kernel_time.matmul"),
       sampled_row("b \"quoted\"", 0.1 + 1e-9 * static_cast<double>(time)),
       words_row("a", "bound_by", "in0 reads"), words_row("c", "", "out of L1", Kind::failed)},
      commit);
  run.rows[2].samples = {0.25, 0.5};  // which a 32-bit float holds
  run.branch = "main";
  run.parent = "p" + commit;
  run.time = time;
  run.conditions = {.machine = "AMD, 2 threads",
                    .chip = "n300",
                    .software = "s",
                    .build = "Release",
                    .compiler = "GNU",
                    .tool = "howard",
                    .seed = 3};
  run.constants = {{"noc.link", "28 B/cycle"}};
  return run;
}

TEST_F(HistoryFile, ARunComesBackAsItWasStored) {
  tracking::Run run = full_run("abcdef12", 5, 1000);
  {
    History history(path_, History::Access::write);
    EXPECT_TRUE(history.add(run));
    EXPECT_EQ(run.id.size(), 32U);
    EXPECT_FALSE(history.add(run)) << "a run of that id is there";
  }
  const History history(path_);
  EXPECT_EQ(history.run_count(), 1U);
  EXPECT_EQ(run_line(history.load(*history.find_run("abcdef12"))), run_line(run));
  EXPECT_EQ(run_line(parse_run_line(run_line(run), "line")), run_line(run));
}

TEST_F(HistoryFile, RunsAreFoundByCommitBeginningOrBranchAndTheCleanLastOneCounts) {
  History history(path_, History::Access::write);
  for (tracking::Run run : {full_run("abcdef12", 1, 1), full_run("abcdef12", 2, 2),
                            full_run("abcdef12-dirty", 3, 3), full_run("abcdff00", 4, 4)}) {
    history.add(run);
  }
  const auto time_of = [&](const char* name) {
    return history.load(*history.find_run(name)).rows.front().picoseconds;
  };
  EXPECT_EQ(time_of("abcdef12"), 2);
  EXPECT_EQ(time_of("abcde"), 2);
  EXPECT_EQ(time_of("abcdef12-dirty"), 3);
  EXPECT_EQ(time_of("main"), 4);
  EXPECT_FALSE(history.find_run("0000"));
  EXPECT_THROW(static_cast<void>(history.find_run("abcd")), Error) << "two commits begin so";
}

TEST_F(HistoryFile, ACommitOfAnyNameIsFoundAndCopiesCountOnce) {
  History history(path_, History::Access::write);
  for (const char* const name : {"v1.0", "release-1.1-dirty"}) {
    tracking::Run run = full_run(name, 1, 1);
    history.add(run);
  }
  EXPECT_EQ(history.load(*history.find_run("v1.0")).commit, "v1.0");
  EXPECT_EQ(history.load(*history.find_run("release-1.1")).commit, "release-1.1-dirty");
  EXPECT_FALSE(history.find_run("v1")) << "it is no name of git's, and stands for itself";
  EXPECT_EQ(short_commit("release-2026-11"), "release-2026-11");
  EXPECT_EQ(short_commit("0123456789abcdef-dirty"), "0123456789ab-dirty");
  std::vector<std::int64_t> runs;
  for (const char* const commit : {"c1", "c2", "c2"}) {
    tracking::Run run = full_run(commit, 7, 7);
    run.id = content_id(run);
    history.add(run);
    runs.push_back(*history.find_run(commit));
  }
  EXPECT_EQ(runs[1], runs[2]) << "the same run of the same commit is stored once";
  EXPECT_EQ(history.without_copies({runs[0], runs[1]}), std::vector<std::int64_t>{runs[1]});
}

TEST_F(HistoryFile, ASeriesIsGivenInTheOrderOfCommitsNotOfRuns) {
  History history(path_, History::Access::write);
  for (const auto& [commit_time, picoseconds] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{300, 4}, {100, 1}, {200, 2}}) {
    tracking::Run run = full_run("c" + std::to_string(commit_time), 1000, picoseconds);
    run.commit_time = commit_time;
    history.add(run);
  }
  const auto series = history.find_series("a time");
  ASSERT_EQ(series.size(), 1U);
  const SeriesHistory one = series_history(history, series[0], "main", 100);
  ASSERT_EQ(one.points.size(), 3U);
  EXPECT_EQ(one.points[0].picoseconds, 1);
  EXPECT_EQ(one.points[2].picoseconds, 4);
  EXPECT_EQ(one.changes, (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(sparkline(one.points, 10, false), "▁▃█");
  EXPECT_EQ(sparkline(one.points, 10, true), "039");
  EXPECT_EQ(history.points(series[0].number, "main", 2).front().picoseconds, 2);
  EXPECT_TRUE(history.points(series[0].number, "other", 2).empty());
}

TEST_F(HistoryFile, SampledValuesOfEarlierRunsAreThoseOfEqualConditions) {
  History history(path_, History::Access::write);
  for (std::int64_t i = 1; i <= 4; ++i) {
    tracking::Run run = full_run("c" + std::to_string(i), i, 1);
    run.rows[2].value = static_cast<double>(i);
    if (i == 2) run.conditions.compiler = "Clang";
    history.add(run);
  }
  const std::vector<std::int64_t> runs = history.runs_until(4, 10);
  EXPECT_EQ(runs, (std::vector<std::int64_t>{1, 3, 4}));
  EXPECT_EQ(history.runs_until(4, 2), (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(history.runs_of_commit_until(4, 9), std::vector<std::int64_t>{4});
  EXPECT_EQ(history.sampled_values(runs).begin()->second, (std::vector<double>{1, 3, 4}));
}

TEST_F(HistoryFile, AFileThatIsNoDatabaseOfOursIsNamed) {
  EXPECT_NE(error_of().find("there is no such file"), std::string::npos);
  std::ofstream(path_) << std::string(5000, 'x');
  EXPECT_NE(error_of().find("not a database"), std::string::npos) << error_of();
  fs::remove(path_);
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &other), SQLITE_OK);
  sqlite3_exec(other, "CREATE TABLE theirs(x)", nullptr, nullptr, nullptr);
  sqlite3_close(other);
  EXPECT_NE(error_of(History::Access::write).find("another program's"), std::string::npos);
}

TEST_F(HistoryFile, ADatabaseOfANewerSchemaIsRefused) {
  { const History history(path_, History::Access::write); }
  sqlite3* file = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &file), SQLITE_OK);
  sqlite3_exec(file, "PRAGMA user_version=9", nullptr, nullptr, nullptr);
  sqlite3_close(file);
  EXPECT_NE(error_of().find("schema 9, written by a newer version"), std::string::npos);
}

TEST_F(HistoryFile, AReadOnlyFolderCanBeReadAndSaysWhyItIsNotWritten) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  tracking::Run run = full_run("abcdef12", 5, 1000);
  History(path_, History::Access::write).add(run);
  fs::permissions(path_, fs::perms::owner_read);
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(History(path_).run_count(), 1U);
  EXPECT_NE(error_of(History::Access::write), "");
}

TEST_F(HistoryFile, AFullDiskUndoesTheRunAndSaysSo) {
  History history(path_, History::Access::write);
  tracking::Run first = full_run("abcdef12", 5, 1000);
  history.add(first);
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{150'000, old.rlim_max};  // a limit on files looks to SQLite like a full disk
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  tracking::Run large = full_run("abcdef13", 6, 1000);
  for (int i = 0; i < 20'000; ++i) large.rows.push_back(exact_row("x" + std::to_string(i), i));
  EXPECT_THROW(history.add(large), Error);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
  EXPECT_EQ(history.run_count(), 1U);
  tracking::Run second = full_run("abcdef14", 7, 1000);
  EXPECT_TRUE(history.add(second)) << "with room again it goes on";
}

TEST_F(HistoryFile, SeveralWritersAtOnceLoseNothing) {
  constexpr int kWriters = 4, kRuns = 10;
  std::vector<std::thread> writers;
  for (int i = 0; i < kWriters; ++i) {
    writers.emplace_back([&] {
      History history(path_, History::Access::write);
      for (int j = 0; j < kRuns; ++j) {
        tracking::Run run = full_run("abcdef12", j, j);
        history.add(run);
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(History(path_).run_count(), static_cast<std::size_t>(kWriters * kRuns));
}

/// Writes runs until it is killed, and tells `pipe` after each.
[[noreturn]] void write_for_ever(const fs::path& path, int pipe) {
  try {
    History history(path, History::Access::write);
    for (std::int64_t i = 0;; ++i) {
      tracking::Run run = full_run("abcdef12", i, i);
      for (int j = 0; j < 50; ++j) run.rows.push_back(exact_row("x" + std::to_string(j), i));
      history.add(run);
      const char done = 1;
      if (::write(pipe, &done, 1) != 1) break;
    }
  } catch (const std::exception&) {
    ::_exit(3);
  }
  ::_exit(0);
}

// --gtest_repeat runs it more often; 200 kills in a row lost nothing.
TEST_F(HistoryFile, AKilledWriterLosesNoStoredRunAndLeavesNoHalfOfOne) {
  std::mt19937 random(std::random_device{}());
  std::size_t stored = 0;
  for (int kill = 0; kill < 5; ++kill) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) write_for_ever(path_, ends[1]);
    ::close(ends[1]);
    std::this_thread::sleep_for(std::chrono::milliseconds(5 + random() % 40));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "it ended by itself with " << status;
    char done = 0;
    while (::read(ends[0], &done, 1) == 1) ++stored;
    ::close(ends[0]);
    if (!fs::exists(path_) || fs::file_size(path_) == 0) continue;  // killed before the first byte
    const History history(path_, History::Access::write);
    EXPECT_GE(history.run_count(), stored);
    EXPECT_LE(history.run_count(), stored + 1) << "the last one may have been stored unsaid";
    for (const std::int64_t run : history.runs()) {
      EXPECT_EQ(history.load(run).rows.size(), 55U);
    }
    stored = history.run_count();
  }
}

}  // namespace
}  // namespace howard::tracking
