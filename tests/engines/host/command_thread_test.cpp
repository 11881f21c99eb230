// SPDX-License-Identifier: Apache-2.0
#include "engines/host/command_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/watchdog.h"

namespace howard::host {
namespace {

/// A command that never runs makes its test fail instead of hang.
class CommandThreadTest : public ::testing::Test {
 private:
  howard::testing::Watchdog watchdog_;
};

TEST_F(CommandThreadTest, RunsInOrderOfSubmission) {
  CommandThread thread;
  std::vector<int> order;
  for (int i = 0; i < 1000; ++i) {
    thread.submit([&order, i] { order.push_back(i); });
  }
  thread.finish();
  ASSERT_EQ(order.size(), 1000U);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST_F(CommandThreadTest, RunsWithoutAnybodyWaiting) {
  std::atomic<bool> ran = false;
  CommandThread thread;
  thread.submit([&] { ran = true; });
  while (!ran) std::this_thread::yield();
}

TEST_F(CommandThreadTest, WakesUpAfterALongPause) {
  CommandThread commands;
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::atomic<bool> ran = false;
    commands.submit([&] { ran = true; });
    while (!ran) std::this_thread::yield();
  }
}

class WatchedCommandThread : public CommandThreadTest {
 protected:
  /// Returns with the thread asleep: it has run a command, which nobody else could, and has
  /// released the lock only to sleep.
  WatchedCommandThread() {
    std::atomic<bool> ran = false;
    commands_.submit([&] { ran = true; });
    while (!ran) std::this_thread::yield();
    commands_.wait();
    watched_ = true;
  }

  std::atomic<bool> watched_ = false;
  CommandThread commands_{[this] { return watched_.load(); }};
};

TEST_F(WatchedCommandThread, LeavesACommandToWhoeverWaitsFirst) {
  std::thread::id ran_on;
  commands_.submit([&] { ran_on = std::this_thread::get_id(); });
  commands_.finish();
  EXPECT_EQ(ran_on, std::this_thread::get_id());
}

TEST_F(WatchedCommandThread, RunsACommandWhenTheWatcherLooks) {
  std::atomic<bool> ran = false;
  commands_.submit([&] { ran = true; });
  commands_.look();
  while (!ran) std::this_thread::yield();
}

TEST_F(WatchedCommandThread, RunsTwoCommandsThatNobodyWaitsFor) {
  std::atomic<bool> ran = false;
  commands_.submit([] {});
  commands_.submit([&] { ran = true; });
  while (!ran) std::this_thread::yield();
}

TEST_F(CommandThreadTest, FinishWaitsForTheRunningCommand) {
  CommandThread commands;
  std::atomic<bool> started = false;
  std::atomic<bool> ended = false;
  commands.submit([&] {
    started = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ended = true;
  });
  while (!started) std::this_thread::yield();
  commands.finish();
  EXPECT_TRUE(ended);
}

TEST_F(CommandThreadTest, AFailureDropsWhatIsBehindItAndIsReportedOnce) {
  CommandThread thread;
  std::atomic<int> ran = 0;
  thread.submit([&] { ++ran; });
  thread.submit([] { throw std::runtime_error("broken"); });
  thread.submit([&] { ++ran; });
  thread.wait();
  EXPECT_EQ(ran, 1) << "the command behind the failed one was dropped";
  EXPECT_THROW(thread.finish(), std::runtime_error);
  EXPECT_NO_THROW(thread.finish());
  thread.submit([&] { ++ran; });
  thread.finish();
  EXPECT_EQ(ran, 2) << "usable afterwards";
}

/// Blocks in a command until it is let go, or until the test ends.
class Blocker {
 public:
  explicit Blocker(CommandThread& commands) {
    commands.submit([this] {
      running_ = true;
      while (!let_go_) std::this_thread::yield();
    });
    while (!running_) std::this_thread::yield();
  }
  void let_go() { let_go_ = true; }

 private:
  std::atomic<bool> running_ = false, let_go_ = false;
};

TEST_F(CommandThreadTest, RunsAtOnceOnTheCallingThreadWhenIdle) {
  CommandThread commands;
  std::thread::id ran_on;
  EXPECT_TRUE(commands.run_if_idle([&] { ran_on = std::this_thread::get_id(); }));
  EXPECT_EQ(ran_on, std::this_thread::get_id());
  commands.submit([] {});
  commands.finish();
  EXPECT_TRUE(commands.run_if_idle([] {})) << "idle again";
}

TEST_F(CommandThreadTest, RunsNothingAtOnceWhileACommandRunsOrWaits) {
  CommandThread commands;
  std::vector<int> order;
  Blocker blocker(commands);
  EXPECT_FALSE(commands.run_if_idle([&] { order.push_back(0); })) << "one runs";
  commands.submit([&] { order.push_back(1); });
  EXPECT_FALSE(commands.run_if_idle([&] { order.push_back(0); })) << "one waits, too";
  commands.submit([&] { order.push_back(2); });
  blocker.let_go();
  commands.finish();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST_F(WatchedCommandThread, RunsNothingAtOnceBeforeACommandThatWaits) {
  std::vector<int> order;
  commands_.submit([&] { order.push_back(1); });
  const bool ran = commands_.run_if_idle([&] { order.push_back(0); });
  commands_.finish();
  EXPECT_FALSE(ran);
  EXPECT_EQ(order, (std::vector<int>{1}));
}

TEST_F(CommandThreadTest, AFailureOfACommandRunAtOnceIsThatOfASubmittedOne) {
  CommandThread commands;
  std::atomic<int> ran = 0;
  EXPECT_TRUE(commands.run_if_idle([] { throw std::runtime_error("broken"); }));
  EXPECT_FALSE(commands.run_if_idle([&] { ++ran; }));
  commands.submit([&] { ++ran; });
  commands.wait();
  EXPECT_EQ(ran, 0) << "what is behind the failed one is dropped";
  EXPECT_THROW(commands.finish(), std::runtime_error);
  EXPECT_TRUE(commands.run_if_idle([&] { ++ran; })) << "usable afterwards";
  EXPECT_EQ(ran, 1);
}

TEST_F(CommandThreadTest, EndsWithCommandsWaitingAndAFailureUnreported) {
  CommandThread thread;
  thread.submit([] { throw std::runtime_error("nobody asks"); });
  for (int i = 0; i < 100; ++i) thread.submit([] {});
}

}  // namespace
}  // namespace howard::host
