// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/train/train_progress.h"

#include <fmt/format.h>

#include <cstdio>

#include "reports/tables/format.h"

namespace howard::cli {

std::string train_line(const TrainState& state) {
  std::string text = fmt::format("step {}/{}  loss {:.4f}  {:.0f} tokens/s", state.step,
                                 state.steps, state.loss, state.tokens_per_second);
  if (state.flops_per_second > 0) {
    text += "  " + reports::format_quantity(state.flops_per_second, "FLOP/s");
  }
  if (!state.bound.empty()) text += "  bound by " + state.bound;
  return text + fmt::format("  learning rate {:.3g}  memory {:.1f} MiB", state.learning_rate,
                            static_cast<double>(state.memory.value()) / (1 << 20));
}

bool TrainProgress::wants_bound() {
  const auto now = std::chrono::steady_clock::now();
  if (!line_.is_enabled() || now < next_bound_) return false;
  next_bound_ = now + std::chrono::seconds(1);
  return true;
}

void TrainProgress::renew(const TrainState& state) {
  if (line_.is_due()) line_.show(train_line(state));
}

void TrainProgress::keep(const TrainState& state) {
  clear();
  fmt::print(stderr, "{}\n", train_line(state));
}

}  // namespace howard::cli
