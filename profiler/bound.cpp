// SPDX-License-Identifier: Apache-2.0
#include "profiler/bound.h"

namespace howard::profiler {

std::string bound_by(const SpentTime& time) {
  if (time.exchange > 0 && 2 * time.exchange >= time.whole) return "exchange";
  if (time.host >= kSetsThePace * time.whole) return "host";
  if (time.dispatcher >= kSetsThePace * time.whole) return "dispatch";
  if (kernels_decide(time.kernels, time.whole)) return std::string(time.kernel_word);
  return "dispatch";
}

}  // namespace howard::profiler
