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

/// What is to be run, and how.
struct PeerCommand {
  std::string name;                ///< For errors: "PyTorch".
  std::vector<std::string> words;  ///< The program, a path, and its arguments.
  /// Variables of the environment beside ours; without a value they are taken away.
  std::vector<std::pair<std::string, std::optional<std::string>>> environment;
  std::chrono::milliseconds start_limit{120'000};  ///< For imports and setting up.
  std::chrono::milliseconds step_limit{300'000};   ///< For any other answer.
  /// Asked, ten times a second while an answer is awaited, whether the user wants to stop; empty:
  /// nobody does.
  std::function<bool()> stop;
  std::chrono::milliseconds stop_limit{2000};  ///< For an answer from then on.
};

/// A program that runs training steps in a process of its own, so that what it lacks, its thread
/// pools and its crashes stay there. It times itself: the way to it and back is not in its times.
///
/// One JSON object a line, over its standard streams. It begins with {"ready": {facts in words}},
/// or {"skip": "why"} when something that it needs is not installed. Requests are words: "step" and
/// "finish", each answered by {"ps": how long it took}, and "loss", answered by {"loss": number}.
/// {"error": "text"} may stand in the place of any answer.
///
/// Any failure is an Error with what the process last wrote to its standard error, and ends it; the
/// next request fails too.
class PeerProcess {
 public:
  /// Starts it and waits until it is ready. Error when it is not in time, or ends.
  explicit PeerProcess(PeerCommand command);
  /// Ends it, whatever it is doing.
  ~PeerProcess();
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  /// Why it cannot run here, with what to install; absent when it is ready.
  const std::optional<std::string>& skipped() const { return skipped_; }
  /// What it says about itself: {"implementation", "PyTorch 1.13.1"}, ...
  const std::map<std::string, std::string>& facts() const { return facts_; }

  SimTime step();
  /// Waits for what its steps have left running.
  SimTime finish();
  double loss();

  /// Stops all its threads until the next request: those of a pool may spin while they wait for
  /// work, and would take the processor from whoever is measured next.
  void pause();

 private:
  class Child;

  SimTime ask_time(const std::string& request);
  /// The answer to a request: a line with a JSON object that is no error.
  std::string ask(const std::string& request);
  std::string read_answer(std::chrono::milliseconds limit);
  [[noreturn]] void fail(const std::string& what);

  PeerCommand command_;
  std::unique_ptr<Child> child_;
  std::optional<std::string> skipped_;
  std::map<std::string, std::string> facts_;
};

}  // namespace howard::python
