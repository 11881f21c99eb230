// SPDX-License-Identifier: Apache-2.0
#include "experiments/cases/workload_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace howard::experiments {
namespace {

using workload::Command;
using workload::Step;

/// Traces of our own have numbers from here on, which the program does not use itself.
constexpr std::uint32_t kOwnTraces = 1U << 30;

bool has_shards(const workload::Workload& program, const workload::CallLine& call) {
  const auto is_sharded = [&](workload::TensorNumber tensor) {
    return program.tensors.at(tensor).spec.sharding.has_value();
  };
  return std::ranges::any_of(call.inputs, is_sharded) ||
         std::ranges::any_of(call.outputs, is_sharded);
}

bool is_host_work(Step step) {
  return step == Step::python || step == Step::ttnn || step == Step::miss || step == Step::compile;
}

bool may_be_in_a_stretch(Step step) {
  return step == Step::call || step == Step::make || step == Step::release || is_host_work(step);
}

}  // namespace

WorkloadCase::WorkloadCase(std::unique_ptr<chip::EmulatedChip> device,
                           std::shared_ptr<const workload::Workload> program,
                           const WorkloadOptions& options)
    : EmulatedCase(std::move(device)),
      program_(std::move(program)),
      options_(options),
      player_(this->device(), *program_,
              {.python = options.from_python,
               .first_calls = options.first_calls,
               .pass = [this](SimTime time,
                              std::string_view name) { this->device().pass_host_time(time, name); },
               .change = [this](Program& made) { return options_.changes.apply(made); }}) {
  if (options_.traced) {
    find_stretches();
    capture_stretches();
  }
}

void WorkloadCase::find_stretches() {
  const auto& commands = program_->commands;
  bool capturing = false;
  for (std::size_t i = 0; i < commands.size();) {
    if (commands[i].step == Step::begin_trace) capturing = true;
    if (commands[i].step == Step::end_trace) capturing = false;
    if (capturing || commands[i].step != Step::call) {
      ++i;
      continue;
    }
    Stretch stretch{i, i, program_->calls.at(commands[i].what).queue};
    std::size_t calls = 0;
    for (; i < commands.size() && may_be_in_a_stretch(commands[i].step); ++i) {
      const bool is_call = commands[i].step == Step::call;
      if (is_call && program_->calls.at(commands[i].what).queue != stretch.queue) break;
      if (!is_call) continue;
      stretch.end = i + 1;
      ++calls;
    }
    i = stretch.end;
    if (calls > 1) stretches_.push_back(stretch);
  }
}

void WorkloadCase::capture(const Stretch& stretch, std::uint32_t trace) {
  player_.run({Step::begin_trace, stretch.queue, trace});
  Bytes size;
  for (std::size_t i = stretch.begin; i < stretch.end; ++i) {
    const Command& command = program_->commands[i];
    if (is_host_work(command.step)) continue;
    if (command.step == Step::call) {
      const auto program = player_.program_of(program_->calls.at(command.what));
      if (program) size += recorded_bytes(device(), *program);
    }
    player_.run(command);
  }
  largest_trace_ = std::max(largest_trace_, size);
  player_.run({Step::end_trace, stretch.queue, trace});
}

void WorkloadCase::capture_stretches() {
  needed_.assign(program_->tensors.size(), false);
  const auto need = [&](workload::TensorNumber tensor) {
    needed_.at(workload::root_of(*program_, tensor)) = true;
  };
  std::size_t next = 0;
  for (std::size_t i = 0; i < program_->commands.size(); ++i) {
    if (next < stretches_.size() && i == stretches_[next].begin) {
      capture(stretches_[next], kOwnTraces + static_cast<std::uint32_t>(next));
      i = stretches_[next++].end - 1;
      continue;
    }
    const Command& command = program_->commands[i];
    if (command.step == Step::make || command.step == Step::release) player_.run(command);
    if (command.step == Step::write || command.step == Step::read) need(command.what);
    if (command.step == Step::sub_devices) player_.run(command);
    if (command.step != Step::call) continue;
    for (const workload::TensorNumber input : program_->calls.at(command.what).inputs) need(input);
    for (const workload::TensorNumber out : program_->calls.at(command.what).outputs) need(out);
  }
  player_.clear(kOwnTraces);
  if (!program_->sub_devices.empty()) device().set_sub_devices({});
}

bool WorkloadCase::is_wanted(const Command& command) const {
  if (!options_.waits && (command.step == Step::finish || command.step == Step::read)) return false;
  if (!options_.traced) return true;
  const bool memory = command.step == Step::make || command.step == Step::release;
  return !memory || needed_.at(command.what);
}

void WorkloadCase::run() {
  player_.restart();
  const bool counts = !has_counted_;
  std::size_t next = 0;
  for (std::size_t i = 0; i < program_->commands.size(); ++i) {
    if (next < stretches_.size() && i == stretches_[next].begin) {
      const Stretch& stretch = stretches_[next];
      player_.run(
          {Step::execute_trace, stretch.queue, kOwnTraces + static_cast<std::uint32_t>(next++)});
      for (; i + 1 < stretch.end; ++i) {
        const Command& command = program_->commands[i];
        const bool memory = command.step == Step::make || command.step == Step::release;
        if (memory && is_wanted(command)) player_.run(command);
      }
      continue;
    }
    const Command& command = program_->commands[i];
    if (counts) count_trace(command);
    if (counts && command.step == Step::call) count_product(program_->calls.at(command.what));
    if (is_wanted(command)) player_.run(command);
  }
  has_counted_ = true;
  const bool has_waited = options_.waits && ends_waiting(*program_);
  for (int i = 0; i < program_->queues && !has_waited; ++i) queue(i).finish();
  regions_ = player_.regions();
  player_.clear(kOwnTraces);
  if (!program_->sub_devices.empty()) device().set_sub_devices({});
}

void WorkloadCase::count_product(const workload::CallLine& call) {
  if (program_->ops.at(call.op).kernel != "matmul") return;
  const Program program = player_.program_of(call).value();  // a product is never left out
  const chip::PlannedProgram& launch = device().explain(program);
  if (!launch.matmul) return;
  const std::string name =
      fmt::format("{} {} by {}: {}", program.name, program.inputs[0].spec.shape.text(),
                  program.inputs[1].spec.shape.text(), launch.matmul->text());
  products_.add(name, launch, calibration::band_of(launch, device().profiles().chip.architecture),
                1, program.flops);
}

void WorkloadCase::count_trace(const Command& command) {
  if (command.step == Step::begin_trace) recorded_.open = Bytes();
  if (command.step == Step::release_trace) recorded_.alive.erase(command.what);
  if (!recorded_.open) return;
  if (command.step == Step::call) {
    const auto program = player_.program_of(program_->calls.at(command.what));
    if (program) *recorded_.open += recorded_bytes(device(), *program);
  }
  if (command.step != Step::end_trace) return;
  recorded_.alive.insert_or_assign(command.what, *recorded_.open);
  recorded_.open.reset();
  Bytes all;
  for (const auto& [trace, size] : recorded_.alive) all += size;
  recorded_.most = std::max(recorded_.most, all);
}

std::vector<std::string> WorkloadCase::slowest_products() const {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> slowest;
  for (const KernelAccount::Part& product : products_.parts()) {
    if (slowest.size() == kMost) break;
    const double seconds = product.kernel.seconds();
    slowest.push_back(
        fmt::format("{:.3f} ms, {} x, {:.1f} TFLOPS: {}", 1e3 * seconds, product.launches,
                    seconds > 0 ? static_cast<double>(product.flops.value()) / seconds / 1e12 : 0,
                    product.name));
  }
  return slowest;
}

std::uint64_t WorkloadCase::calls() const {
  return static_cast<std::uint64_t>(
      std::ranges::count(program_->commands, Step::call, &Command::step));
}

std::string WorkloadCase::by_analogy() const {
  std::set<std::string> analogies;
  for (const Command& command : program_->commands) {
    if (command.step != Step::call) continue;
    const workload::OpLine& op = program_->ops.at(program_->calls.at(command.what).op);
    if (!op.by_analogy) continue;
    analogies.insert(has_shards(*program_, program_->calls.at(command.what))
                         ? fmt::format("{} of shards as interleaved", op.name)
                         : fmt::format("{} as {}", op.name, op.kernel));
  }
  return fmt::format("{}", fmt::join(analogies, ", "));
}

FirstCalls WorkloadCase::first_calls() const {
  if (!options_.first_calls) return {};
  std::uint64_t known = 0, compiled = 0;
  for (const Command& command : program_->commands) {
    if (command.step == Step::miss) known += command.what;
    if (command.step == Step::compile) compiled += command.what;
  }
  return {.programs = known + compiled,
          .compiled = compiled,
          .time = static_cast<std::int64_t>(known) * program_->host.program_miss +
                  static_cast<std::int64_t>(compiled) * program_->host.kernel_compile};
}

void WorkloadCase::describe(double /*seconds*/, harness::PointResult& point) const {
  const auto add = [&](std::string name, std::string text) {
    point.details.emplace_back(std::move(name), std::move(text));
  };
  const auto add_time = [&](std::string name, SimTime time) {
    point.metrics.push_back(
        {.name = std::move(name), .value = time.seconds(), .unit = "s", .virtual_time = time});
  };
  add("source", program_->source);
  add("calls", std::to_string(calls()));
  if (const FirstCalls first = first_calls(); first.programs > 0) {
    add_time("first_calls_time", first.time);
    add("first_calls", std::to_string(first.programs));
    if (first.compiled > 0) add("compiled", std::to_string(first.compiled));
  }
  if (std::string analogies = by_analogy(); !analogies.empty()) {
    add("by_analogy", std::move(analogies));
  }
  std::size_t place = 0;
  for (std::string& product : slowest_products()) {
    add(fmt::format("product.{}", ++place), std::move(product));
  }
  for (const workload::RegionTime& region : regions_) {
    add_time("region_time." + region.name, region.time);
    add("region." + region.name, fmt::format("{} runs, {} calls", region.runs, region.calls));
  }
  if (recorded_.most > Bytes()) {
    point.metrics.push_back(
        {.name = "trace_bytes", .value = static_cast<double>(recorded_.most.value()), .unit = "B"});
  }
  if (!options_.traced) return;
  add("traces", std::to_string(stretches_.size()));
  add("largest_trace", fmt::format("{} B", largest_trace_.value()));
}

}  // namespace howard::experiments
