// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/dispatch/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/error.h"

namespace howard::chip {
namespace {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// Returns how many programs a command launches.
std::uint64_t launches_of(const Command& command) {
  if (const auto* const replay = std::get_if<Replay>(&command)) return replay->recording->size();
  return std::holds_alternative<Launch>(command) ? 1 : 0;
}

}  // namespace

Simulation::Simulation(const SimulationLimits& limits, Observer observer,
                       WaitObserver wait_observer)
    : limits_(limits),
      observer_(std::move(observer)),
      wait_observer_(std::move(wait_observer)),
      queues_(at(limits.command_queues)),
      sub_devices_(at(limits.sub_devices)) {}

void Simulation::set_sub_devices(int count) {
  const auto idle = [](const Queue& queue) {
    return queue.commands.empty() && !queue.dispatching && queue.running == 0;
  };
  HOWARD_CHECK(std::ranges::all_of(queues_, idle), "sub-devices change while nothing runs");
  limits_.sub_devices = count;
  sub_devices_.assign(at(count), SubDevice{});
}

Simulation::Issued Simulation::issue(int queue, Command command, SimTime host_now) {
  // The chip's simulation stays behind the host until an answer is needed, so that another host
  // thread may still call at an earlier time.
  std::deque<Queued>& commands = queues_[at(queue)].commands;
  while (std::ssize(commands) >= limits_.issue_queue_entries) {
    if (events_.empty()) report_deadlock();
    step();
  }
  const Issued issued{std::max(host_now, events_.now()), next_program_};
  next_program_ += launches_of(command);
  commands.push_back({std::move(command), issued.first_program});
  events_.schedule(issued.host_free, EventKind::command_visible, at(queue), 0);
  return issued;
}

SimTime Simulation::drain(int queue) {
  const Queue& drained = queues_[at(queue)];
  while (!drained.commands.empty() || drained.dispatching || drained.running > 0) {
    if (events_.empty()) report_deadlock();
    step();
  }
  return drained.last_end;
}

void Simulation::step() {
  const Event event = events_.take();
  switch (event.kind) {
    case EventKind::kernel_done:
      // If a change of speed has moved a kernel's end, its old end event is still in the queue;
      // ignore it.
      if (sub_devices_[event.subject].generation != event.generation) return;
      end_kernel(static_cast<int>(event.subject));
      break;
    case EventKind::config_written: {
      Queue& queue = queues_[event.subject];
      queue.dispatching->times.dispatch_end = event.time;
      sub_devices_[at(queue.dispatching->launch.sub_device)].programs.push_back(*queue.dispatching);
      queue.dispatching.reset();
      break;
    }
    case EventKind::replay_fetched:
      queues_[event.subject].fetching = false;
      queues_[event.subject].commands.front().fetched = true;
      break;
    case EventKind::command_visible:
      ++queues_[event.subject].visible;
      break;
  }
  start_ready_work(event.time);
}

/// Starts everything that can start now, until nothing more can: an event recorded by one queue may
/// release another queue.
void Simulation::start_ready_work(SimTime now) {
  bool kernels_changed = false;
  bool progress = true;
  while (progress) {
    progress = false;
    for (int i = 0; i < limits_.sub_devices; ++i) {
      if (start_kernel(i, now)) kernels_changed = progress = true;
    }
    for (int i = 0; i < limits_.command_queues; ++i) {
      while (take_command(i, now)) progress = true;
    }
  }
  if (kernels_changed) share_dram(now);
}

/// Lets the dispatcher of `queue` take its next command. Returns false when there is none or it
/// must wait.
bool Simulation::take_command(int index, SimTime now) {
  Queue& queue = queues_[at(index)];
  if (queue.dispatching || queue.fetching || queue.visible == 0) return false;
  Queued& next = queue.commands.front();
  const auto done = [&] {
    queue.commands.pop_front();
    --queue.visible;
  };
  return std::visit(
      Overloaded{
          [&](const Launch& launch) {
            if (!dispatch(index, launch, next.first_program, now)) return false;
            done();
            return true;
          },
          [&](const Replay& replay) {
            if (!next.fetched) {
              if (queue.running == 0) fetch_replay(index, now);
              return false;
            }
            const Recording& recording = *replay.recording;
            if (next.next_launch < recording.size()) {
              const std::uint64_t program = next.first_program + next.next_launch;
              if (!dispatch(index, recording[next.next_launch], program, now)) return false;
              ++next.next_launch;
            }
            if (next.next_launch >= recording.size()) done();
            return true;
          },
          // The dispatcher itself waits for the programs before an event; so do all later commands.
          [&](const RecordEvent& record) {
            if (!pass_event(index, queue.running == 0, now)) return false;
            if (triggered_.size() <= record.event) triggered_.resize(record.event + 1);
            triggered_[record.event] = true;
            done();
            return true;
          },
          [&](const WaitEvent& wait) {
            const bool happened = wait.event < triggered_.size() && triggered_[wait.event];
            if (!pass_event(index, happened, now)) return false;
            done();
            return true;
          },
      },
      next.command);
}

/// Resets counters and fetches the first part of a trace; nothing else happens meanwhile.
void Simulation::fetch_replay(int index, SimTime now) {
  queues_[at(index)].fetching = true;
  events_.schedule(now + limits_.replay, EventKind::replay_fetched, at(index), 0);
}

/// Lets the dispatcher of `queue` go past the event of its first command. Returns false until it
/// has happened.
bool Simulation::pass_event(int index, bool happened, SimTime now) {
  Queue& queue = queues_[at(index)];
  if (!happened) {
    if (!queue.waiting_since) queue.waiting_since = now;
    return false;
  }
  if (queue.waiting_since && *queue.waiting_since < now) {
    wait_observer_(index, *queue.waiting_since, now);
  }
  queue.waiting_since.reset();
  queue.last_end = std::max(queue.last_end, now);
  return true;
}

/// Begins to write a program's configuration. Returns false when its sub-device has no room for it.
bool Simulation::dispatch(int index, const Launch& launch, std::uint64_t program, SimTime now) {
  SubDevice& target = sub_devices_[at(launch.sub_device)];
  const bool room = target.entries < limits_.launch_ring_entries &&
                    target.configuration + launch.configuration <= limits_.configuration_ring;
  if (!room && target.entries > 0) return false;
  ++target.entries;
  target.configuration += launch.configuration;
  Queue& queue = queues_[at(index)];
  ++queue.running;
  queue.dispatching = Configured{program, index, launch, {}};
  queue.dispatching->times.dispatch_start = now;
  events_.schedule(now + launch.dispatch, EventKind::config_written, at(index), 0);
  return true;
}

bool Simulation::start_kernel(int index, SimTime now) {
  SubDevice& cores = sub_devices_[at(index)];
  if (cores.busy || cores.programs.empty()) return false;
  Configured& program = cores.programs.front();
  program.times.kernel_start = std::max(now, cores.idle_since + program.launch.go);
  cores.busy = true;
  cores.remaining = program.launch.kernel;
  cores.updated = program.times.kernel_start;
  cores.speed = 0;  // share_dram schedules it.
  return true;
}

void Simulation::end_kernel(int index) {
  SubDevice& cores = sub_devices_[at(index)];
  Configured ended = cores.programs.front();
  cores.programs.pop_front();
  cores.busy = false;
  cores.idle_since = events_.now();
  --cores.entries;
  cores.configuration = cores.configuration - ended.launch.configuration;
  ended.times.kernel_end = events_.now();
  Queue& queue = queues_[at(ended.queue)];
  --queue.running;
  queue.last_end = std::max(queue.last_end, events_.now());
  observer_(ended.program, ended.queue, ended.launch, ended.times);
  share_dram(events_.now());
}

/// Gives every running kernel its share of the DRAM, and moves the ends of kernels whose speed
/// changes. A kernel runs from its go signal on, including its launch.
void Simulation::share_dram(SimTime now) {
  std::vector<std::size_t> running;
  std::vector<DramShare> wanted;
  for (std::size_t i = 0; i < sub_devices_.size(); ++i) {
    if (!sub_devices_[i].busy) continue;
    running.push_back(i);
    wanted.push_back(sub_devices_[i].programs.front().launch.dram_share);
  }
  const std::vector<Speed> speeds = shared_speeds(wanted);
  for (std::size_t i = 0; i < running.size(); ++i) {
    SubDevice& cores = sub_devices_[running[i]];
    if (cores.speed == speeds[i]) continue;
    if (now > cores.updated) {
      cores.remaining = cores.remaining - work_done(now - cores.updated, cores.speed);
      cores.updated = now;
    }
    cores.speed = speeds[i];
    cores.generation = ++last_generation_;
    events_.schedule(cores.updated + time_for(cores.remaining, cores.speed), EventKind::kernel_done,
                     running[i], cores.generation);
  }
}

void Simulation::report_deadlock() {
  std::string waits;
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    Queue& queue = queues_[i];
    if (!queue.commands.empty()) {
      if (const auto* const wait = std::get_if<WaitEvent>(&queue.commands.front().command)) {
        waits +=
            fmt::format("{}queue {} waits for event {}", waits.empty() ? "" : ", ", i, wait->event);
      }
    }
    queue.commands.clear();
    queue.visible = 0;
    queue.waiting_since.reset();
  }
  throw Error({.attempted = "run the command queues",
               .value = "nothing can ever go on: " + waits,
               .accepted = "waits for events that another queue records without waiting in turn",
               .hint = "to record the event before the wait for it"});
}

}  // namespace howard::chip
