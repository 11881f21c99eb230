// SPDX-License-Identifier: Apache-2.0
#include "engines/python/peer_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>
#include <thread>

#include "base/error.h"

namespace howard::python {
namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;

/// Enough of a traceback's end to see what was wrong.
constexpr off_t kMostErrorText = 2000;
/// For a process that has closed its streams, before it is ended by force.
constexpr std::chrono::seconds kEndLimit{5};
/// How long it is waited before the user is asked again. A signal may come to another thread.
constexpr std::chrono::milliseconds kLook{100};

/// A file descriptor that is closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

[[noreturn]] void refuse(const PeerCommand& command, int error) {
  throw Error({.attempted = "start " + command.name,
               .value = command.words.at(0) + ": " + std::strerror(error)});
}

/// Ours with the command's changes, NAME=VALUE each.
std::vector<std::string> environment_of(const PeerCommand& command) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable(*entry);
    const std::string_view name = variable.substr(0, variable.find('='));
    const bool changed = std::ranges::any_of(
        command.environment, [&](const auto& change) { return change.first == name; });
    if (!changed) result.emplace_back(variable);
  }
  for (const auto& [name, value] : command.environment) {
    if (value) result.push_back(name + "=" + *value);
  }
  return result;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

std::string ending_of(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("it was ended by signal {} ({})", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
  }
  return fmt::format("it ended with status {}", WEXITSTATUS(status));
}

}  // namespace

/// The process, and what was read from it.
class PeerProcess::Child {
 public:
  explicit Child(const PeerCommand& command)
      : errors_(memfd_create("standard error", MFD_CLOEXEC)) {
    int ends[2];
    if (errors_.number() < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      refuse(command, errno);
    }
    ours_.emplace(ends[0]);
    const Descriptor theirs(ends[1]);
    start(command, theirs.number());
  }

  ~Child() {
    if (!status_) {
      signal_all(SIGKILL);
      int status = 0;
      while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
      }
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void pause() {
    signal_all(SIGSTOP);
    paused_ = true;
  }

  void send(const std::string& line) {
    if (paused_) signal_all(SIGCONT);
    paused_ = false;
    // A process that is gone shows when its answer is read.
    [[maybe_unused]] const ssize_t sent =
        ::send(ours_->number(), line.data(), line.size(), MSG_NOSIGNAL);
  }

  /// The next line; absent when `deadline`, or the command's limit after a stop, has passed, or
  /// before that when the process has closed its streams.
  std::optional<std::string> read_line(Clock::time_point deadline, const PeerCommand& command) {
    bool stopping = false;
    while (true) {
      if (const auto end = read_.find('\n'); end != std::string::npos) {
        std::string line = read_.substr(0, end);
        read_.erase(0, end + 1);
        return line;
      }
      if (!stopping && command.stop && command.stop()) {
        stopping = true;
        deadline = std::min(deadline, Clock::now() + command.stop_limit);
      }
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
      if (left.count() <= 0) return std::nullopt;
      pollfd waiting{.fd = ours_->number(), .events = POLLIN, .revents = 0};
      const int ready = poll(&waiting, 1, static_cast<int>(std::min(left, kLook).count()));
      if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
      char bytes[4096];
      const ssize_t count = ready < 0 ? 0 : recv(ours_->number(), bytes, sizeof bytes, 0);
      if (count <= 0) {
        closed_ = true;
        return std::nullopt;
      }
      read_.append(bytes, static_cast<std::size_t>(count));
    }
  }

  /// Whether nothing more can be read from it.
  bool closed() const { return closed_; }

  /// How it ended, for a process that has closed its streams.
  std::string ending() {
    const auto deadline = Clock::now() + kEndLimit;
    int status = 0;
    while (waitpid(process_, &status, WNOHANG) == 0) {
      if (Clock::now() > deadline) return "it has closed its streams and goes on";
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    status_ = status;
    return ending_of(status);
  }

  /// The end of what it wrote to its standard error, as one line.
  std::string error_text() const {
    const off_t size = lseek(errors_.number(), 0, SEEK_END);
    const off_t start = std::max<off_t>(0, size - kMostErrorText);
    std::string text(static_cast<std::size_t>(std::max<off_t>(0, size - start)), '\0');
    const ssize_t count = pread(errors_.number(), text.data(), text.size(), start);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, count)));
    while (!text.empty() && text.back() == '\n') text.pop_back();
    std::ranges::replace(text, '\n', '|');
    return text;
  }

 private:
  void start(const PeerCommand& command, int stream) {
    std::vector<std::string> words = command.words;
    std::vector<std::string> variables = environment_of(command);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, stream, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, stream, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, errors_.number(), STDERR_FILENO);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    // A group of its own: an interrupt from the terminal is ours to handle, and the kernel ends a
    // stopped group that loses its parent.
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
    const int error = posix_spawn(&process_, words.at(0).c_str(), &files, &attributes,
                                  pointers_to(words).data(), pointers_to(variables).data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    if (error != 0) {
      status_ = 0;
      refuse(command, error);
    }
  }

  void signal_all(int number) const { kill(-process_, number); }

  Descriptor errors_;
  std::optional<Descriptor> ours_;
  pid_t process_ = 0;
  std::optional<int> status_;  ///< Once it has been waited for.
  std::string read_;
  bool closed_ = false;
  bool paused_ = false;
};

PeerProcess::PeerProcess(PeerCommand command)
    : command_(std::move(command)), child_(std::make_unique<Child>(command_)) {
  const json greeting = json::parse(read_answer(command_.start_limit));
  if (greeting.contains("skip") && greeting["skip"].is_string()) {
    skipped_ = greeting["skip"];
    child_.reset();
    return;
  }
  if (!greeting.contains("ready") || !greeting["ready"].is_object()) {
    fail("it begins with '" + greeting.dump() + "', not with ready or skip");
  }
  for (const auto& [name, value] : greeting["ready"].items()) {
    facts_[name] = value.is_string() ? value.get<std::string>() : value.dump();
  }
}

PeerProcess::~PeerProcess() = default;

SimTime PeerProcess::step() { return ask_time("step"); }

SimTime PeerProcess::finish() { return ask_time("finish"); }

double PeerProcess::loss() {
  const json answer = json::parse(ask("loss"));
  if (!answer.contains("loss") || !answer["loss"].is_number()) {
    fail("it answered 'loss' with '" + answer.dump() + "'");
  }
  return answer["loss"];
}

void PeerProcess::pause() {
  if (child_ != nullptr) child_->pause();
}

SimTime PeerProcess::ask_time(const std::string& request) {
  const json answer = json::parse(ask(request));
  if (!answer.contains("ps") || !answer["ps"].is_number_integer() || answer["ps"] < 0) {
    fail("it answered '" + request + "' with '" + answer.dump() + "'");
  }
  return SimTime::picoseconds(answer["ps"]);
}

std::string PeerProcess::ask(const std::string& request) {
  if (child_ == nullptr) {
    throw Error({.attempted = "run " + command_.name, .value = "its process has ended already"});
  }
  child_->send(request + "\n");
  return read_answer(command_.step_limit);
}

std::string PeerProcess::read_answer(std::chrono::milliseconds limit) {
  std::optional<std::string> line = child_->read_line(Clock::now() + limit, command_);
  if (!line && child_->closed()) fail(child_->ending());
  if (!line) {
    const bool stopped = command_.stop && command_.stop();
    const auto waited = stopped ? std::min(limit, command_.stop_limit) : limit;
    fail(fmt::format("no answer within {:g} s{}", static_cast<double>(waited.count()) * 1e-3,
                     stopped ? " of an interruption" : ""));
  }
  const json answer = json::parse(*line, nullptr, false);
  if (!answer.is_object()) fail("it printed '" + *line + "', which is no JSON object");
  if (answer.contains("error") && answer["error"].is_string()) fail(answer["error"]);
  return std::move(*line);
}

void PeerProcess::fail(const std::string& what) {
  const std::string words = child_->error_text();
  child_.reset();
  throw Error({.attempted = "run " + command_.name,
               .value = words.empty() ? what : what + "; its last words: " + words});
}

}  // namespace howard::python
