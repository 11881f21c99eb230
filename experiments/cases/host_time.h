// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/device.h"
#include "profiler/timeline.h"

namespace howard::experiments {

/// Sums up how long the host waits for its device: for the issue queue, in transfers and finishes.
class HostWaits final : public EventSink {
 public:
  void record(const TimelineEvent& event) override {
    using namespace profiler::category;
    const bool waits =
        event.category == kQueueFull || event.category == kTransfer || event.category == kFinish;
    if (waits) time_ += event.end - event.start;
  }
  SimTime time() const { return time_; }

 private:
  SimTime time_;
};

/// Returns what the host takes for `issue` if the device does not hold it up, and lets the device
/// finish.
template <class Issue>
SimTime host_time(Device& device, Issue&& issue) {
  HostWaits waits;
  device.set_trace_sink(&waits);
  const SimTime start = device.now();
  issue();
  const SimTime time = device.now() - start - waits.time();
  device.command_queue(0).finish();
  device.set_trace_sink(nullptr);
  return time;
}

}  // namespace howard::experiments
