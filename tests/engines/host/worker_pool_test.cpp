// SPDX-License-Identifier: Apache-2.0
#include "engines/host/worker_pool.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "engines/host/host_options.h"
#include "engines/host/processor_cores.h"

namespace howard::host {
namespace {

const int kThreads = thread_count({});

TEST(WorkerPool, BoundHelpersStayOnCpusOfTheirOwn) {
  if (cores_of_machine(kThreads).empty()) GTEST_SKIP() << "the process may not use all CPUs";
  WorkerPool pool(kThreads, true);
  std::vector<int> cpus(static_cast<std::size_t>(kThreads), -1);
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> arrived = 0;
    pool.run(kThreads, [&](int, int worker) {
      ++arrived;
      while (arrived < kThreads) std::this_thread::yield();
      int& cpu = cpus.at(static_cast<std::size_t>(worker));
      if (round > 0 && worker > 0) {
        EXPECT_EQ(cpu, sched_getcpu());
      }
      cpu = sched_getcpu();
    });
  }
  cpus.erase(cpus.begin());  // the caller may be anywhere
  std::ranges::sort(cpus);
  EXPECT_EQ(std::ranges::adjacent_find(cpus), cpus.end());
}

TEST(WorkerPool, OnlyOneForEveryCpuIsBound) {
  EXPECT_TRUE(cores_of_machine(kThreads + 1).empty());
  EXPECT_TRUE(kThreads == 1 || cores_of_machine(kThreads - 1).empty());
}

TEST(WorkerPool, RunsEveryBlockOnce) {
  WorkerPool pool(kThreads);
  for (int round = 0; round < 2000; ++round) {
    const int blocks = round % 9;
    std::vector<std::atomic<int>> calls(static_cast<std::size_t>(blocks));
    pool.run(blocks, [&](int block, int) { ++calls[static_cast<std::size_t>(block)]; });
    ASSERT_TRUE(std::ranges::all_of(calls, [](const auto& count) { return count == 1; })) << round;
  }
}

TEST(WorkerPool, GivesAWorkerOneBlockAtATime) {
  WorkerPool pool(kThreads);
  std::vector<std::atomic<int>> busy(static_cast<std::size_t>(kThreads));
  std::atomic<bool> shared = false;
  for (int round = 0; round < 200; ++round) {
    pool.run(4 * kThreads, [&](int, int worker) {
      std::atomic<int>& mine = busy.at(static_cast<std::size_t>(worker));
      if (++mine != 1) shared = true;
      std::this_thread::yield();
      --mine;
    });
  }
  EXPECT_FALSE(shared);
}

TEST(WorkerPool, SpreadsBlocksOverItsThreads) {
  WorkerPool pool(kThreads);
  std::atomic<int> arrived = 0;
  // Each block waits for all the others, so only as many threads as blocks can end this.
  pool.run(kThreads, [&](int, int) {
    ++arrived;
    while (arrived < kThreads) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, kThreads);
}

TEST(WorkerPool, FindsItsThreadsAgainAfterTheyHaveLeft) {
  WorkerPool pool(kThreads);
  for (int round = 0; round < 3; ++round) {
    std::atomic<int> arrived = 0;
    pool.run(kThreads, [&](int, int) {
      ++arrived;
      while (arrived < kThreads) std::this_thread::yield();
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

TEST(WorkerPool, TellsWhenTheLastOfItsThreadsHasLeft) {
  if (kThreads == 1) GTEST_SKIP() << "one thread has nobody to stay";
  WorkerPool pool(kThreads);
  std::atomic<int> left = 0;
  std::atomic<bool> staying_then = false;
  pool.when_left([&] {
    staying_then = pool.is_staying();
    ++left;
  });
  EXPECT_FALSE(pool.is_staying());
  std::atomic<int> arrived = 0;
  pool.run(kThreads, [&](int, int) {
    ++arrived;
    while (arrived < kThreads) std::this_thread::yield();
  });
  while (left == 0) std::this_thread::yield();
  EXPECT_FALSE(staying_then);
  pool.when_left({});
}

TEST(WorkerPool, ReportsTheExceptionOfABodyAndGoesOn) {
  WorkerPool pool(kThreads);
  EXPECT_THROW(pool.run(4,
                        [](int block, int) {
                          if (block == 2) throw std::runtime_error("broken");
                        }),
               std::runtime_error);
  std::atomic<int> calls = 0;
  pool.run(4, [&](int, int) { ++calls; });
  EXPECT_EQ(calls, 4);
}

}  // namespace
}  // namespace howard::host
