// SPDX-License-Identifier: Apache-2.0
#include "engines/python/peer_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/child_process.h"
#include "base/error.h"
#include "base/json_dump.h"
#include "base/memory_file.h"

namespace howard::python {
namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;

/// This much of a traceback's end is enough to see what was wrong.
constexpr std::size_t kMostErrorText = 2000;
/// A process that has closed its streams may take this long to end before it is killed.
constexpr std::chrono::seconds kEndLimit{5};
/// We ask this often whether the user wants to stop. We ask regularly because the signal may go to
/// another thread.
constexpr std::chrono::milliseconds kLook{100};

/// Returns our environment with the command's changes, as NAME=VALUE each.
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

}  // namespace

/// The process and what was read from it.
class PeerProcess::Child {
 public:
  explicit Child(const PeerCommand& command) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      throw Error({.attempted = "start " + command.name, .value = std::strerror(errno)});
    }
    ours_.emplace(ends[0]);
    const Descriptor theirs(ends[1]);
    process_.emplace(
        ChildCommand{.name = command.name,
                     .words = command.words,
                     .environment = environment_of(command),
                     .folder = {},
                     .descriptors = {theirs.number(), theirs.number(), errors_.descriptor()}});
  }

  void pause() {
    process_->signal_all(SIGSTOP);
    paused_ = true;
  }

  void send(const std::string& line) {
    if (paused_) process_->signal_all(SIGCONT);
    paused_ = false;
    // If the process is gone, reading its answer shows that.
    [[maybe_unused]] const ssize_t sent =
        ::send(ours_->number(), line.data(), line.size(), MSG_NOSIGNAL);
  }

  /// Returns the next line. Returns nothing when `deadline` has passed, when the command's limit
  /// after a stop has passed, or earlier if the process has closed its streams.
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

  /// Returns whether nothing more can be read from it.
  bool closed() const { return closed_; }

  /// Describes how a process that has closed its streams ended.
  std::string ending() {
    const auto status = process_->wait(Clock::now() + kEndLimit);
    return status ? ending_of(*status) : "it has closed its streams and goes on";
  }

  /// Returns the end of what it wrote to its standard error, as one line.
  std::string error_text() const {
    std::string text = errors_.content(kMostErrorText);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    std::ranges::replace(text, '\n', '|');
    return text;
  }

 private:
  /// A file descriptor that is closed on destruction.
  class Descriptor {
   public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() { close(number_); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int number() const { return number_; }

   private:
    int number_;
  };

  MemoryFile errors_;
  std::optional<Descriptor> ours_;
  std::optional<ChildProcess> process_;
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
    fail("it begins with '" + json_dump(greeting) + "', not with ready or skip");
  }
  for (const auto& [name, value] : greeting["ready"].items()) {
    facts_[name] = value.is_string() ? value.get<std::string>() : json_dump(value);
  }
}

PeerProcess::~PeerProcess() = default;

SimTime PeerProcess::step() { return ask_time("step"); }

SimTime PeerProcess::finish() { return ask_time("finish"); }

double PeerProcess::loss() {
  const json answer = json::parse(ask("loss"));
  if (!answer.contains("loss") || !answer["loss"].is_number()) {
    fail("it answered 'loss' with '" + json_dump(answer) + "'");
  }
  return answer["loss"];
}

void PeerProcess::pause() {
  if (child_ != nullptr) child_->pause();
}

SimTime PeerProcess::ask_time(const std::string& request) {
  const json answer = json::parse(ask(request));
  if (!answer.contains("ps") || !answer["ps"].is_number_integer() || answer["ps"] < 0) {
    fail("it answered '" + request + "' with '" + json_dump(answer) + "'");
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
