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
#include "engines/wormhole/dispatch/event_queue.h"
#include "engines/wormhole/dispatch/launch.h"
#include "engines/wormhole/memory/dram_sharing.h"

namespace howard::wormhole {

/// Programs that a replay launches one after the other.
using Recording = std::vector<Launch>;

/// Commands of a queue, in the order of the host's calls.
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
  /// Commands of one queue that may wait for the dispatcher before the host must wait.
  int issue_queue_entries = 1;
  /// Programs whose configuration a sub-device's cores can hold, the running one included: as many
  /// as the launch message ring has entries and the configuration ring has room for, at least one.
  int launch_ring_entries = 1;
  Bytes configuration_ring;
  SimTime replay;  ///< Before a replay's first dispatch, once all earlier programs are done.
};

/// The chip behind its command queues.
///
/// Each queue has a dispatcher that takes its commands in order: for a program it waits for a free
/// room in the rings of the program's sub-device, then writes the configuration, which may overlap
/// with what runs there. A sub-device runs one program at a time; the next one's go signal waits
/// until all its cores are done. A replay begins when all programs of its queue are done, with a
/// reset and a fetch in which nothing runs: replays do not overlap. Programs on different
/// sub-devices run at the same time and share the DRAM. So the period of one well-fed queue is
/// max(dispatch, go + kernel).
///
/// Holds no clock of the host: its time is an argument, and the simulation runs only as far as the
/// host's questions need.
class Simulation {
 public:
  /// `program`: launches counted from 1, replays included, in the order of the host's calls.
  using Observer = std::function<void(std::uint64_t program, int queue, const Launch& launch,
                                      const LaunchTimes& times)>;

  /// The dispatcher of `queue` waited from `start` to `end` for an event: one that was to be
  /// recorded behind running programs, or one that it was told to wait for.
  using WaitObserver = std::function<void(int queue, SimTime start, SimTime end)>;

  /// `observer` is called once for each program, when its kernel has ended; `wait_observer` when a
  /// wait that took time is over.
  Simulation(
      const SimulationLimits& limits, Observer observer,
      WaitObserver wait_observer = [](int, SimTime, SimTime) {});

  struct Issued {
    SimTime host_free;            ///< `host_now`, or later when the issue queue was full.
    std::uint64_t first_program;  ///< The number of the command's first program.
  };

  /// Hands a command to `queue` at `host_now`. Error when the host would wait for ever.
  Issued issue(int queue, Command command, SimTime host_now);

  /// When everything issued to `queue` so far has run; zero when nothing was ever issued there.
  /// Error when queues wait for each other's events in a circle: it names queues and events, the
  /// commands that can never run are dropped and the simulation can be used again.
  SimTime drain(int queue);

  /// Cores in use are those of `count` sub-devices from now on. Everything must have been drained.
  void set_sub_devices(int count);

 private:
  struct Queued {
    Command command;
    std::uint64_t first_program = 0;
    std::size_t next_launch = 0;  ///< Of a replay.
    bool fetched = false;         ///< A replay whose first part has come.
  };
  struct Configured {
    std::uint64_t program = 0;
    int queue = 0;
    Launch launch;
    LaunchTimes times;
  };
  struct Queue {
    std::deque<Queued> commands;  ///< Not yet taken by the dispatcher; the visible ones first.
    std::size_t visible = 0;
    std::optional<Configured> dispatching;
    bool fetching = false;                 ///< A replay, its first command.
    std::optional<SimTime> waiting_since;  ///< For the event of its first command.
    std::int64_t running = 0;              ///< Dispatched programs that have not ended.
    SimTime last_end;                      ///< Of its last program or event.
  };
  struct SubDevice {
    std::deque<Configured> programs;  ///< The first one runs when `busy`.
    int entries = 0;                  ///< Of the launch ring, in use.
    Bytes configuration;              ///< Of the configuration ring, in use.
    bool busy = false;
    SimTime idle_since;  ///< End of its last kernel: counting completions and the go follow it.
    SimTime remaining;   ///< Of the running kernel at full speed, as of `updated`.
    SimTime updated;     ///< Never before the kernel's start.
    Speed speed = 0;     ///< Zero until its end is scheduled.
    std::uint64_t generation = 0;  ///< Of its valid end; an end that was moved has another.
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

}  // namespace howard::wormhole
