// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/terminal/interruption.h"

#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string>

#include "harness/cli/exit_status.h"

namespace howard::cli {
namespace {

// Holds when the first signal came, in milliseconds of the steady clock; 0 if none has come. It is
// a global because a signal handler can reach nothing else.
std::atomic<std::int64_t> first_signal = 0;  // NOLINT(*-avoid-non-const-global-variables)
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

// Holds what is said at the first signal: a literal, or a text that is never changed again.
std::atomic<const char*> said_at_signal = "";  // NOLINT(*-avoid-non-const-global-variables)
static_assert(std::atomic<const char*>::is_always_lock_free);

/// Writes a line to standard error as a signal handler may, below a status line if there is one.
void say_in_handler(const char* line) {
  const auto say = [](const char* text) {
    [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, text, std::strlen(text));
  };
  if (::isatty(STDERR_FILENO) != 0) say("\n");
  say(line);
  say("\n");
}

/// Signals closer together than this are one request: timeout(1) sends two at once, and a closed
/// terminal sends two or three.
constexpr std::int64_t kOneWish = 500;

/// The first signal asks for an end, and a later one demands it.
void on_signal(int signal) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t time = 1 + now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
  std::int64_t first = 0;
  if (first_signal.compare_exchange_strong(first, time)) {
    const char* const line = said_at_signal;
    if (*line != '\0') say_in_handler(line);
    return;
  }
  if (time - first < kOneWish) return;
  std::signal(signal, SIG_DFL);
  raise(signal);
}

/// Says that the program ends, and ends it.
void end_in_handler(int /*signal*/) {
  say_in_handler(said_at_signal);
  ::_exit(kInterrupted);
}

void handle_signals(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    // nohup wants to outlive its terminal. Ctrl-C counts even if a script has started us in the
    // background, where its shell sets SIGINT to be ignored.
    if (signal == SIGHUP && before.sa_handler == SIG_IGN) continue;
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace

bool interrupted() { return first_signal != 0; }

void catch_signals(const char* promise) {
  said_at_signal = promise;
  handle_signals(on_signal);
}

void end_on_signals() {
  static const std::string line = std::string(program_invocation_short_name) + ": interrupted";
  said_at_signal = line.c_str();
  handle_signals(end_in_handler);
}

}  // namespace howard::cli
