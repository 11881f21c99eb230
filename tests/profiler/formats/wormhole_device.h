// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiler/formats/ops_csv/op_record.h"

namespace howard::profiler {

/// The device that tests write logs of.
inline const DeviceFacts kWormholeDevice{
    .architecture = "wormhole_b0", .clock = Frequency(1'000'000'000), .worker_cores = 64};

}  // namespace howard::profiler
