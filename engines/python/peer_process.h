// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/sim_time.h"

namespace howard::python {

/// Describes a program to run and how to run it.
struct PeerCommand {
  std::string name;                ///< The name to use in errors: "PyTorch".
  std::vector<std::string> words;  ///< The path of the program and its arguments.
  /// Environment variables added to ours; a variable without a value is removed.
  std::vector<std::pair<std::string, std::optional<std::string>>> environment;
  std::chrono::milliseconds start_limit{120'000};  ///< The time limit for imports and setting up.
  std::chrono::milliseconds step_limit{300'000};   ///< The time limit for any other answer.
  /// Returns whether the user wants to stop. It is asked ten times a second while we wait for an
  /// answer; if it is empty, nobody wants to stop.
  std::function<bool()> stop;
  std::chrono::milliseconds stop_limit{2000};  ///< The time limit for an answer from then on.
};

/// A program that runs training steps in a process of its own, so that its missing dependencies,
/// thread pools and crashes do not affect us. It measures its own times, which therefore exclude
/// the communication.
///
/// It speaks one JSON object per line over its standard streams:
///
///    at the start      {"ready": {facts in words}}, or {"skip": "why"} if it needs something
///                      that is not installed
///    "step", "finish"  are answered by {"ps": how long it took}
///    "loss"            is answered by {"loss": number}
///    any request       may be answered by {"error": "text"}
///
/// Every failure is thrown as Error with what the process last wrote to its standard error. A
/// failure also ends the process, so the next request fails too.
class PeerProcess {
 public:
  /// Starts the process and waits until it is ready. Throws Error when it is not ready in time, or
  /// ends.
  explicit PeerProcess(PeerCommand command);
  /// Kills the process, whatever it is doing.
  ~PeerProcess();
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  /// Returns why it cannot run here and what to install; returns nothing when it is ready.
  const std::optional<std::string>& skipped() const { return skipped_; }
  /// Returns what it says about itself: {"implementation", "PyTorch 1.13.1"}, ...
  const std::map<std::string, std::string>& facts() const { return facts_; }

  SimTime step();
  /// Waits for work that its steps have left running.
  SimTime finish();
  double loss();

  /// Stops all its threads until the next request. The threads of a pool may spin while they wait
  /// for work, and would take the processor from whatever is measured next.
  void pause();

 private:
  class Child;

  SimTime ask_time(const std::string& request);
  /// Returns the answer to a request: a line with a JSON object that is no error.
  std::string ask(const std::string& request);
  std::string read_answer(std::chrono::milliseconds limit);
  [[noreturn]] void fail(const std::string& what);

  PeerCommand command_;
  std::unique_ptr<Child> child_;
  std::optional<std::string> skipped_;
  std::map<std::string, std::string> facts_;
};

}  // namespace howard::python
