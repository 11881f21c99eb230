// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/train_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "harness/cli/terminal.h"

namespace howard::cli {
namespace {

constexpr const char* kClearLine = "\r\x1b[K";

}  // namespace

std::string train_line(const TrainState& state) {
  return fmt::format(
      "step {}/{}  loss {:.4f}  {:.0f} tokens/s  learning rate {:.3g}  memory {:.1f} MiB",
      state.step, state.steps, state.loss, state.tokens_per_second, state.learning_rate,
      static_cast<double>(state.memory.value()) / (1 << 20));
}

TrainProgress::TrainProgress(bool enabled)
    : enabled_(enabled && terminal_width(STDERR_FILENO).has_value()) {}

void TrainProgress::renew(const TrainState& state) {
  if (!enabled_) return;
  std::string line = train_line(state);
  // One column is left free: a full line would wrap and could not be overwritten.
  const auto width = static_cast<std::size_t>(terminal_width(STDERR_FILENO).value_or(80));
  line.resize(std::min(line.size(), width - 1));
  fmt::print(stderr, "{}{}", kClearLine, line);
  std::fflush(stderr);
  shown_ = true;
}

void TrainProgress::keep(const TrainState& state) {
  clear();
  fmt::print(stderr, "{}\n", train_line(state));
}

void TrainProgress::clear() {
  if (shown_) fmt::print(stderr, "{}", kClearLine);
  shown_ = false;
}

}  // namespace howard::cli
