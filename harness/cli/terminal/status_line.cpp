// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/terminal/status_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>

#include "harness/cli/terminal/streams.h"
#include "harness/cli/terminal/terminal.h"

namespace howard::cli {
namespace {

constexpr const char* kClearLine = "\r\x1b[K";
constexpr std::chrono::milliseconds kInterval{100};

}  // namespace

StatusLine::StatusLine(bool enabled)
    : enabled_(enabled && terminal_width(STDERR_FILENO).has_value()) {}

void StatusLine::show(std::string text) {
  if (!enabled_) return;
  // One column stays free, because a full line would wrap and could not be overwritten.
  const auto width = static_cast<std::size_t>(terminal_width(STDERR_FILENO).value_or(80));
  text.resize(std::min(text.size(), width - 1));
  drive_terminal(kClearLine);
  fmt::print(stderr, "{}", text);
  shown_ = true;
  next_ = Clock::now() + kInterval;
}

void StatusLine::clear() {
  if (shown_) drive_terminal(kClearLine);
  shown_ = false;
}

}  // namespace howard::cli
