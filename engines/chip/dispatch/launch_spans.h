// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/events/timeline_event.h"
#include "engines/chip/kernels/plan/launch.h"
#include "engines/device/device.h"

namespace howard::chip {

/// Records what happened to a launch: its dispatch, its kernel on the sub-device that has `cores`,
/// and the reader, compute and writer of each core that had work. `program` is the number of the
/// launch.
void record_launch(EventSink& sink, std::uint64_t program, int queue, const CoreRange& cores,
                   const Launch& launch, const LaunchTimes& times);

/// Records that the dispatcher of `queue` waited for an event.
void record_event_wait(EventSink& sink, int queue, SimTime start, SimTime end);

}  // namespace howard::chip
