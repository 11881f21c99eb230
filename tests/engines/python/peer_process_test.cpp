// SPDX-License-Identifier: Apache-2.0
#include "engines/python/peer_process.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "base/error.h"
#include "tests/error_of.h"

namespace howard::python {
namespace {

/// Returns a peer that is a shell script.
PeerCommand shell(const std::string& script) {
  return {.name = "a fake", .words = {"/bin/sh", "-c", script}};
}

/// Returns a peer that says it is ready and then runs `script`, which may read requests.
PeerCommand ready_shell(const std::string& script) {
  return shell("echo '{\"ready\": {\"pid\": \"'$$'\"}}'; " + script);
}

/// Returns what goes wrong with the first step; empty if nothing does.
std::string failure(const PeerCommand& command) {
  return error_of([&] {
    PeerProcess peer(command);
    peer.step();
  });
}

TEST(PeerProcess, GivesFactsTimesAndLoss) {
  PeerProcess peer(
      shell("echo '{\"ready\": {\"implementation\": \"sh\", \"threads\": 2}}'\n"
            "read request; echo \"{\\\"ps\\\": 12}\"; [ \"$request\" = step ] || exit 1\n"
            "read request; echo \"{\\\"ps\\\": 34}\"; [ \"$request\" = finish ] || exit 1\n"
            "read request; echo \"{\\\"loss\\\": 0.5}\"; [ \"$request\" = loss ] || exit 1"));
  EXPECT_FALSE(peer.skipped());
  EXPECT_EQ(peer.facts().at("implementation"), "sh");
  EXPECT_EQ(peer.facts().at("threads"), "2");
  EXPECT_EQ(peer.step(), SimTime::picoseconds(12));
  EXPECT_EQ(peer.finish(), SimTime::picoseconds(34));
  EXPECT_EQ(peer.loss(), 0.5);
}

TEST(PeerProcess, SaysWhyItIsSkipped) {
  const PeerProcess peer(shell("echo '{\"skip\": \"no torch: install it\"}'"));
  EXPECT_EQ(peer.skipped(), "no torch: install it");
}

TEST(PeerProcess, AProgramThatIsNotThereIsAnError) {
  EXPECT_EQ(failure({.name = "a fake", .words = {"/no/such/program"}}),
            "cannot start a fake: /no/such/program: No such file or directory");
}

TEST(PeerProcess, AnEndIsToldWithItsStatusAndLastWords) {
  EXPECT_EQ(failure(shell("echo first >&2; echo second >&2; exit 3")),
            "cannot run a fake: it ended with status 3; its last words: first|second");
  EXPECT_EQ(failure(ready_shell("read request; exit 4")),
            "cannot run a fake: it ended with status 4");
}

TEST(PeerProcess, ADeathByASignalIsTold) {
  EXPECT_EQ(failure(ready_shell("read request; kill -9 $$")),
            "cannot run a fake: it was ended by signal 9 (Killed)");
}

TEST(PeerProcess, ItsOwnErrorIsPassedOn) {
  EXPECT_EQ(failure(ready_shell("read request; echo '{\"error\": \"out of paper\"}'; read more")),
            "cannot run a fake: out of paper");
  EXPECT_EQ(failure(shell("echo '{\"error\": \"no paper at all\"}'")),
            "cannot run a fake: no paper at all");
}

TEST(PeerProcess, AnAnswerThatIsNoneIsToldAsItIs) {
  EXPECT_EQ(failure(ready_shell("read request; echo hello; read more")),
            "cannot run a fake: it printed 'hello', which is no JSON object");
  for (const std::string answer : {"{\"ps\":-1}", "{\"ps\":1.5}", "{\"loss\":1}"}) {
    EXPECT_EQ(failure(ready_shell("read request; echo '" + answer + "'; read more")),
              "cannot run a fake: it answered 'step' with '" + answer + "'");
  }
  EXPECT_EQ(failure(shell("echo '{}'; read request")),
            "cannot run a fake: it begins with '{}', not with ready or skip");
}

TEST(PeerProcess, SilenceIsAnErrorOnceItsLimitHasPassed) {
  PeerCommand command = ready_shell("sleep 60 & wait");
  command.step_limit = std::chrono::milliseconds(100);
  EXPECT_EQ(failure(command), "cannot run a fake: no answer within 0.1 s");
  command = shell("sleep 60");
  command.start_limit = std::chrono::milliseconds(200);
  EXPECT_EQ(failure(command), "cannot run a fake: no answer within 0.2 s");
}

TEST(PeerProcess, AnInterruptionGivesASilentOneALittleTimeOnly) {
  bool stop = false;
  PeerCommand command = ready_shell("sleep 60 & wait");
  command.stop = [&] { return stop; };
  command.stop_limit = std::chrono::milliseconds(100);
  PeerProcess peer(command);
  stop = true;
  const std::string message = error_of([&] { peer.step(); });
  EXPECT_EQ(message, "cannot run a fake: no answer within 0.1 s of an interruption");
}

TEST(PeerProcess, AnAnswerSoonAfterAnInterruptionIsTaken) {
  PeerCommand command = ready_shell("read request; sleep 0.3; echo '{\"ps\": 1}'; read more");
  command.stop = [] { return true; };
  command.stop_limit = std::chrono::seconds(60);
  EXPECT_EQ(PeerProcess(command).step(), SimTime::picoseconds(1));
}

TEST(PeerProcess, AfterAFailureTheNextRequestFailsToo) {
  PeerProcess peer(ready_shell("exit 1"));
  EXPECT_THROW(peer.step(), Error);
  const std::string message = error_of([&] { peer.step(); });
  EXPECT_EQ(message, "cannot run a fake: its process has ended already");
}

TEST(PeerProcess, ChangesTheEnvironmentAsItIsTold) {
  setenv("PEER_KEPT", "kept", 1);
  setenv("PEER_GONE", "here", 1);
  PeerCommand command =
      shell("echo \"{\\\"skip\\\": \\\"$PEER_KEPT ${PEER_GONE-gone} $PEER_SET\\\"}\"");
  command.environment = {{"PEER_GONE", std::nullopt}, {"PEER_SET", "set"}};
  EXPECT_EQ(PeerProcess(command).skipped(), "kept gone set");
}

/// Returns the letter of a process's state in /proc; '-' if it is gone.
char state_of(const std::string& process) {
  std::ifstream file("/proc/" + process + "/stat");
  std::string text;
  std::getline(file, text);
  const auto name_end = text.rfind(") ");
  return name_end == std::string::npos ? '-' : text.at(name_end + 2);
}

/// Returns whether the process soon gets to `wanted`.
bool comes_to(const std::string& process, char wanted) {
  for (int i = 0; i < 500 && state_of(process) != wanted; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return state_of(process) == wanted;
}

TEST(PeerProcess, PausedItStandsStillUntilTheNextRequest) {
  PeerProcess peer(ready_shell("while read request; do echo '{\"ps\": 1}'; done"));
  const std::string process = peer.facts().at("pid");
  peer.pause();
  EXPECT_TRUE(comes_to(process, 'T'));
  EXPECT_EQ(peer.step(), SimTime::picoseconds(1));
  EXPECT_TRUE(comes_to(process, 'S'));
}

TEST(PeerProcess, IsGoneWithItsObjectWhateverItDoes) {
  std::string process;
  {
    PeerProcess peer(ready_shell("trap '' TERM HUP INT; while :; do sleep 60; done"));
    process = peer.facts().at("pid");
    peer.pause();
  }
  EXPECT_EQ(state_of(process), '-');
}

}  // namespace
}  // namespace howard::python
