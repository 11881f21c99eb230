// SPDX-License-Identifier: Apache-2.0
#include "engines/wormhole/wormhole_device.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "engines/device/memory_ledger.h"
#include "engines/wormhole/dispatch.h"

namespace howard::wormhole {
namespace {

MatmulProblem problem_of(const Program& program) {
  const auto& attributes = std::get<MatmulAttributes>(program.attributes);
  const Shape& a = program.inputs[0].spec.shape;
  const Shape& b = program.inputs[1].spec.shape;
  return {.batch = a.batch(),
          .m = a.tile_rows(),
          .k = a.tile_columns(),
          .n = b.tile_columns(),
          .dtype = program.inputs[0].spec.dtype,
          .core_grid = attributes.core_grid,
          .compute = attributes.compute};
}

/// A program and its plan, from its enqueueing to its completion.
struct Running {
  std::string_view name;
  MatmulExplanation matmul;
};

/// Turns what happened to a program into trace events.
void record_program(TraceSink& sink, const Running& running, const Launch& launch,
                    const LaunchTimes& times) {
  const auto span = [&](Track track, std::string_view name, std::string_view category,
                        SimTime start, SimTime end) {
    sink.record({track, name, category, start, end, launch.program});
  };
  span({TrackKind::dispatcher}, running.name, "dispatch", times.dispatch_start, times.dispatch_end);
  span({TrackKind::command_queue}, running.name, "kernel", times.kernel_start, times.kernel_end);
  const MatmulPlan& plan = running.matmul.plan;
  const MatmulCost& cost = running.matmul.cost;
  // 2D kinds use a sub-grid of active columns and rows; 1D kinds fill the grid row by row.
  const bool grid_2d = plan.kind == MatmulKind::multicast_2d;
  const auto columns = static_cast<int>(grid_2d ? plan.active_columns() : plan.grid.columns);
  const auto cores = static_cast<int>(plan.active_cores());
  const SimTime zero = times.kernel_start;
  for (int i = 0; i < cores; ++i) {
    const std::uint16_t core = core_index(i % columns, i / columns);
    span({TrackKind::core, Lane::reader, core}, running.name, "read", zero, zero + cost.reads_end);
    span({TrackKind::core, Lane::compute, core}, running.name, "math", zero + cost.compute_start,
         zero + cost.math_end);
    span({TrackKind::core, Lane::writer, core}, running.name, "write", zero + cost.first_write,
         zero + cost.total);
  }
}

}  // namespace

/// The host's clock, the chip behind its one command queue, and the memory.
class WormholeDevice::Impl final : public CommandQueue {
 public:
  Impl(const Profiles& profiles, DispatchCoreType dispatch)
      : profiles_(profiles),
        dispatch_type_(dispatch),
        memory_("DRAM of " + profiles.chip.name, profiles.chip.dram_capacity),
        queue_({.go_latency = profiles.software.dispatch_go,
                .issue_queue_entries = profiles.software.dispatch(dispatch).issue_queue_entries,
                .launch_ring_entries = profiles.software.launch_ring},
               [this](const Launch& launch, const LaunchTimes& times) { ended(launch, times); }) {}

  void enqueue(const Program& program) override {
    for (const Operand& input : program.inputs) static_cast<void>(memory_.spec(input.buffer));
    static_cast<void>(memory_.spec(program.output.buffer));
    const MatmulExplanation& matmul = planned(program);
    const Launch launch{.program = next_program_++,
                        .dispatch = profiles_.software.dispatch(dispatch_type_).program,
                        .kernel = matmul.cost.total};
    if (sink_ != nullptr) running_.emplace(launch.program, Running{program.name, matmul});
    const SimTime called = host_now_;
    host_now_ = queue_.issue(launch, host_now_ + profiles_.software.host_op_call);
    record_host(program.name, "host", called, launch.program);
  }

  void write_buffer(BufferId buffer, std::span<const std::byte> values) override {
    require_size(buffer, values.size());
    transfer("write_buffer", buffer, profiles_.chip.pcie_write);
  }

  void read_buffer(BufferId buffer, std::span<std::byte> values) override {
    require_size(buffer, values.size());
    finish();
    throw Error({.attempted = "read a buffer of " + profiles_.chip.name,
                 .value = "the emulated device keeps times, not values",
                 .accepted = "",
                 .hint = "--backend host for numbers"});
  }

  void finish() override {
    const SimTime called = host_now_;
    host_now_ = std::max(host_now_, queue_.drain()) + profiles_.software.host_finish;
    record_host("finish", "finish", called, 0);
  }

  /// The plan and cost of a program; worked out once for each different one, as ttnn's program
  /// cache does.
  const MatmulExplanation& planned(const Program& program) {
    const MatmulProblem problem = problem_of(program);
    const auto cached = program_cache_.find(problem);
    if (cached != program_cache_.end()) return cached->second;
    const MatmulPlan plan =
        plan_matmul(problem, compute_grid(), profiles_.chip.l1_circular_buffers);
    const MatmulCost cost = matmul_cost(plan, profiles_.chip, profiles_.software);
    return program_cache_.emplace(problem, MatmulExplanation{plan, cost}).first->second;
  }

  CoreGrid compute_grid() const { return profiles_.chip.compute_grid(dispatch_type_); }

  std::string description() const {
    const CoreGrid grid = compute_grid();
    return fmt::format("{}, {} dispatch, {}x{} cores", profiles_.chip.name, name_of(dispatch_type_),
                       grid.columns, grid.rows);
  }
  MemoryLedger& memory() { return memory_; }
  SimTime now() const { return host_now_; }
  void set_trace_sink(TraceSink* sink) { sink_ = sink; }

 private:
  void ended(const Launch& launch, const LaunchTimes& times) {
    const auto running = running_.find(launch.program);
    if (running == running_.end()) return;
    if (sink_ != nullptr) record_program(*sink_, running->second, launch, times);
    running_.erase(running);
  }

  void require_size(BufferId buffer, std::size_t size) const {
    const TensorSpec& spec = memory_.spec(buffer);
    const Bytes expected = spec.host_bytes();
    if (static_cast<std::int64_t>(size) == expected.value()) return;
    throw Error({.attempted = "transfer a tensor " + spec.shape.text(),
                 .value = fmt::format("{} bytes", size),
                 .accepted = fmt::format("{} bytes", expected.value()),
                 .hint = ""});
  }

  /// Transfers wait for all earlier programs and block the host.
  void transfer(std::string_view name, BufferId buffer, Bandwidth rate) {
    const SimTime called = host_now_;
    const Bytes amount = memory_.spec(buffer).padded_bytes();
    host_now_ = std::max(host_now_, queue_.drain()) + transfer_time(amount, rate);
    record_host(name, "transfer", called, 0);
  }

  void record_host(std::string_view name, std::string_view category, SimTime start,
                   std::uint64_t program) {
    if (sink_ == nullptr) return;
    sink_->record({{TrackKind::host_thread}, name, category, start, host_now_, program});
  }

  Profiles profiles_;
  DispatchCoreType dispatch_type_;
  MemoryLedger memory_;
  DispatchQueue queue_;
  SimTime host_now_;
  TraceSink* sink_ = nullptr;
  std::uint64_t next_program_ = 1;
  std::map<MatmulProblem, MatmulExplanation> program_cache_;
  std::map<std::uint64_t, Running> running_;  ///< Only while somebody listens.
};

WormholeDevice::WormholeDevice(const Profiles& profiles, DispatchCoreType dispatch)
    : impl_(std::make_unique<Impl>(profiles, dispatch)) {}

WormholeDevice::~WormholeDevice() = default;

std::string WormholeDevice::description() const { return impl_->description(); }

BufferId WormholeDevice::allocate(const TensorSpec& spec) {
  return impl_->memory().reserve(spec, spec.padded_bytes());
}

void WormholeDevice::release(BufferId buffer) { impl_->memory().release(buffer); }

CommandQueue& WormholeDevice::command_queue(int index) {
  if (index != 0) {
    throw Error({.attempted = "open a command queue",
                 .value = std::to_string(index),
                 .accepted = "0",
                 .hint = ""});
  }
  return *impl_;
}

SimTime WormholeDevice::now() const { return impl_->now(); }

void WormholeDevice::set_trace_sink(TraceSink* sink) { impl_->set_trace_sink(sink); }

CoreGrid WormholeDevice::compute_grid() const { return impl_->compute_grid(); }

MatmulExplanation WormholeDevice::explain(const Program& program) const {
  return impl_->planned(program);
}

}  // namespace howard::wormhole
