// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <system_error>

#include "base/child_process.h"
#include "base/error.h"
#include "base/memory_file.h"
#include "base/text.h"

namespace howard::tracking {
namespace {

using Clock = std::chrono::steady_clock;

/// The most that a program may print or write as its results: a hundred times what a benchmark of
/// ten thousand rows does. A program that does so in an endless loop would fill the memory or the
/// disk before its time is up.
constexpr std::uintmax_t kMostOutput = std::uintmax_t{256} << 20;
/// A program that prints as fast as it can prints about as much again until it is looked at.
constexpr std::chrono::milliseconds kLook{20};

/// Returns the size of a file; 0 if there is none.
std::uintmax_t size_of(const std::filesystem::path& file) {
  std::error_code missing;
  const std::uintmax_t size = std::filesystem::file_size(file, missing);
  return missing ? 0 : size;
}

CommandOutcome run_words(const std::string& name, std::vector<std::string> words,
                         const std::filesystem::path& folder, double limit, const Stop& stop,
                         const std::filesystem::path& results) {
  const MemoryFile out, err;
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const Clock::time_point begin = Clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  CommandOutcome outcome;
  {
    ChildProcess child({.name = name,
                        .words = std::move(words),
                        .folder = folder,
                        .descriptors = {nothing, out.descriptor(), err.descriptor()}});
    ::close(nothing);
    std::optional<int> status;
    while (!(status = child.wait(Clock::now() + kLook))) {
      if (stop && stop()) {
        throw Error({.attempted = "wait for " + name, .value = "interrupted"});
      }
      if (out.size() + err.size() + size_of(results) > kMostOutput) {
        throw Error({.attempted = "keep what " + name + " prints",
                     .value = fmt::format("it is more than {} MiB", kMostOutput >> 20),
                     .accepted = "a program that prints its results and ends",
                     .hint = "the same with what it prints besides sent to /dev/null"});
      }
      if (passed() > limit) {
        throw Error({.attempted = "wait for " + name,
                     .value = fmt::format("it takes longer than {} s", limit),
                     .hint = "a larger --limit"});
      }
    }
    outcome.status = *status;
  }
  outcome.seconds = passed();
  outcome.out = out.content();
  outcome.err = err.content();
  return outcome;
}

}  // namespace

CommandOutcome run_command(const std::string& line, double limit, const Stop& stop,
                           const std::filesystem::path& folder,
                           const std::filesystem::path& results) {
  return run_words("'" + line + "'", {"/bin/sh", "-c", line}, folder, limit, stop, results);
}

CommandOutcome run_program(const std::vector<std::string>& words,
                           const std::filesystem::path& folder) {
  constexpr double kLimit = 60;
  std::vector<std::string> all{"/usr/bin/env"};
  all.insert(all.end(), words.begin(), words.end());
  return run_words(words.front(), std::move(all), folder, kLimit, {}, {});
}

std::string last_line(std::string_view text) {
  constexpr std::size_t kLongest = 200;
  text = trimmed(text);
  while (text.ends_with('\n')) text.remove_suffix(1);
  const std::size_t end = text.rfind('\n');
  if (end != std::string_view::npos) text.remove_prefix(end + 1);
  return std::string(trimmed(text.substr(0, kLongest)));
}

}  // namespace howard::tracking
