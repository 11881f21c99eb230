// SPDX-License-Identifier: Apache-2.0
#include "engines/wormhole/dispatch.h"

#include <algorithm>
#include <utility>

namespace howard::wormhole {

DispatchQueue::DispatchQueue(const DispatchLimits& limits, Observer observer)
    : limits_(limits), observer_(std::move(observer)) {}

SimTime DispatchQueue::issue(const Launch& launch, SimTime host_now) {
  // Let the chip catch up with the host, and further while no entry is free.
  while (!events_.empty() && events_.next().time <= host_now) step();
  while (static_cast<int>(programs_.size()) >= limits_.issue_queue_entries) step();
  const SimTime issued = std::max(host_now, events_.now());
  programs_.push_back({launch, {}});
  events_.schedule(issued, EventKind::command_visible, launch.program);
  return issued;
}

SimTime DispatchQueue::drain() {
  while (!events_.empty()) step();
  HOWARD_CHECK(programs_.empty(), "every program ends");
  return last_completion_;
}

void DispatchQueue::step() {
  const Event event = events_.take();
  switch (event.kind) {
    case EventKind::command_visible:
      ++visible_;
      break;
    case EventKind::config_written:
      in_flight(event.program).times.dispatch_end = event.time;
      dispatcher_busy_ = false;
      ++configured_;
      break;
    case EventKind::kernel_done:
      cores_busy_ = false;
      last_completion_ = event.time;
      observer_(programs_.front().launch, programs_.front().times);
      programs_.pop_front();
      --visible_;
      --configured_;
      break;
  }
  start_kernel(event.time);
  start_dispatch(event.time);
}

void DispatchQueue::start_dispatch(SimTime now) {
  if (dispatcher_busy_ || configured_ >= visible_) return;
  if (configured_ >= limits_.launch_ring_entries) return;
  InFlight& next = programs_[static_cast<std::size_t>(configured_)];
  next.times.dispatch_start = now;
  dispatcher_busy_ = true;
  events_.schedule(now + next.launch.dispatch, EventKind::config_written, next.launch.program);
}

void DispatchQueue::start_kernel(SimTime now) {
  if (cores_busy_ || configured_ == 0) return;
  InFlight& next = programs_.front();
  next.times.kernel_start = now + limits_.go_latency;
  next.times.kernel_end = next.times.kernel_start + next.launch.kernel;
  cores_busy_ = true;
  events_.schedule(next.times.kernel_end, EventKind::kernel_done, next.launch.program);
}

DispatchQueue::InFlight& DispatchQueue::in_flight(std::uint64_t program) {
  return programs_[static_cast<std::size_t>(program - programs_.front().launch.program)];
}

}  // namespace howard::wormhole
