// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

#include "harness/cli/terminal.h"

namespace howard::cli {
namespace {

constexpr std::chrono::milliseconds kQuiet{300};
constexpr std::string_view kClearLine = "\r\x1b[K";

}  // namespace

Progress::Progress(std::string title, std::size_t total, bool enabled)
    : title_(std::move(title)),
      total_(total),
      enabled_(enabled && terminal_width(STDERR_FILENO).has_value()) {}

Progress::~Progress() {
  if (shown_) fmt::print(stderr, "{}", kClearLine);
}

void Progress::advance(const std::string& finished) {
  ++done_;
  if (!enabled_ || std::chrono::steady_clock::now() - start_ < kQuiet) return;
  constexpr std::size_t kBar = 24;
  const std::size_t filled = std::min(kBar, kBar * done_ / std::max<std::size_t>(1, total_));
  std::string line = fmt::format("{} [{:#<{}}{:.<{}}] {}/{} {}", title_, "", filled, "",
                                 kBar - filled, done_, total_, finished);
  // One column is left free: a full line would wrap and could not be overwritten.
  const auto width = static_cast<std::size_t>(terminal_width(STDERR_FILENO).value_or(80));
  line.resize(std::min(line.size(), width - 1));
  fmt::print(stderr, "{}{}", kClearLine, line);
  std::fflush(stderr);
  shown_ = true;
}

}  // namespace howard::cli
