// SPDX-License-Identifier: Apache-2.0
#include "engines/host/command_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace howard::host {
namespace {

TEST(CommandThread, RunsInOrderOfSubmission) {
  CommandThread thread;
  std::vector<int> order;
  for (int i = 0; i < 1000; ++i) {
    thread.submit([&order, i] { order.push_back(i); });
  }
  thread.finish();
  ASSERT_EQ(order.size(), 1000U);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(CommandThread, RunsWithoutAnybodyWaiting) {
  std::atomic<bool> ran = false;
  CommandThread thread;
  thread.submit([&] { ran = true; });
  while (!ran) std::this_thread::yield();
  SUCCEED();
}

TEST(CommandThread, WakesUpAfterALongPause) {
  CommandThread commands;
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::atomic<bool> ran = false;
    commands.submit([&] { ran = true; });
    while (!ran) std::this_thread::yield();
  }
}

TEST(CommandThread, LeavesAWatchedCommandToWhoeverWaitsFirst) {
  CommandThread commands([] { return true; });
  std::thread::id ran_on;
  commands.submit([&] { ran_on = std::this_thread::get_id(); });
  commands.finish();
  EXPECT_EQ(ran_on, std::this_thread::get_id());
}

TEST(CommandThread, RunsAWatchedCommandWhenTheWatcherLooks) {
  CommandThread commands([] { return true; });
  std::atomic<bool> ran = false;
  commands.submit([&] { ran = true; });
  commands.look();
  while (!ran) std::this_thread::yield();
}

TEST(CommandThread, RunsTwoWatchedCommandsThatNobodyWaitsFor) {
  CommandThread commands([] { return true; });
  std::atomic<bool> ran = false;
  commands.submit([] {});
  commands.submit([&] { ran = true; });
  while (!ran) std::this_thread::yield();
}

TEST(CommandThread, FinishWaitsForTheRunningCommand) {
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

TEST(CommandThread, AFailureDropsWhatIsBehindItAndIsReportedOnce) {
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

TEST(CommandThread, EndsWithCommandsWaitingAndAFailureUnreported) {
  CommandThread thread;
  thread.submit([] { throw std::runtime_error("nobody asks"); });
  for (int i = 0; i < 100; ++i) thread.submit([] {});
}

}  // namespace
}  // namespace howard::host
