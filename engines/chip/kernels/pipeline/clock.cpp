// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/pipeline/clock.h"

#include "base/wide.h"

namespace howard::chip {

SimTime time_under_load(SimTime time, SimTime kernel, const PowerUse& use,
                        const PowerCosts& power) {
  const std::int64_t of_a_core = power.core + power.unpack * use.unpacking / kWhole;
  const std::int64_t wanted = power.idle + use.cores * of_a_core * use.busy / kWhole;
  if (power.limit == 0 || wanted <= power.limit) return time;
  const auto full = static_cast<Wide>(time.ps()) * (wanted - power.limit) / power.limit;
  const auto squared = [](SimTime of) { return static_cast<Wide>(of.ps()) * of.ps(); };
  const auto lasting = static_cast<TenThousandths>(squared(kernel) * kWhole /
                                                   (squared(kernel) + squared(power.patience)));
  return time + SimTime::picoseconds(static_cast<std::int64_t>(full * lasting / kWhole));
}

}  // namespace howard::chip
