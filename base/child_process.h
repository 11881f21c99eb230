// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace howard {

/// What is to be run, and how.
struct ChildCommand {
  std::string name;                      ///< For errors: "PyTorch".
  std::vector<std::string> words;        ///< The program, a path, and its arguments.
  std::vector<std::string> environment;  ///< NAME=VALUE each; none at all: ours.
  std::filesystem::path folder;          ///< Where it works; empty: where we do.
  /// Which descriptors of ours become its descriptors 0, 1, 2 and so on. It gets no others.
  std::vector<int> descriptors;
};

/// Another program that runs. It is in a process group of its own: a Ctrl-C at the terminal is ours
/// to handle, and the kernel ends a stopped group that loses its parent. It takes every signal as
/// it would when a shell had started it.
class ChildProcess {
 public:
  using Clock = std::chrono::steady_clock;

  /// Starts it. Error when the system refuses.
  explicit ChildProcess(const ChildCommand& command);
  /// Ends it and all that it has started, whatever they are doing.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Waits for its end; how it ended, as waitpid() says it, or absent when `deadline` has passed.
  std::optional<int> wait(Clock::time_point deadline);
  /// To it and all that it has started.
  void signal_all(int number) const;

 private:
  pid_t process_ = 0;
  std::optional<int> status_;  ///< Once it has ended.
};

/// "it ended with status 3" or "it was ended by signal 9 (Killed)".
std::string ending_of(int status);

}  // namespace howard
