// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "base/sim_time.h"
#include "engines/wormhole/event_queue.h"

namespace howard::wormhole {

/// What a program costs on its way through the chip, decided when it is enqueued.
struct Launch {
  std::uint64_t program = 0;  ///< Counted from 1.
  SimTime dispatch;           ///< Prefetch and writing its configuration to the cores.
  SimTime kernel;             ///< First kernel start to last kernel end.
};

/// When it happened.
struct LaunchTimes {
  SimTime dispatch_start, dispatch_end;
  SimTime kernel_start, kernel_end;
};

struct DispatchLimits {
  /// Go signal sent to first kernel start, after the previous program's cores have all reported.
  SimTime go_latency;
  /// Programs whose commands the host may have outstanding before it must wait.
  int issue_queue_entries = 1;
  /// Programs configured ahead of the running one (the launch message ring of each core).
  int launch_ring_entries = 1;
};

/// One command queue's way to the cores: issue queue -> dispatcher -> cores.
///
/// The dispatcher writes the next program's configuration while the current one runs, as far as
/// the launch ring allows; the go signal waits until all cores have reported the current one done.
/// So the period of a well-fed queue is max(dispatch, go latency + kernel).
///
/// Holds no clock: the host's time is an argument, and the simulation runs only as far as the
/// host's questions need.
class DispatchQueue {
 public:
  using Observer = std::function<void(const Launch&, const LaunchTimes&)>;

  /// `observer` is called once per program, in order, when its kernel has ended.
  DispatchQueue(const DispatchLimits& limits, Observer observer);

  /// Hands a program over at `host_now`. Returns when the host may go on: `host_now`, or later when
  /// it had to wait for a free entry of the issue queue.
  SimTime issue(const Launch& launch, SimTime host_now);

  /// When everything issued so far has run; zero when nothing was ever issued.
  SimTime drain();

 private:
  struct InFlight {
    Launch launch;
    LaunchTimes times;
  };

  void step();
  void start_dispatch(SimTime now);
  void start_kernel(SimTime now);
  InFlight& in_flight(std::uint64_t program);

  DispatchLimits limits_;
  Observer observer_;
  EventQueue events_;
  // Programs between issue and completion, in order. The first `configured_` of them have their
  // configuration on the cores; the next one is being configured when `dispatcher_busy_`.
  std::deque<InFlight> programs_;
  int visible_ = 0;
  int configured_ = 0;
  bool dispatcher_busy_ = false;
  bool cores_busy_ = false;
  SimTime last_completion_;
};

}  // namespace howard::wormhole
