// SPDX-License-Identifier: Apache-2.0
#include "base/child_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/memory_file.h"
#include "tests/error_of.h"

namespace howard {
namespace {

constexpr auto kEver = ChildProcess::Clock::time_point::max();

ChildCommand shell(std::string script, std::vector<int> descriptors = {}) {
  return {.name = "the shell",
          .words = {"/bin/sh", "-c", std::move(script)},
          .environment = {},
          .folder = {},
          .descriptors = std::move(descriptors)};
}

std::string ending(const ChildCommand& command) {
  return ending_of(ChildProcess(command).wait(kEver).value());
}

TEST(ChildProcess, ItsEndingIsSaidInWords) {
  EXPECT_EQ(ending(shell("exit 3")), "it ended with status 3");
  EXPECT_EQ(ending(shell("kill -KILL $$")), "it was ended by signal 9 (Killed)");
}

TEST(ChildProcess, AProgramThatIsNotThereIsAnError) {
  ChildCommand command = shell("");
  command.words = {"/nonexistent/program"};
  const std::string message = error_of([&] { const ChildProcess process(command); });
  EXPECT_EQ(message,
            "cannot start the shell: /nonexistent/program: No such file or "
            "directory");
}

TEST(ChildProcess, EachDescriptorBecomesTheOneOfItsPlace) {
  // These numbers are in each other's way, whichever of them are free.
  const MemoryFile a, b, c;
  const std::vector<int> descriptors{c.descriptor(), b.descriptor(), a.descriptor(),
                                     c.descriptor(), b.descriptor(), a.descriptor()};
  EXPECT_EQ(ending(shell("echo 5 >&5; echo 4 >&4; echo 3 >&3", descriptors)),
            "it ended with status 0");
  EXPECT_EQ(a.content(), "5\n");
  EXPECT_EQ(b.content(), "4\n");
  EXPECT_EQ(c.content(), "3\n");
  EXPECT_EQ(a.content(1), "\n");
}

TEST(ChildProcess, AnInterruptOfOurGroupDoesNotReachIt) {
  const MemoryFile out;
  EXPECT_EQ(ending(shell("read -r pid name state parent group rest </proc/$$/stat; "
                         "test $group = $$ && test $group != $PPID && echo alone",
                         {STDIN_FILENO, out.descriptor()})),
            "it ended with status 0");
  EXPECT_EQ(out.content(), "alone\n");
}

TEST(ChildProcess, ItTakesSignalsThatWeHoldOrIgnore) {
  sigset_t held, before;
  sigemptyset(&held);
  sigaddset(&held, SIGTERM);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &held, &before), 0);
  const auto ignored = std::signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(ending(shell("kill -TERM $$; exit 7")), "it was ended by signal 15 (Terminated)");
  EXPECT_EQ(ending(shell("kill -PIPE $$; exit 7")), "it was ended by signal 13 (Broken pipe)");
  std::signal(SIGPIPE, ignored);
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, &before, nullptr), 0);
}

TEST(ChildProcess, OneThatDoesNotEndIsEndedWithAllThatItHasStarted) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  {
    ChildProcess process(shell("sleep 1000 & echo; wait", {STDIN_FILENO, ends[1]}));
    ::close(ends[1]);
    char byte = 0;
    ASSERT_EQ(::read(ends[0], &byte, 1), 1);
    EXPECT_FALSE(process.wait(ChildProcess::Clock::now()));
  }
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), 0) << "nobody is left who could write";
  ::close(ends[0]);
}

TEST(ChildProcess, WhereNobodyAsksHowChildrenEndItIsWaitedForAllTheSame) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  EXPECT_TRUE(ChildProcess(shell("exit 3")).wait(kEver));
  std::signal(SIGCHLD, before);
}

}  // namespace
}  // namespace howard
