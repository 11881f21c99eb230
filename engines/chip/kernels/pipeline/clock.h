// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/sim_time.h"
#include "engines/chip/kernels/pipeline/dram_banks.h"
#include "engines/chip/profiles/profile.h"

namespace howard::chip {

/// Says what a kernel keeps busy.
struct PowerUse {
  int cores = 0;
  TenThousandths busy = kWhole;  ///< How much of the time its cores compute.
  TenThousandths unpacking = 0;  ///< How much of that its unpackers move unpack.bandwidth.
};

/// Returns how long a part of a kernel takes that takes `time` at the clock that the chip is
/// shipped with. If the cores want more power than the limit lets them have, the clock falls in
/// proportion: by half of that for a kernel of `power.patience`, by all of it for one that is some
/// times as long. (Facts: docs/method/matmul.md, "Clock under load".)
SimTime time_under_load(SimTime time, SimTime kernel, const PowerUse& use, const PowerCosts& power);

}  // namespace howard::chip
