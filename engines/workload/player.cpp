// SPDX-License-Identifier: Apache-2.0
#include "engines/workload/player.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "engines/program/fields.h"
#include "engines/program/program.h"
#include "engines/workload/launch.h"

namespace howard::workload {
namespace {

/// Timelines call the time of calls from Python by this name.
constexpr std::string_view kPythonCall = "python";

[[noreturn]] void refuse_number(const char* what, std::uint64_t number, const char* why) {
  throw Error({.attempted = fmt::format("use {} {} of a workload", what, number), .value = why});
}

template <class Lines>
const auto& line_of(const Lines& lines, std::uint32_t number, const char* what) {
  if (number >= lines.size()) refuse_number(what, number, "there is none of that number");
  return lines[number];
}

}  // namespace

TensorNumber root_of(const Workload& workload, TensorNumber tensor) {
  const TensorLine& line = line_of(workload.tensors, tensor, "tensor");
  return line.view_of.value_or(tensor);
}

bool ends_waiting(const Workload& workload) {
  for (auto command = workload.commands.rbegin(); command != workload.commands.rend(); ++command) {
    const bool passes = command->step == Step::release || command->step == Step::end_region ||
                        command->step == Step::signpost || command->step == Step::release_trace;
    if (!passes) return command->step == Step::finish;
  }
  return true;
}

Player::Player(Device& device, const Workload& workload, Playing playing)
    : device_(device), workload_(workload), playing_(std::move(playing)) {}

Player::~Player() {
  for (const auto& buffer : buffers_) {
    if (buffer) device_.release(*buffer);
  }
}

void Player::clear(std::uint32_t traces_below) {
  for (auto& buffer : buffers_) {
    if (buffer) device_.release(*std::exchange(buffer, std::nullopt));
  }
  const auto end = traces_.lower_bound(traces_below);
  for (auto trace = traces_.begin(); trace != end; ++trace) device_.release_trace(trace->second);
  traces_.erase(traces_.begin(), end);
  events_.clear();
  open_.clear();
}

void Player::restart() {
  regions_.clear();
  open_.clear();
  calls_ = 0;
}

bool Player::is_alive(TensorNumber tensor) const {
  const TensorNumber root = root_of(workload_, tensor);
  return root < buffers_.size() && buffers_[root].has_value();
}

Operand Player::operand(TensorNumber tensor) const {
  if (!is_alive(tensor)) refuse_number("tensor", tensor, "it has no memory: it was released");
  return {*buffers_[root_of(workload_, tensor)], workload_.tensors[tensor].spec};
}

const Attributes& Player::attributes_of(std::uint32_t op) {
  const OpLine& line = line_of(workload_.ops, op, "op");
  if (attributes_.size() <= op) attributes_.resize(op + 1);
  auto& known = attributes_[op];
  if (!known) known = parse_attributes(line.kernel, line.attributes);
  return *known;
}

std::optional<Program> Player::program_of(const CallLine& call) {
  const Attributes& attributes = attributes_of(call.op);
  std::vector<Operand> inputs, outputs;
  inputs.reserve(call.inputs.size());
  for (const TensorNumber input : call.inputs) inputs.push_back(operand(input));
  outputs.reserve(call.outputs.size());
  for (const TensorNumber output : call.outputs) outputs.push_back(operand(output));
  Program program =
      make_launch(workload_.ops[call.op].name, attributes, std::move(inputs), std::move(outputs));
  program.sub_device = call.sub_device;
  if (playing_.change && !playing_.change(program)) return std::nullopt;
  return program;
}

void Player::make(TensorNumber tensor) {
  const TensorLine& line = line_of(workload_.tensors, tensor, "tensor");
  if (line.view_of) refuse_number("tensor", tensor, "a view is not made");
  if (buffers_.size() <= tensor)
    buffers_.resize(std::max<std::size_t>(tensor + 1, 2 * buffers_.size()));
  if (buffers_[tensor]) refuse_number("tensor", tensor, "it is made twice");
  buffers_[tensor] = device_.allocate(line.spec);
}

void Player::release(TensorNumber tensor) {
  if (tensor >= buffers_.size() || !buffers_[tensor]) {
    refuse_number("tensor", tensor, "it is released but was not made");
  }
  device_.release(*std::exchange(buffers_[tensor], std::nullopt));
}

std::span<std::byte> Player::scratch(const TensorSpec& spec) {
  const auto size = static_cast<std::size_t>(spec.host_bytes().value());
  if (size > scratch_size_) {
    scratch_ = std::make_unique_for_overwrite<std::byte[]>(size);
    scratch_size_ = size;
    if (device_.holds_values()) std::fill_n(scratch_.get(), size, std::byte{});
  }
  return {scratch_.get(), size};
}

void Player::write(const Command& command) {
  const Operand to = operand(root_of(workload_, command.what));
  queue(command).write_buffer(to.buffer, scratch(to.spec));
}

void Player::read(const Command& command) {
  const Operand from = operand(root_of(workload_, command.what));
  queue(command).read_buffer(from.buffer, scratch(from.spec));
}

void Player::call(const Command& command) {
  const CallLine& line = line_of(workload_.calls, command.what, "call");
  const std::optional<Program> program = program_of(line);
  if (!program) return;
  device_.command_queue(line.queue).enqueue(*program);
  ++calls_;
}

void Player::begin_region(std::uint32_t name) {
  const std::string& text = line_of(workload_.names, name, "name");
  auto region = std::ranges::find(regions_, text, &RegionTime::name);
  if (region == regions_.end()) region = regions_.insert(regions_.end(), {.name = text});
  open_.push_back({static_cast<std::size_t>(region - regions_.begin()), device_.now(), calls_});
  mark("begin", text);
  device_.begin_phase(text);
}

void Player::end_region() {
  if (open_.empty()) refuse_number("region", 0, "one ends that did not begin");
  const OpenRegion ended = open_.back();
  open_.pop_back();
  RegionTime& region = regions_[ended.region];
  ++region.runs;
  region.calls += calls_ - ended.calls;
  region.time += device_.now() - ended.start;
  mark("end", region.name);
  device_.begin_phase(open_.empty() ? "outside regions" : regions_[open_.back().region].name);
}

void Player::divide(std::uint32_t list) {
  device_.set_sub_devices(line_of(workload_.sub_devices, list, "list of sub-devices"));
}

void Player::charge(SimTime each, std::string_view name, const Command& command) {
  const bool is_charged = name == kPythonCall ? playing_.python : playing_.first_calls;
  if (is_charged && playing_.pass) playing_.pass(std::int64_t{command.what} * each, name);
}

void Player::mark(std::string_view what, std::string_view name) {
  if (playing_.pass) playing_.pass(SimTime(), kept_name(fmt::format("{} {}", what, name)));
}

template <class Known>
const Known& Player::known(const std::map<std::uint32_t, Known>& from, std::uint32_t number,
                           const char* what) const {
  const auto found = from.find(number);
  if (found == from.end()) refuse_number(what, number, "there is none");
  return found->second;
}

void Player::run(const Command& command) {
  switch (command.step) {
    case Step::make:
      return make(command.what);
    case Step::release:
      return release(command.what);
    case Step::write:
      return write(command);
    case Step::read:
      return read(command);
    case Step::call:
      return call(command);
    case Step::finish:
      return queue(command).finish();
    case Step::record_event:
      events_.insert_or_assign(command.what, queue(command).record_event());
      return;
    case Step::wait_for_event:
      return queue(command).wait_for_event(known(events_, command.what, "event"));
    case Step::begin_trace:
      return queue(command).begin_trace_capture();
    case Step::end_trace:
      traces_.insert_or_assign(command.what, queue(command).end_trace_capture());
      return;
    case Step::execute_trace:
      return queue(command).execute_trace(known(traces_, command.what, "trace"));
    case Step::release_trace:
      device_.release_trace(known(traces_, command.what, "trace"));
      traces_.erase(command.what);
      return;
    case Step::python:
      if (playing_.python) {
        device_.host_work(HostWork::python_call, static_cast<int>(command.what));
      }
      return;
    case Step::ttnn:
      return charge(workload_.host.ttnn_call, kPythonCall, command);
    case Step::miss:
      return charge(workload_.host.program_miss, "first call", command);
    case Step::compile:
      return charge(workload_.host.kernel_compile, "compile", command);
    case Step::begin_region:
      return begin_region(command.what);
    case Step::end_region:
      return end_region();
    case Step::signpost:
      return mark("signpost", line_of(workload_.names, command.what, "name"));
    case Step::sub_devices:
      return divide(command.what);
  }
}

}  // namespace howard::workload
