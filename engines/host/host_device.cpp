// SPDX-License-Identifier: Apache-2.0
#include "engines/host/host_device.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "engines/host/command_maker.h"
#include "engines/host/command_thread.h"
#include "engines/host/host_memory.h"
#include "engines/host/instruction_set.h"
#include "engines/host/kernels/workspace.h"
#include "engines/host/worker_pool.h"

namespace howard::host {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// Returns whether a command takes at most a few microseconds of one core. The thread that enqueues
/// it then runs it sooner than it could wake another thread, which would also take a core from the
/// pool.
bool is_small(const Command& command) {
  constexpr Flops kFlops{1 << 20};
  constexpr Bytes kOperands{64 << 10};
  return command.flops <= kFlops && command.operands <= kOperands;
}

}  // namespace

/// The single command queue, with everything it works with.
class HostDevice::Cpu final : public Device, public CommandQueue {
 public:
  explicit Cpu(const HostOptions& options)
      : pool_(thread_count(options), options.binds_threads), fuses_traces_(options.fuse_traces) {
    // If its environment variable is wrong, this throws here and not inside a kernel.
    best_instruction_set();
    pool_.when_left([this] { commands_.look(); });
    memory_.ledger().report_to(options.memory, MemoryKind::dram, [this] { return now(); });
  }
  ~Cpu() override { pool_.when_left({}); }

  void enqueue(const Program& program) override {
    const bool captured = capture_.has_value();
    const HostSpan span(*this, program.name, captured ? "capture" : "host",
                        captured ? 0 : next_program_);
    if (capture_) {
      capture_->commands.push_back(maker_.recorded(program));
      if (fuses_traces_) captured_programs_.push_back(program);
    } else {
      Command command = maker_.unheld(program);
      const std::uint64_t number = next_program_++;
      describe(number, command);
      if (is_small(command) && commands_.run_if_idle([&] { run(command, number); })) return;
      command.buffers = maker_.buffers_of(program);
      commands_.submit([this, command = std::move(command), number] { run(command, number); });
    }
  }

  void enqueue_all(ProgramList& list) override {
    // A capture needs the programs, and a sink needs each call.
    if (capture_ || sink_ != nullptr) return CommandQueue::enqueue_all(list);
    if (list.ready == nullptr) {
      auto commands = std::make_shared<std::vector<Command>>();
      for (const Program& program : list.programs) commands->push_back(maker_.recorded(program));
      list.ready = std::move(commands);
    }
    auto commands = std::static_pointer_cast<const std::vector<Command>>(list.ready);
    commands_.submit([this, commands = std::move(commands), number = next_program_] {
      std::uint64_t next = number;
      for (const Command& command : *commands) run(command, next++);
    });
    next_program_ += list.programs.size();
  }

  void write_buffer(BufferId buffer, std::span<const std::byte> values) override {
    refuse_during_capture("write a buffer");
    const HostSpan span(*this, "write_buffer", "transfer", 0);
    require_size(buffer, values.size());
    commands_.wait();
    std::memcpy(memory_.values(buffer).get(), values.data(), values.size());
  }

  void read_buffer(BufferId buffer, std::span<std::byte> values) override {
    refuse_during_capture("read a buffer");
    const HostSpan span(*this, "read_buffer", "transfer", 0);
    require_size(buffer, values.size());
    commands_.finish();
    std::memcpy(values.data(), memory_.values(buffer).get(), values.size());
  }

  void finish() override {
    refuse_during_capture("finish the queue");
    const HostSpan span(*this, "finish", "finish", 0);
    commands_.finish();
  }

  EventId record_event() override {
    refuse_during_capture("record an event");
    return EventId{events_++};
  }

  void wait_for_event(EventId event) override {
    refuse_during_capture("wait for an event");
    // There is only one queue and it runs in order, so every event it has recorded happens before
    // what follows.
    if (static_cast<std::uint64_t>(event) < events_) return;
    throw Error({.attempted = "wait for an event of the host",
                 .value = fmt::format("event {}", static_cast<std::uint64_t>(event)),
                 .accepted = "an event this device recorded"});
  }

  void begin_trace_capture() override {
    refuse_during_capture("begin a capture");
    capture_.emplace();
    captured_programs_.clear();
  }

  TraceId end_trace_capture() override {
    if (!capture_) {
      throw Error({.attempted = "end a trace capture on the host",
                   .value = "none has begun",
                   .accepted = "begin_trace_capture() first"});
    }
    const TraceId trace{next_trace_++};
    Recording recording = *std::exchange(capture_, std::nullopt);
    if (fuses_traces_) recording = maker_.fused(captured_programs_, recording);
    traces_.emplace(trace, std::make_shared<const Recording>(std::move(recording)));
    return trace;
  }

  void execute_trace(TraceId trace) override {
    refuse_during_capture("execute a trace");
    std::shared_ptr<const Recording> recording = find_trace(trace);
    const std::uint64_t first = next_program_;
    const HostSpan span(*this, "execute_trace", "host", first, trace);
    for (const Command& command : recording->commands) describe(next_program_++, command);
    commands_.submit([this, recording = std::move(recording), first] {
      std::uint64_t number = first;
      for (const Command& command : recording->commands) run(command, number++);
    });
  }

  std::string description() const override {
    return fmt::format("host CPU, {} thread{}", threads(), threads() == 1 ? "" : "s");
  }

  BufferId allocate(const TensorSpec& spec) override { return memory_.allocate(spec); }
  void release(BufferId buffer) override { memory_.release(buffer); }
  bool holds_values() const override { return true; }

  int command_queues() const override { return 1; }
  CommandQueue& command_queue(int index) override {
    if (index == 0) return *this;
    throw Error({.attempted = "open a command queue of the host",
                 .value = std::to_string(index),
                 .accepted = "0"});
  }

  void set_sub_devices(std::span<const CoreRange> sub_devices) override {
    finish();
    if (sub_devices.empty()) return;
    throw Error({.attempted = "divide the host",
                 .value = fmt::format("{} sub-devices", sub_devices.size()),
                 .accepted = "none: a CPU has no grid of cores to divide"});
  }

  void begin_phase(std::string_view phase) override { memory_.ledger().begin_phase(phase); }
  std::vector<MemoryPhase> memory_phases() const override { return memory_.ledger().phases(); }

  void release_trace(TraceId trace) override {
    for (const BufferId buffer : find_trace(trace)->own) memory_.release(buffer);
    traces_.erase(trace);
  }

  SimTime now() const override {
    const auto elapsed = SteadyClock::now() - opened_;
    return SimTime::nanoseconds(std::chrono::nanoseconds(elapsed).count());
  }

  void set_trace_sink(EventSink* sink) override {
    const std::lock_guard lock(sink_mutex_);
    sink_ = sink;
  }

  int threads() const { return pool_.threads(); }

 private:
  void run(const Command& command, std::uint64_t number) {
    const SimTime start = traced_now();
    command.kernel();
    record({TrackKind::command_queue}, command.name, "kernel", start, number);
  }

  /// Records a call of the host thread, from its beginning to its end, whether it returns or
  /// throws.
  class HostSpan {
   public:
    HostSpan(Cpu& device, std::string_view name, std::string_view category, std::uint64_t program,
             TraceId trace = {})
        : device_(device),
          name_(name),
          category_(category),
          program_(program),
          trace_(trace),
          start_(device.traced_now()) {}
    ~HostSpan() {
      device_.record({TrackKind::host_thread}, name_, category_, start_, program_, trace_);
    }
    HostSpan(const HostSpan&) = delete;
    HostSpan& operator=(const HostSpan&) = delete;

   private:
    Cpu& device_;
    std::string_view name_;
    std::string_view category_;
    std::uint64_t program_;
    TraceId trace_;
    SimTime start_;
  };

  /// Returns now() if there is a sink, otherwise zero.
  SimTime traced_now() const { return sink_ == nullptr ? SimTime() : now(); }

  /// Describes a program to the sink. The calling thread does this, as a sink expects.
  void describe(std::uint64_t number, const Command& command) const {
    if (sink_ == nullptr || !sink_->wants_facts()) return;
    sink_->describe(number, {.operation = command.name,
                             .inputs = {{.dtype = command.dtype, .layout = "row_major"}},
                             .work = {.flops = command.flops, .dram = command.operands}});
  }

  /// As Device requires, `sink_` does not change while a command is in flight. The mutex keeps the
  /// events of two threads apart.
  void record(Track track, std::string_view name, std::string_view category, SimTime start,
              std::uint64_t program, TraceId trace = {}) {
    if (sink_ == nullptr) return;
    const std::lock_guard lock(sink_mutex_);
    sink_->record({.track = track,
                   .trace = static_cast<std::uint32_t>(trace),
                   .name = name,
                   .category = category,
                   .start = start,
                   .end = now(),
                   .program = program});
  }

  void refuse_during_capture(std::string_view what) const {
    if (!capture_) return;
    throw Error({.attempted = std::string(what),
                 .value = "a trace is being captured",
                 .accepted = "programs",
                 .hint = "to end the capture first"});
  }

  std::shared_ptr<const Recording> find_trace(TraceId trace) const {
    const auto found = traces_.find(trace);
    if (found != traces_.end()) return found->second;
    throw Error({.attempted = "use a trace of the host",
                 .value = fmt::format("there is no trace {}", static_cast<std::uint64_t>(trace)),
                 .accepted = "a trace that was captured on this device and not released"});
  }

  void require_size(BufferId buffer, std::size_t size) const {
    const TensorSpec& spec = memory_.spec(buffer);
    const Bytes expected = spec.host_bytes();
    if (static_cast<std::int64_t>(size) == expected.value()) return;
    throw Error({.attempted = "transfer a tensor " + spec.text(),
                 .value = fmt::format("{} bytes", size),
                 .accepted = fmt::format("{} bytes", expected.value())});
  }

  SteadyClock::time_point opened_ = SteadyClock::now();
  HostMemory memory_;
  WorkerPool pool_;
  Workspace workspace_{pool_.threads()};
  KernelContext context_{pool_, workspace_};
  CommandMaker maker_{memory_, context_};
  std::uint64_t next_program_ = 1;
  std::uint64_t events_ = 0;
  std::optional<Recording> capture_;
  bool fuses_traces_;
  std::vector<Program> captured_programs_;  ///< Used only when traces are fused.
  std::map<TraceId, std::shared_ptr<const Recording>> traces_;
  std::uint64_t next_trace_ = 1;
  std::mutex sink_mutex_;
  EventSink* sink_ = nullptr;
  /// Declared last because it uses the others.
  CommandThread commands_{[this] { return pool_.is_staying(); }};
};

HostDevice::HostDevice(const HostOptions& options) : HostDevice(std::make_unique<Cpu>(options)) {}

HostDevice::HostDevice(std::unique_ptr<Cpu> cpu) : ForwardingDevice(*cpu), cpu_(std::move(cpu)) {}

HostDevice::~HostDevice() = default;

CommandQueue& HostDevice::command_queue(int index) { return cpu_->command_queue(index); }

int HostDevice::threads() const { return cpu_->threads(); }

}  // namespace howard::host
