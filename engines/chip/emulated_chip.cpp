// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/emulated_chip.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "engines/chip/dispatch/kept_binaries.h"
#include "engines/chip/dispatch/launch_spans.h"
#include "engines/chip/dispatch/program_cache.h"
#include "engines/chip/dispatch/simulation.h"
#include "engines/chip/dispatch/sub_device_owners.h"
#include "engines/chip/dispatch/sub_devices.h"
#include "engines/chip/dispatch/trace_store.h"
#include "engines/chip/kernels/facts.h"
#include "engines/chip/kernels/planner.h"
#include "engines/chip/memory/device_memory.h"
#include "engines/chip/memory/value_shadow.h"

namespace howard::chip {
namespace {

[[noreturn]] void fail(std::string attempted, std::string value, std::string accepted,
                       std::string hint = "") {
  throw Error({.attempted = std::move(attempted),
               .value = std::move(value),
               .accepted = std::move(accepted),
               .hint = std::move(hint)});
}

}  // namespace

/// The host's clock, the chip behind its command queues, the memory and the captured traces.
class EmulatedChip::Chip final : public Device {
 public:
  Chip(const Profiles& profiles, const DeviceOptions& options)
      : profiles_(profiles),
        options_(checked(options, profiles)),
        memory_(profiles.chip, profiles.software.trace_region, compute_grid()),
        sub_devices_(compute_grid(), profiles.software.most_sub_devices),
        owners_(1),
        simulation_(
            {.command_queues = options.command_queues,
             .issue_queue_entries = profiles.software.issue_entries(options.dispatch),
             .launch_ring_entries = profiles.software.dispatch.launch_ring,
             .configuration_ring = profiles.software.dispatch.configuration_ring,
             .replay = profiles.software.dispatch.replay},
            [this](std::uint64_t program, int queue, const Launch& launch,
                   const LaunchTimes& times) {
              if (options_.calls != nullptr) tell_call(*launch.planned);
              if (sink_ == nullptr) return;
              if (sink_->wants_facts()) {
                const auto [told, is_new] = facts_.try_emplace(launch.planned);
                if (is_new) told->second = facts_of(*launch.planned, profiles_.chip);
                sink_->describe(program, told->second);
              }
              record_launch(*sink_, program, queue, sub_devices_.range(launch.sub_device), launch,
                            times);
            },
            [this](int queue, SimTime start, SimTime end) {
              if (sink_ != nullptr) record_event_wait(*sink_, queue, start, end);
            }),
        traces_(profiles.software.trace_region),
        values_(options.values) {
    for (int i = 0; i < options.command_queues; ++i) queues_.emplace_back(*this, i);
    memory_.report_to(options.memory, [this] { return host_now_; });
  }
  Chip(const Chip&) = delete;
  Chip& operator=(const Chip&) = delete;

  // These are the functions of the command queues.

  void enqueue(int queue, const Program& program) {
    for (const Operand& input : program.inputs) static_cast<void>(memory_.spec(input.buffer));
    for (const Operand& output : program.outputs) static_cast<void>(memory_.spec(output.buffer));
    if (capture_ && capture_->queue != queue) {
      refuse_during_capture("enqueue a program on another queue");
    }
    const PlannedCall& planned = planned_call(program);
    if (options_.calls != nullptr) note_call(program, planned);
    if (!capture_) require_ownership(queue, program.sub_device);
    values_.enqueue(program);
    if (planned.temporaries > Bytes()) {
      memory_.pass_temporaries(program.outputs.front().spec, planned.temporaries);
    }
    for (const PlannedProgram& each : planned.launches) {
      memory_.pass_circular_buffers(each.name, each.buffers.size);
      Launch each_launch = launch_of(each, options_.dispatch, profiles_);
      each_launch.sub_device = program.sub_device;
      if (options_.profiled) each_launch.go += profiles_.software.profiler_push;
      capture_ ? record(each_launch) : launch(queue, each_launch);
    }
  }

  void write_buffer(int queue, BufferId buffer, std::span<const std::byte> values) {
    refuse_during_capture("write a buffer");
    require_size(buffer, values.size());
    values_.write(buffer, values);
    transfer(queue, "write_buffer", buffer, profiles_.chip.pcie_write);
  }

  void read_buffer(int queue, BufferId buffer, std::span<std::byte> values) {
    refuse_during_capture("read a buffer");
    require_size(buffer, values.size());
    values_.read(buffer, values);
    transfer(queue, "read_buffer", buffer, profiles_.chip.pcie_read);
  }

  void finish(int queue) {
    refuse_during_capture("finish a queue");
    const SimTime called = host_now_;
    host_now_ = std::max(host_now_, simulation_.drain(queue)) + profiles_.software.host_finish;
    owners_.finished(queue);
    record_host("finish", "finish", called, 0);
    values_.finish();
  }

  EventId record_event(int queue) {
    refuse_during_capture("record an event");
    const std::uint64_t event = events_++;
    owners_.recorded(queue, event);
    issue(queue, RecordEvent{event}, SimTime());
    return EventId{event};
  }

  void wait_for_event(int queue, EventId id) {
    refuse_during_capture("wait for an event");
    const auto event = static_cast<std::uint64_t>(id);
    if (event >= events_) {
      fail("wait for an event", fmt::format("event {}", event), "an event this device recorded");
    }
    owners_.waited(queue, event);
    issue(queue, WaitEvent{event}, SimTime());
  }

  void begin_trace_capture(int queue) {
    refuse_during_capture("begin a capture");
    values_.begin_trace_capture();
    capture_ = Capture{queue, {}, KeptBinaries(profiles_.software.dispatch.configuration_ring)};
  }

  TraceId end_trace_capture(int queue) {
    if (!capture_ || capture_->queue != queue) {
      fail("end a trace capture", fmt::format("none began on queue {}", queue),
           "begin_trace_capture() on the same queue first");
    }
    Capture capture = std::move(*capture_);
    capture_.reset();
    Bytes size;
    for (const Launch& launch : capture.recording)
      size += trace_bytes(launch.planned->footprint, profiles_.software);
    try {
      const TraceId trace = traces_.keep(std::move(capture.recording), size);
      values_.end_trace_capture(trace);
      return trace;
    } catch (const Error&) {
      values_.end_trace_capture(std::nullopt);
      throw;
    }
  }

  void execute_trace(int queue, TraceId id) {
    refuse_during_capture("execute a trace");
    const std::shared_ptr<const Recording> recording = traces_.find(id);
    for (const Launch& launch : *recording) {
      static_cast<void>(sub_devices_.range(launch.sub_device));
      require_ownership(queue, launch.sub_device);
    }
    for (const Launch& launch : *recording) owners_.launched(queue, launch.sub_device);
    values_.execute_trace(id);
    const SimTime called = host_now_;
    const std::uint64_t first = issue(queue, Replay{recording}, profiles_.software.host_replay);
    record_host("execute_trace", "host", called, first, id);
    if (options_.profiled) read_profiler(queue);
  }

  // These are the functions of the device.

  std::string description() const override {
    const CoreGrid grid = compute_grid();
    return fmt::format("{}, {} dispatch, {}x{} cores", profiles_.chip.name,
                       name_of(options_.dispatch), grid.columns, grid.rows);
  }

  CommandQueue& command_queue(int index) override {
    if (index < 0 || index >= options_.command_queues) {
      fail("open a command queue", std::to_string(index),
           fmt::format("0 to {}", options_.command_queues - 1), "a device opened with more queues");
    }
    return queues_[at(index)];
  }

  BufferId allocate(const TensorSpec& spec) override {
    const BufferId buffer = memory_.allocate(spec);
    try {
      values_.allocate(buffer, spec);
    } catch (const Error&) {
      memory_.release(buffer);
      throw;
    }
    host_now_ += profiles_.software.host_allocation;
    return buffer;
  }

  void release(BufferId buffer) override {
    memory_.release(buffer);
    values_.release(buffer);
  }

  void host_work(HostWork work, int count) override {
    const SimTime each = work == HostWork::python_call ? profiles_.software.host_python_call
                                                       : profiles_.software.host_graph_node;
    const SimTime called = host_now_;
    host_now_ += each * count;
    record_host(work == HostWork::python_call ? "python" : "graph", "host", called, 0);
  }

  void pass_host_time(SimTime time, std::string_view name) {
    const SimTime called = host_now_;
    host_now_ += time;
    record_host(name, "host", called, 0);
  }

  void use_host_thread(int thread) override {
    HOWARD_CHECK(thread >= 0, "host threads count from 0");
    host_threads_[at(host_thread_)] = host_now_;
    if (std::ssize(host_threads_) <= thread) host_threads_.resize(at(thread) + 1, host_now_);
    host_thread_ = thread;
    host_now_ = host_threads_[at(thread)];
  }

  void join_host_threads() override {
    use_host_thread(0);
    host_now_ = std::ranges::max(host_threads_);
    std::ranges::fill(host_threads_, host_now_);
  }

  void release_trace(TraceId id) override {
    traces_.release(id);
    values_.release_trace(id);
  }

  void set_sub_devices(std::span<const CoreRange> ranges) override {
    refuse_during_capture("divide the device");
    SubDevices divided = sub_devices_;
    divided.divide(ranges);
    for (int i = 0; i < options_.command_queues; ++i) finish(i);
    sub_devices_ = std::move(divided);
    owners_ = SubDeviceOwners(sub_devices_.count());
    simulation_.set_sub_devices(sub_devices_.count());
  }

  const PlannedCall& planned_call(const Program& program) {
    const CoreGrid grid = sub_devices_.range(program.sub_device).size();
    if (const Attributes* const tuned = options_.tuned ? options_.tuned->find(program) : nullptr) {
      Program changed = program;
      changed.attributes = *tuned;
      return program_cache_.call(changed, grid, memory_);
    }
    require_grid_fits(program, grid);
    return program_cache_.call(program, grid, memory_);
  }

  CoreGrid compute_grid() const { return profiles_.chip.compute_grid(options_.dispatch); }
  const Profiles& profiles() const { return profiles_; }
  Bytes l1_free() const { return memory_.l1_free(); }
  int command_queues() const override { return options_.command_queues; }
  bool holds_values() const override { return values_.exists(); }
  void begin_phase(std::string_view phase) override { memory_.begin_phase(phase); }
  /// Returns the phases of DRAM.
  std::vector<MemoryPhase> memory_phases() const override { return memory_.phases(); }
  SimTime now() const override { return host_now_; }
  void set_trace_sink(EventSink* sink) override { sink_ = sink; }

 private:
  static DeviceOptions checked(const DeviceOptions& options, const Profiles& profiles) {
    if (auto reason = profiles.chip.objection(options.dispatch)) {
      fail("open the device with ETH dispatch", std::move(*reason), "WORKER dispatch");
    }
    const int most_queues = profiles.software.most_command_queues;
    if (options.command_queues < 1 || options.command_queues > most_queues) {
      fail("open the device", fmt::format("{} command queues", options.command_queues),
           fmt::format("1 to {}", most_queues));
    }
    return options;
  }

  class Queue final : public CommandQueue {
   public:
    Queue(Chip& device, int index) : device_(device), index_(index) {}
    void enqueue(const Program& program) override { device_.enqueue(index_, program); }
    void write_buffer(BufferId buffer, std::span<const std::byte> values) override {
      device_.write_buffer(index_, buffer, values);
    }
    void read_buffer(BufferId buffer, std::span<std::byte> values) override {
      device_.read_buffer(index_, buffer, values);
    }
    void finish() override { device_.finish(index_); }
    EventId record_event() override { return device_.record_event(index_); }
    void wait_for_event(EventId event) override { device_.wait_for_event(index_, event); }
    void begin_trace_capture() override { device_.begin_trace_capture(index_); }
    TraceId end_trace_capture() override { return device_.end_trace_capture(index_); }
    void execute_trace(TraceId trace) override { device_.execute_trace(index_, trace); }

   private:
    Chip& device_;
    int index_;
  };

  struct Capture {
    int queue = 0;
    Recording recording;
    KeptBinaries kept;
  };

  void record(Launch launch) {
    const SimTime called = host_now_;
    if (profiles_.software.dispatch.trace_keeps_binaries && capture_->kept.pass(*launch.planned)) {
      leave_out_binaries(launch, options_.dispatch, profiles_.software);
    }
    capture_->recording.push_back(launch);
    host_now_ += profiles_.software.host_capture;
    record_host(launch.planned->name, "capture", called, 0);
  }

  void launch(int queue, const Launch& launch) {
    owners_.launched(queue, launch.sub_device);
    const SimTime called = host_now_;
    const std::uint64_t first = issue(queue, launch, profiles_.software.host_op_call);
    record_host(launch.planned->name, "host", called, first);
    if (options_.profiled) read_profiler(queue);
  }

  /// Keeps what was asked for, by the first of its launches.
  void note_call(const Program& program, const PlannedCall& planned) {
    const PlannedProgram* const first = &planned.launches.front();
    if (asked_.contains(first)) return;
    asked_.emplace(first, AskedCall{.program = program,
                                    .launches = planned.launches,
                                    .grid = sub_devices_.range(program.sub_device).size(),
                                    .l1_free = memory_.l1_free()});
  }

  void tell_call(const PlannedProgram& launch) const {
    const auto asked = asked_.find(&launch);
    if (asked != asked_.end()) options_.calls->ran(asked->second, profiles_);
  }

  static std::size_t at(int index) { return static_cast<std::size_t>(index); }

  void refuse_during_capture(std::string_view what) const {
    if (!capture_) return;
    fail(std::string(what), fmt::format("a trace is being captured on queue {}", capture_->queue),
         "programs on that queue", "to end the capture first");
  }

  void require_ownership(int queue, int sub_device) const {
    const auto owner = owners_.obstacle(queue, sub_device);
    if (!owner) return;
    fail(fmt::format("launch from queue {} on sub-device {}", queue, sub_device),
         fmt::format("queue {} owns it", *owner), "one queue at a time on a sub-device",
         fmt::format("to finish queue {0}, or to wait on queue {1} for an event that queue {0} "
                     "records behind its last program",
                     *owner, queue));
  }

  /// On the whole device, ttnn replaces a grid that is too large by the device's. On a sub-device
  /// the program would run on cores that do not belong to it, so this throws Error.
  void require_grid_fits(const Program& program, CoreGrid grid) const {
    const auto* const matmul = std::get_if<MatmulAttributes>(&program.attributes);
    const auto* const eltwise = std::get_if<EltwiseAttributes>(&program.attributes);
    const auto wanted = matmul != nullptr    ? matmul->core_grid
                        : eltwise != nullptr ? eltwise->core_grid
                                             : std::nullopt;
    if (!wanted || (wanted->columns <= grid.columns && wanted->rows <= grid.rows)) return;
    if (matmul != nullptr && grid == compute_grid()) return;
    fail(fmt::format("run a program on sub-device {}", program.sub_device),
         fmt::format("its core grid {}x{} leaves the sub-device", wanted->columns, wanted->rows),
         fmt::format("{}x{} at most", grid.columns, grid.rows));
  }

  void require_size(BufferId buffer, std::size_t size) const {
    const TensorSpec& spec = memory_.spec(buffer);
    const Bytes expected = spec.host_bytes();
    if (static_cast<std::int64_t>(size) == expected.value()) return;
    fail("transfer a tensor " + spec.shape.text(), fmt::format("{} bytes", size),
         fmt::format("{} bytes", expected.value()));
  }

  /// Fetches the profiler's records when the program has ended; the host continues after that.
  void read_profiler(int queue) {
    const SimTime called = host_now_;
    host_now_ = std::max(host_now_, simulation_.drain(queue)) + profiles_.software.profiler_read;
    record_host("read_profiler", "profiler", called, 0);
  }

  /// Hands a command over after `host_time`, as soon as the issue queue has room. Returns the
  /// number of the command's first program.
  std::uint64_t issue(int queue, Command command, SimTime host_time) {
    const SimTime ready = host_now_ + host_time;
    const auto issued = simulation_.issue(queue, std::move(command), ready);
    host_now_ = issued.host_free;
    if (host_now_ > ready) record_host("issue queue full", "queue full", ready, 0);
    return issued.first_program;
  }

  /// Transfers wait for all earlier programs of the queue and block the host.
  void transfer(int queue, std::string_view name, BufferId buffer, Bandwidth rate) {
    const SimTime called = host_now_;
    const Bytes amount = memory_.spec(buffer).padded_bytes();
    host_now_ = std::max(host_now_, simulation_.drain(queue)) + transfer_time(amount, rate);
    record_host(name, "transfer", called, 0);
  }

  void record_host(std::string_view name, std::string_view category, SimTime start,
                   std::uint64_t program, TraceId trace = {}) {
    if (sink_ == nullptr) return;
    const auto thread = static_cast<std::uint16_t>(host_thread_);
    sink_->record({.track = {TrackKind::host_thread, Lane::none, thread},
                   .trace = static_cast<std::uint32_t>(trace),
                   .name = name,
                   .category = category,
                   .start = start,
                   .end = host_now_,
                   .program = program});
  }

  Profiles profiles_;
  DeviceOptions options_;
  DeviceMemory memory_;
  SubDevices sub_devices_;
  SubDeviceOwners owners_;
  ProgramCache program_cache_{profiles_};
  std::map<const PlannedProgram*, ProgramFacts> facts_;  ///< Of what timelines were told.
  std::map<const PlannedProgram*, AskedCall> asked_;     ///< By the first launches of calls.
  Simulation simulation_;
  TraceStore traces_;
  ValueShadow values_;
  std::vector<Queue> queues_;
  SimTime host_now_;  ///< The clock of the calling host thread.
  std::vector<SimTime> host_threads_{SimTime()};
  int host_thread_ = 0;
  EventSink* sink_ = nullptr;
  std::uint64_t events_ = 0;
  std::optional<Capture> capture_;
};

EmulatedChip::EmulatedChip(const Profiles& profiles, const DeviceOptions& options)
    : EmulatedChip(std::make_unique<Chip>(profiles, options)) {}

EmulatedChip::EmulatedChip(std::unique_ptr<Chip> chip)
    : ForwardingDevice(*chip), chip_(std::move(chip)) {}

EmulatedChip::~EmulatedChip() = default;

int EmulatedChip::command_queues() const { return chip_->command_queues(); }

CommandQueue& EmulatedChip::command_queue(int index) { return chip_->command_queue(index); }

void EmulatedChip::pass_host_time(SimTime time, std::string_view name) {
  chip_->pass_host_time(time, name);
}

const Profiles& EmulatedChip::profiles() const { return chip_->profiles(); }

CoreGrid EmulatedChip::compute_grid() const { return chip_->compute_grid(); }

Bytes EmulatedChip::l1_free() const { return chip_->l1_free(); }

std::span<const PlannedProgram> EmulatedChip::launches(const Program& program) {
  return chip_->planned_call(program).launches;
}

const PlannedProgram& EmulatedChip::explain(const Program& program) {
  const std::span<const PlannedProgram> all = launches(program);
  const auto product = std::ranges::find_if(
      all, [](const PlannedProgram& launch) { return launch.matmul.has_value(); });
  return product != all.end() ? *product : all.back();
}

}  // namespace howard::chip
