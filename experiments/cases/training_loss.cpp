// SPDX-License-Identifier: Apache-2.0
#include "experiments/cases/training_loss.h"

#include <fmt/format.h>

#include <cmath>

namespace howard::experiments {

void describe_loss(double first, double last, harness::PointResult& point) {
  if (!std::isfinite(last)) {
    point.details.emplace_back("loss", fmt::format("{:.6g}, then diverges", first));
    return;
  }
  point.metrics.push_back({.name = "loss", .value = last, .unit = ""});
  point.details.emplace_back("loss", fmt::format("{:.6g} to {:.6g}, {}", first, last,
                                                 last < first ? "falls" : "does not fall"));
}

}  // namespace howard::experiments
