// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/sim_time.h"
#include "engines/chip/dispatch/event_queue.h"
#include "engines/chip/kernels/plan/launch.h"
#include "engines/chip/memory/dram_sharing.h"

namespace howard::chip {

/// The programs that a replay launches one after the other.
using Recording = std::vector<Launch>;

/// The commands of a queue, in the order of the host's calls, are these:
struct RecordEvent {
  std::uint64_t event = 0;
};
struct WaitEvent {
  std::uint64_t event = 0;
};
struct Replay {
  std::shared_ptr<const Recording> recording;
};
using Command = std::variant<Launch, Replay, RecordEvent, WaitEvent>;

struct SimulationLimits {
  int command_queues = 1;
  int sub_devices = 1;
  /// This many commands of one queue may wait for the dispatcher before the host must wait.
  int issue_queue_entries = 1;
  /// The cores of a sub-device can hold the configurations of this many programs, including the
  /// running one. The entries of the launch message ring limit their number and the configuration
  /// ring limits their size, but there is always room for one.
  int launch_ring_entries = 1;
  Bytes configuration_ring;
  SimTime replay;  ///< Passes before a replay's first dispatch, once all earlier programs are done.
};

/// Simulates the chip behind its command queues.
///
/// Each queue has a dispatcher that takes its commands in order. For a program it waits for free
/// room in the rings of the program's sub-device and then writes the configuration; that may
/// overlap with what runs there. A sub-device runs one program at a time: the next program's go
/// signal waits until all its cores are done. Programs on different sub-devices run at the same
/// time and share the DRAM. So the period of one well-fed queue is max(dispatch, go + kernel).
///
/// It has no clock of the host. The host's time is an argument, and the simulation runs only as far
/// as the host's questions need.
class Simulation {
 public:
  /// `program` numbers the launches from 1, replays included, in the order of the host's calls.
  using Observer = std::function<void(std::uint64_t program, int queue, const Launch& launch,
                                      const LaunchTimes& times)>;

  /// Says that the dispatcher of `queue` waited from `start` to `end` for an event: one that was to
  /// be recorded behind running programs, or one that it was told to wait for.
  using WaitObserver = std::function<void(int queue, SimTime start, SimTime end)>;

  /// Calls `observer` once for each program, when its kernel has ended, and `wait_observer` when a
  /// wait that took time is over.
  Simulation(
      const SimulationLimits& limits, Observer observer,
      WaitObserver wait_observer = [](int, SimTime, SimTime) {});

  struct Issued {
    SimTime host_free;            ///< `host_now`, or later when the issue queue was full.
    std::uint64_t first_program;  ///< The number of the command's first program.
  };

  /// Hands a command to `queue` at `host_now`. Throws Error when the host would wait forever.
  Issued issue(int queue, Command command, SimTime host_now);

  /// Returns the time when everything issued to `queue` so far has run, or zero when nothing was
  /// ever issued there. Throws Error, naming queues and events, when queues wait for each other's
  /// events in a circle. The commands that can never run are then dropped, and the simulation can
  /// be used again.
  SimTime drain(int queue);

  /// From now on the cores in use are those of `count` sub-devices. Everything must have been
  /// drained.
  void set_sub_devices(int count);

 private:
  struct Queued {
    Command command;
    std::uint64_t first_program = 0;
    std::size_t next_launch = 0;  ///< The index in a replay.
    bool fetched = false;         ///< True for a replay whose first part has come.
  };
  struct Configured {
    std::uint64_t program = 0;
    int queue = 0;
    Launch launch;
    LaunchTimes times;
  };
  struct Queue {
    /// Commands that the dispatcher has not taken yet; the visible ones come first.
    std::deque<Queued> commands;
    std::size_t visible = 0;
    std::optional<Configured> dispatching;
    bool fetching = false;  ///< True while it fetches the replay that is its first command.
    /// When it began to wait for the event of its first command.
    std::optional<SimTime> waiting_since;
    std::int64_t running = 0;  ///< The number of dispatched programs that have not ended.
    SimTime last_end;          ///< The end of its last program or event.
  };
  struct SubDevice {
    std::deque<Configured> programs;  ///< The first one is running if `busy`.
    int entries = 0;                  ///< How many entries of the launch ring are in use.
    Bytes configuration;              ///< How much of the configuration ring is in use.
    bool busy = false;
    /// The end of its last kernel; the next go begins with counting completions from then on.
    SimTime idle_since;
    SimTime remaining;  ///< What is left of the running kernel at full speed, as of `updated`.
    SimTime updated;    ///< Never before the kernel's start.
    Speed speed = 0;    ///< Zero until the end of the kernel is scheduled.
    /// The generation of its valid end; an end that was moved has an older one.
    std::uint64_t generation = 0;
  };

  void step();
  void end_kernel(int sub_device);
  void start_ready_work(SimTime now);
  bool take_command(int queue, SimTime now);
  void fetch_replay(int queue, SimTime now);
  bool pass_event(int queue, bool happened, SimTime now);
  bool dispatch(int queue, const Launch& launch, std::uint64_t program, SimTime now);
  bool start_kernel(int sub_device, SimTime now);
  void share_dram(SimTime now);
  [[noreturn]] void report_deadlock();

  SimulationLimits limits_;
  Observer observer_;
  WaitObserver wait_observer_;
  EventQueue events_;
  std::vector<Queue> queues_;
  std::vector<SubDevice> sub_devices_;
  std::vector<bool> triggered_;  ///< By event number.
  std::uint64_t next_program_ = 1;
  std::uint64_t last_generation_ = 0;
};

}  // namespace howard::chip
