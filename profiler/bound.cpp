// SPDX-License-Identifier: Apache-2.0
#include "profiler/bound.h"

namespace howard::profiler {

Pace pace_of(const SpentTime& time) {
  const double enough = 0.97 * time.whole;
  if (time.host >= enough) return Pace::host;
  return time.dispatcher >= enough ? Pace::dispatcher : Pace::neither;
}

std::string bound_by(const SpentTime& time) {
  if (time.exchange > 0 && 2 * time.exchange >= time.whole) return "exchange";
  const Pace pace = pace_of(time);
  if (pace == Pace::host) return "host";
  if (pace == Pace::dispatcher) return "dispatch";
  if (kernels_decide(time.kernels, time.whole)) return std::string(time.kernel_word);
  return "dispatch";
}

}  // namespace howard::profiler
