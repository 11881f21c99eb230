// SPDX-License-Identifier: Apache-2.0
#include "engines/wormhole/wormhole_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "engines/device/memory_ledger.h"
#include "engines/wormhole/simulation.h"
#include "engines/wormhole/sub_device_owners.h"
#include "engines/wormhole/sub_devices.h"
#include "engines/wormhole/trace_store.h"

namespace howard::wormhole {
namespace {

[[noreturn]] void fail(std::string attempted, std::string value, std::string accepted,
                       std::string hint = "") {
  throw Error({.attempted = std::move(attempted),
               .value = std::move(value),
               .accepted = std::move(accepted),
               .hint = std::move(hint)});
}

/// Programs are planned once for each different grid, op, attributes and operand specs, as ttnn's
/// program cache does; buffers do not matter.
struct ProgramLess {
  using Key = std::pair<CoreGrid, Program>;

  bool operator()(const Key& a, const Key& b) const {
    const auto facts = [](const Key& key) {
      const auto& [grid, program] = key;
      return std::tie(grid, program.name, program.attributes, program.output.spec);
    };
    if (const auto order = facts(a) <=> facts(b); order != 0) return order < 0;
    const auto spec_less = [](const Operand& x, const Operand& y) { return x.spec < y.spec; };
    return std::ranges::lexicographical_compare(a.second.inputs, b.second.inputs, spec_less);
  }
};

/// Turns what happened to a program into trace events.
void record_program(TraceSink& sink, std::uint64_t program, int queue, const CoreRange& cores,
                    const Launch& launch, const LaunchTimes& times) {
  const auto index = [](int number) { return static_cast<std::uint16_t>(number); };
  const std::string_view name = launch.planned->name;
  sink.describe(program, launch.planned->facts);
  const auto span = [&](Track track, std::string_view category, SimTime start, SimTime end) {
    sink.record({track, name, category, start, end, program});
  };
  span({TrackKind::dispatcher, Lane::none, index(queue)}, "dispatch", times.dispatch_start,
       times.dispatch_end);
  span({TrackKind::sub_device, Lane::none, index(launch.sub_device)}, "kernel", times.kernel_start,
       times.kernel_end);
  // The lanes are those of the kernel alone on the chip; when it shared the DRAM it took longer,
  // and what it waited for is not known by lane.
  const KernelCost& kernel = launch.planned->kernel;
  const SimTime zero = times.kernel_start;
  for (int i = 0; i < kernel.cores; ++i) {
    const std::uint16_t core = core_index(cores.first_column + i % kernel.grid.columns,
                                          cores.first_row + i / kernel.grid.columns);
    span({TrackKind::core, Lane::reader, core}, "read", zero, zero + kernel.reads_end);
    span({TrackKind::core, Lane::compute, core}, "math", zero + kernel.compute_start,
         zero + kernel.math_end);
    span({TrackKind::core, Lane::writer, core}, "write", zero + kernel.first_write,
         zero + kernel.total);
  }
}

}  // namespace

/// The host's clock, the chip behind its command queues, the memory and what is captured.
class WormholeDevice::Impl {
 public:
  Impl(const Profiles& profiles, const DeviceOptions& options)
      : profiles_(profiles),
        options_(options),
        memory_("DRAM of " + profiles.chip.name, profiles.chip.dram_capacity),
        sub_devices_(compute_grid(), profiles.software.most_sub_devices),
        owners_(1),
        simulation_({.command_queues = options.command_queues,
                     .issue_queue_entries = profiles.software.issue_entries(options.dispatch),
                     .launch_ring_entries = profiles.software.dispatch.launch_ring,
                     .configuration_ring = profiles.software.dispatch.configuration_ring},
                    [this](std::uint64_t program, int queue, const Launch& launch,
                           const LaunchTimes& times) {
                      if (sink_ == nullptr) return;
                      record_program(*sink_, program, queue, sub_devices_.range(launch.sub_device),
                                     launch, times);
                    }),
        traces_(profiles.software.trace_region) {
    for (int i = 0; i < options.command_queues; ++i) queues_.emplace_back(*this, i);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // What the command queues do.

  void enqueue(int queue, const Program& program) {
    for (const Operand& input : program.inputs) static_cast<void>(memory_.spec(input.buffer));
    static_cast<void>(memory_.spec(program.output.buffer));
    Launch launch = launch_of(planned(program), options_.dispatch, profiles_);
    launch.sub_device = program.sub_device;
    const SimTime called = host_now_;
    if (capture_) {
      if (capture_->queue != queue) refuse_during_capture("enqueue a program on another queue");
      capture_->recording.push_back(launch);
      host_now_ += profiles_.software.host_capture;
      return record_host(program.name, "capture", called, 0);
    }
    require_ownership(queue, program.sub_device);
    owners_.launched(queue, program.sub_device);
    const auto issued =
        simulation_.issue(queue, launch, host_now_ + profiles_.software.host_op_call);
    host_now_ = issued.host_free;
    record_host(program.name, "host", called, issued.first_program);
  }

  void write_buffer(int queue, BufferId buffer, std::span<const std::byte> values) {
    refuse_during_capture("write a buffer");
    require_size(buffer, values.size());
    transfer(queue, "write_buffer", buffer, profiles_.chip.pcie_write);
  }

  void read_buffer(int queue, BufferId buffer, std::span<std::byte> values) {
    refuse_during_capture("read a buffer");
    require_size(buffer, values.size());
    finish(queue);
    fail("read a buffer of " + profiles_.chip.name, "the emulated device keeps times, not values",
         "", "--backend host for numbers");
  }

  void finish(int queue) {
    refuse_during_capture("finish a queue");
    const SimTime called = host_now_;
    host_now_ = std::max(host_now_, simulation_.drain(queue)) + profiles_.software.host_finish;
    owners_.finished(queue);
    record_host("finish", "finish", called, 0);
  }

  EventId record_event(int queue) {
    refuse_during_capture("record an event");
    const std::uint64_t event = events_++;
    owners_.recorded(queue, event);
    host_now_ = simulation_.issue(queue, RecordEvent{event}, host_now_).host_free;
    return EventId{event};
  }

  void wait_for_event(int queue, EventId id) {
    refuse_during_capture("wait for an event");
    const auto event = static_cast<std::uint64_t>(id);
    if (event >= events_) {
      fail("wait for an event", fmt::format("event {}", event), "an event this device recorded");
    }
    owners_.waited(queue, event);
    host_now_ = simulation_.issue(queue, WaitEvent{event}, host_now_).host_free;
  }

  void begin_trace_capture(int queue) {
    refuse_during_capture("begin a capture");
    capture_ = Capture{queue, {}};
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
    return traces_.keep(std::move(capture.recording), size);
  }

  void execute_trace(int queue, TraceId id) {
    refuse_during_capture("execute a trace");
    const std::shared_ptr<const Recording> recording = traces_.find(id);
    for (const Launch& launch : *recording) {
      static_cast<void>(sub_devices_.range(launch.sub_device));
      require_ownership(queue, launch.sub_device);
    }
    for (const Launch& launch : *recording) owners_.launched(queue, launch.sub_device);
    const SimTime called = host_now_;
    const auto issued =
        simulation_.issue(queue, Replay{recording}, host_now_ + profiles_.software.host_replay);
    host_now_ = issued.host_free;
    record_host("execute_trace", "host", called, issued.first_program);
  }

  // What the device does.

  std::string description() const {
    const CoreGrid grid = compute_grid();
    return fmt::format("{}, {} dispatch, {}x{} cores", profiles_.chip.name,
                       name_of(options_.dispatch), grid.columns, grid.rows);
  }

  CommandQueue& queue(int index) {
    if (index < 0 || index >= options_.command_queues) {
      fail("open a command queue", std::to_string(index),
           fmt::format("0 to {}", options_.command_queues - 1), "a device opened with more queues");
    }
    return queues_[at(index)];
  }

  void release_trace(TraceId id) { traces_.release(id); }

  void set_sub_devices(std::span<const CoreRange> ranges) {
    refuse_during_capture("divide the device");
    SubDevices divided = sub_devices_;
    divided.divide(ranges);
    for (int i = 0; i < options_.command_queues; ++i) finish(i);
    sub_devices_ = std::move(divided);
    owners_ = SubDeviceOwners(sub_devices_.count());
    simulation_.set_sub_devices(sub_devices_.count());
  }

  const PlannedProgram& planned(const Program& program) {
    const CoreGrid grid = sub_devices_.range(program.sub_device).size();
    require_grid_fits(program, grid);
    ProgramLess::Key key{grid, program};
    const auto cached = program_cache_.find(key);
    if (cached != program_cache_.end()) return cached->second;
    return program_cache_.emplace(std::move(key), plan_program(program, grid, profiles_))
        .first->second;
  }

  CoreGrid compute_grid() const { return profiles_.chip.compute_grid(options_.dispatch); }
  int command_queues() const { return options_.command_queues; }
  MemoryLedger& memory() { return memory_; }
  SimTime now() const { return host_now_; }
  void set_trace_sink(TraceSink* sink) { sink_ = sink; }

 private:
  class Queue final : public CommandQueue {
   public:
    Queue(Impl& device, int index) : device_(device), index_(index) {}
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
    Impl& device_;
    int index_;
  };

  struct Capture {
    int queue = 0;
    Recording recording;
  };
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

  /// On the whole device ttnn takes the device's grid for one that is too large; on a sub-device
  /// the program would run on cores that are not its own.
  void require_grid_fits(const Program& program, CoreGrid grid) const {
    const auto* const matmul = std::get_if<MatmulAttributes>(&program.attributes);
    if (matmul == nullptr || !matmul->core_grid || grid == compute_grid()) return;
    if (matmul->core_grid->columns <= grid.columns && matmul->core_grid->rows <= grid.rows) return;
    fail(fmt::format("run a program on sub-device {}", program.sub_device),
         fmt::format("its core grid {}x{} leaves the sub-device", matmul->core_grid->columns,
                     matmul->core_grid->rows),
         fmt::format("{}x{} at most", grid.columns, grid.rows));
  }

  void require_size(BufferId buffer, std::size_t size) const {
    const TensorSpec& spec = memory_.spec(buffer);
    const Bytes expected = spec.host_bytes();
    if (static_cast<std::int64_t>(size) == expected.value()) return;
    fail("transfer a tensor " + spec.shape.text(), fmt::format("{} bytes", size),
         fmt::format("{} bytes", expected.value()));
  }

  /// Transfers wait for all earlier programs of the queue and block the host.
  void transfer(int queue, std::string_view name, BufferId buffer, Bandwidth rate) {
    const SimTime called = host_now_;
    const Bytes amount = memory_.spec(buffer).padded_bytes();
    host_now_ = std::max(host_now_, simulation_.drain(queue)) + transfer_time(amount, rate);
    record_host(name, "transfer", called, 0);
  }

  void record_host(std::string_view name, std::string_view category, SimTime start,
                   std::uint64_t program) {
    if (sink_ == nullptr) return;
    sink_->record({{TrackKind::host_thread}, name, category, start, host_now_, program});
  }

  Profiles profiles_;
  DeviceOptions options_;
  MemoryLedger memory_;
  SubDevices sub_devices_;
  SubDeviceOwners owners_;
  std::map<ProgramLess::Key, PlannedProgram, ProgramLess> program_cache_;
  Simulation simulation_;
  TraceStore traces_;
  std::vector<Queue> queues_;
  SimTime host_now_;
  TraceSink* sink_ = nullptr;
  std::uint64_t events_ = 0;
  std::optional<Capture> capture_;
};

WormholeDevice::WormholeDevice(const Profiles& profiles, const DeviceOptions& options) {
  const int most = profiles.software.most_command_queues;
  if (options.command_queues < 1 || options.command_queues > most) {
    fail("open the device", fmt::format("{} command queues", options.command_queues),
         fmt::format("1 to {}", most));
  }
  impl_ = std::make_unique<Impl>(profiles, options);
}

WormholeDevice::~WormholeDevice() = default;

std::string WormholeDevice::description() const { return impl_->description(); }

BufferId WormholeDevice::allocate(const TensorSpec& spec) {
  return impl_->memory().reserve(spec, spec.padded_bytes());
}

void WormholeDevice::release(BufferId buffer) { impl_->memory().release(buffer); }

int WormholeDevice::command_queues() const { return impl_->command_queues(); }

CommandQueue& WormholeDevice::command_queue(int index) { return impl_->queue(index); }

void WormholeDevice::release_trace(TraceId trace) { impl_->release_trace(trace); }

void WormholeDevice::set_sub_devices(std::span<const CoreRange> sub_devices) {
  impl_->set_sub_devices(sub_devices);
}

SimTime WormholeDevice::now() const { return impl_->now(); }

void WormholeDevice::set_trace_sink(TraceSink* sink) { impl_->set_trace_sink(sink); }

CoreGrid WormholeDevice::compute_grid() const { return impl_->compute_grid(); }

const PlannedProgram& WormholeDevice::explain(const Program& program) {
  return impl_->planned(program);
}

}  // namespace howard::wormhole
