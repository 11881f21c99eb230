// SPDX-License-Identifier: Apache-2.0
#include "engines/host/worker_pool.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "engines/host/host_options.h"
#include "engines/host/processor_cores.h"

namespace howard::host {
namespace {

const int kThreads = thread_count({});

/// Puts the calling thread on a CPU, which it may leave again.
void go_to(int cpu) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(cpu), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
}

/// Runs one block on each thread of `pool`. Returns the CPU where each block began, and -1 for a
/// thread that has not come within two seconds.
std::vector<int> cpus_of_a_job(WorkerPool& pool) {
  std::vector<int> cpus(static_cast<std::size_t>(kThreads), -1);
  std::atomic<int> arrived = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  pool.run(kThreads, [&](int, int worker) {
    cpus.at(static_cast<std::size_t>(worker)) = sched_getcpu();
    ++arrived;
    while (arrived < kThreads && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  });
  return cpus;
}

bool all_differ(std::vector<int> cpus) {
  std::ranges::sort(cpus);
  return std::ranges::adjacent_find(cpus) == cpus.end();
}

TEST(WorkerPool, BoundWorkersAreOnCpusOfTheirOwnInAllPools) {
  const std::vector<int> machine = cores_of_machine(kThreads);
  if (machine.size() < 2) GTEST_SKIP() << "the process has one CPU, or may not use all of them";
  WorkerPool one(kThreads, true);
  WorkerPool other(kThreads, true);
  constexpr int kRounds = 50;
  int apart = 0;
  for (int round = 0; round < kRounds; ++round) {
    WorkerPool& pool = round % 10 < 7 ? one : other;
    cpus_of_a_job(pool);  // The helpers have come, and stay for a while.
    go_to(machine[static_cast<std::size_t>(round) % machine.size()]);
    apart += all_differ(cpus_of_a_job(pool)) ? 1 : 0;
  }
  // The system may move a thread between the pool's look at its CPU and this test's.
  EXPECT_GE(apart, kRounds - 2);
}

TEST(WorkerPool, LeavesNoThreadBound) {
  if (cores_of_machine(kThreads).size() < 2) GTEST_SKIP() << "nothing is bound here";
  const auto free_cpus = [] {
    cpu_set_t allowed;
    return sched_getaffinity(0, sizeof(allowed), &allowed) == 0 ? CPU_COUNT(&allowed) : 0;
  };
  WorkerPool pool(kThreads, true);
  for (int round = 0; round < 5; ++round) cpus_of_a_job(pool);
  EXPECT_EQ(free_cpus(), kThreads);
  std::atomic<int> arrived = 0;
  pool.run(kThreads, [&](int, int) {
    EXPECT_EQ(free_cpus(), kThreads);
    ++arrived;
    while (arrived < kThreads) std::this_thread::yield();
  });
}

TEST(OwnCore, LeavesACpuThatAnotherHas) {
  const std::vector<int> machine = cores_of_machine(kThreads);
  if (machine.size() < 2) GTEST_SKIP() << "there is no other CPU";
  std::vector<std::unique_ptr<OwnCore>> cores;
  std::vector<int> cpus;
  for (int i = 0; i < kThreads; ++i) {
    cores.emplace_back(std::make_unique<OwnCore>(machine))->keep();
    cpus.push_back(sched_getcpu());
  }
  EXPECT_TRUE(all_differ(cpus));
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

TEST(WorkerPool, HasItsThreadsForAJobThatComesWhileTheyLeave) {
  if (kThreads == 1) GTEST_SKIP() << "one thread has nobody to stay";
  WorkerPool pool(kThreads);
  std::atomic<bool> leaving = false;
  pool.when_left([&] {
    leaving = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  });
  cpus_of_a_job(pool);
  while (!leaving) std::this_thread::yield();
  const std::vector<int> cpus = cpus_of_a_job(pool);
  EXPECT_EQ(std::ranges::count(cpus, -1), 0);
  pool.when_left({});
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
