// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace howard {

/// Describes a program to run and how to run it.
struct ChildCommand {
  std::string name;                ///< The name to use in errors: "PyTorch".
  std::vector<std::string> words;  ///< The path of the program and its arguments.
  /// Each is NAME=VALUE; if empty, the child inherits our environment.
  std::vector<std::string> environment;
  std::filesystem::path folder;  ///< Its working directory; if empty, ours.
  /// These descriptors of ours become its descriptors 0, 1, 2 and so on. It inherits no others.
  std::vector<int> descriptors;
};

/// A child process that runs another program. It has a process group of its own, so a Ctrl-C at the
/// terminal reaches only us, and the kernel ends a stopped group that loses its parent. Its signal
/// handling is what it would be if a shell had started it.
class ChildProcess {
 public:
  using Clock = std::chrono::steady_clock;

  /// Starts the program. Throws Error when the system refuses.
  explicit ChildProcess(const ChildCommand& command);
  /// Kills the child and every process in its group, whatever they are doing.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Waits until the child ends. Returns its status as waitpid() gives it, or nothing when
  /// `deadline` has passed.
  std::optional<int> wait(Clock::time_point deadline);
  /// Sends signal `number` to the child and every process in its group.
  void signal_all(int number) const;

 private:
  pid_t process_ = 0;
  std::optional<int> status_;  ///< Set once the child has ended.
};

/// Describes a status of waitpid(): "it ended with status 3" or "it was ended by signal 9
/// (Killed)".
std::string ending_of(int status);

}  // namespace howard
