// SPDX-License-Identifier: Apache-2.0
#include "base/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "base/error.h"

namespace howard {
namespace {

/// The interval at which we check whether a child has ended.
constexpr std::chrono::milliseconds kLook{1};

/// Sets up the file descriptors that a child starts with.
class FileActions {
 public:
  explicit FileActions(const ChildCommand& command) {
    posix_spawn_file_actions_init(&actions_);
    if (!command.folder.empty()) {
      posix_spawn_file_actions_addchdir_np(&actions_, command.folder.c_str());
    }
    const int count = static_cast<int>(command.descriptors.size());
    for (int i = 0; i < count; ++i) {
      // First duplicate each descriptor to a number above all that the child will use, so that no
      // descriptor is overwritten before it has been handed over.
      const int high =
          ::fcntl(command.descriptors[static_cast<std::size_t>(i)], F_DUPFD_CLOEXEC, count);
      if (high < 0) failure_ = errno;
      copies_.push_back(high);
      posix_spawn_file_actions_adddup2(&actions_, high, i);
    }
  }
  ~FileActions() {
    posix_spawn_file_actions_destroy(&actions_);
    for (const int copy : copies_) {
      if (copy >= 0) ::close(copy);
    }
  }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;

  const posix_spawn_file_actions_t* get() const { return &actions_; }
  /// Returns an errno, or 0 when all is well.
  int failure() const { return failure_; }

 private:
  posix_spawn_file_actions_t actions_{};
  std::vector<int> copies_;
  int failure_ = 0;
};

/// Gives the child a process group of its own, unblocks all signals and resets the signals that we
/// ignore to their defaults.
class Attributes {
 public:
  Attributes() {
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes_, 0);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigaddset(&signals, SIGPIPE);
    sigaddset(&signals, SIGXFSZ);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
  }
  ~Attributes() { posix_spawnattr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;

  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

ChildProcess::ChildProcess(const ChildCommand& command) {
  std::vector<std::string> words = command.words;
  std::vector<std::string> variables = command.environment;
  const std::vector<char*> word_pointers = pointers_to(words);
  const std::vector<char*> variable_pointers = pointers_to(variables);
  const FileActions files(command);
  int error = files.failure();
  if (error == 0) {
    error =
        posix_spawn(&process_, words.at(0).c_str(), files.get(), Attributes().get(),
                    word_pointers.data(), variables.empty() ? environ : variable_pointers.data());
  }
  if (error != 0) {
    throw Error(
        {.attempted = "start " + command.name, .value = words.at(0) + ": " + std::strerror(error)});
  }
}

ChildProcess::~ChildProcess() {
  signal_all(SIGKILL);
  wait(Clock::time_point::max());
}

std::optional<int> ChildProcess::wait(Clock::time_point deadline) {
  while (!status_) {
    int status = 0;
    const pid_t ended = ::waitpid(process_, &status, WNOHANG);
    if (ended == process_ || (ended < 0 && errno == ECHILD)) {
      // Our parent may have disabled the reporting of child statuses (SIGCHLD ignored); then we
      // assume that the child succeeded.
      status_ = ended == process_ ? status : 0;
    } else if (Clock::now() > deadline) {
      break;
    } else {
      std::this_thread::sleep_for(kLook);
    }
  }
  return status_;
}

void ChildProcess::signal_all(int number) const {
  if (!status_) ::kill(-process_, number);
}

std::string ending_of(int status) {
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    return "it was ended by signal " + std::to_string(number) + " (" + strsignal(number) + ")";
  }
  return "it ended with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace howard
