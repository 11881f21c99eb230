// SPDX-License-Identifier: Apache-2.0
#include "experiments/recorded_models/recorded_model.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/check.h"
#include "base/json_node.h"
#include "base/text.h"
#include "engines/chip/chip_links.h"
#include "engines/workload/workload_json.h"
#include "reports/published/reference.h"

namespace howard::experiments {

// The build writes HOWARD_RECORDED(model) for each recording of this folder.
namespace embedded {
#define HOWARD_RECORDED(model) extern const std::string_view recorded_##model;
#include <recorded_models.inc>
#undef HOWARD_RECORDED
}  // namespace embedded

namespace {

using workload::Command;
using workload::Step;

/// Opens the chip whose passes take longest. Where a chip is reached through another one, it is
/// that, whose inputs come through ethernet.
std::unique_ptr<chip::EmulatedChip> open_slowest(const DevBox& box, const Machine& machine,
                                                 int queues) {
  const bool alone = !machine.has_remote_chips;
  const auto own =
      alone ? box.with(box.profiles()) : box.with(chip::behind_ethernet(box.profiles()));
  // The models are made for 8x8 cores: a chip with a row more dispatches from that row.
  using enum chip::DispatchCoreType;
  const bool has_eth = !own->profiles().chip.objection(eth);
  return own->open_chip({.dispatch = alone || !has_eth ? worker : eth, .command_queues = queues});
}

/// Returns a command for a chip with so many queues: the last one has the work of those behind it.
Command for_queues(Command command, int queues) {
  command.queue = std::min(command.queue, static_cast<std::uint8_t>(queues - 1));
  return command;
}

/// Reads what the name of its region says of a recording.
RecordedModel model_of(std::string_view recording) {
  const JsonDocument document(recording, {.attempted = "read a recorded model"});
  const std::string name = document.root().member("names").items().at(0).text();
  const std::size_t colon = name.find(": "), times = name.find(" x ", colon);
  HOWARD_CHECK(times != std::string::npos, "a recording says its model, its batch and its samples");
  return {.name = lower_case(name.substr(0, colon)),
          .batch = parse_integer(name.substr(colon + 2, times - colon - 2)).value(),
          .sample = name.substr(times + 3),
          .recording = recording};
}

std::vector<RecordedModel> read_models() {
  std::vector<std::string> published;
  for (const reports::ReferenceTable& table : reports::reference_tables("vision")) {
    for (const reports::ReferenceRow& row : table.rows) {
      for (const auto& [axis, value] : row.parameters) {
        if (axis == "model") published.push_back(value);
      }
    }
  }
  std::vector<RecordedModel> models;
#define HOWARD_RECORDED(model) models.push_back(model_of(embedded::recorded_##model));
#include <recorded_models.inc>
#undef HOWARD_RECORDED
  std::ranges::stable_sort(models, {}, [&](const RecordedModel& model) {
    return std::ranges::find(published, model.name) - published.begin();
  });
  return models;
}

}  // namespace

ChangeablePrograms programs_of(const RecordedModel& model) {
  return ChangeablePrograms(workload::parse_workload(std::string(model.recording), model.name));
}

const std::vector<RecordedModel>& recorded_models() {
  static const std::vector<RecordedModel> all = read_models();
  return all;
}

RecordedPasses::RecordedPasses(const DevBox& box, const RecordedModel& model,
                               const Machine& machine, int queues, const ProgramChanges& changes)
    : EmulatedCase(open_slowest(*box_of(box, machine), machine, queues)),
      model_(model),
      chips_(machine.chips),
      program_(workload::parse_workload(std::string(model.recording), model.name)),
      player_(device(), program_,
              {.pass = [this](SimTime time,
                              std::string_view name) { device().pass_host_time(time, name); },
               .change = [=](Program& program) { return changes.apply(program); }}) {
  const auto region = std::ranges::find(program_.commands, Step::begin_region, &Command::step);
  HOWARD_CHECK(region != program_.commands.end(), "a recording has the region of its passes");
  const auto place = static_cast<std::size_t>(region - program_.commands.begin());
  prepare(place, queues);
  find_iteration(place, queues);
}

/// Runs what the script does before its passes, and sums up the kernels of the trace.
void RecordedPasses::prepare(std::size_t region, int queues) {
  bool captures = false;
  for (std::size_t i = 0; i < region; ++i) {
    const Command command = for_queues(program_.commands[i], queues);
    if (command.step == Step::end_trace) captures = false;
    if (captures && command.step == Step::call) {
      const workload::CallLine& call = program_.calls.at(command.what);
      if (const auto program = player_.program_of(call)) {
        kernels_.add(program_.ops.at(call.op).name, device(), *program);
        trace_ += recorded_bytes(device(), *program);
      }
    }
    if (command.step == Step::begin_trace) captures = true;
    player_.run(command);
  }
}

/// Finds the commands of one iteration: those up to the first replay, and the reading of its result
/// if the script reads it. The first of them waits for the event that the iteration before recorded
/// last, so that all iterations record that one.
void RecordedPasses::find_iteration(std::size_t region, int queues) {
  const auto begin = program_.commands.begin() + static_cast<std::ptrdiff_t>(region) + 1;
  const auto replay =
      std::ranges::find(begin, program_.commands.end(), Step::execute_trace, &Command::step);
  HOWARD_CHECK(replay != program_.commands.end(), "a recording replays its pass in the region");
  const auto end = std::find_if(replay, program_.commands.end(), [](const Command& command) {
    return command.step == Step::wait_for_event || command.step == Step::finish;
  });
  std::uint32_t last = 0;
  const std::uint32_t first =
      std::ranges::find(begin, end, Step::wait_for_event, &Command::step)->what;
  for (auto command = begin; command != end; ++command) {
    if (command->step == Step::record_event) last = command->what;
  }
  for (auto command = begin; command != end; ++command) {
    iteration_.push_back(for_queues(*command, queues));
    Command& made = iteration_.back();
    if (made.step == Step::record_event && made.what == last) made.what = first;
  }
}

void RecordedPasses::run() {
  for (const Command& command : iteration_) player_.run(command);
}

void RecordedPasses::describe(double seconds, harness::PointResult& point) const {
  const double samples = static_cast<double>(model_.batch) * chips_;
  const auto add_rate = [&](std::string name, double time) {
    point.metrics.push_back({.name = std::move(name),
                             .value = samples / time,
                             .unit = "1/s",
                             .better = harness::Better::higher});
  };
  add_rate("samples_per_second", seconds);
  add_rate("kernel_samples_per_second", kernels_.kernel_time().seconds());
  for (const auto& [name, size] : {std::pair{"trace_bytes", trace_},
                                   {"trace_region", device().profiles().software.trace_region}}) {
    point.metrics.push_back(
        {.name = name, .value = static_cast<double>(size.value()), .unit = "B"});
  }
  point.details.emplace_back("batch", std::to_string(model_.batch));
  point.details.emplace_back("sample", model_.sample);
  point.details.emplace_back("launches", std::to_string(kernels_.launches()));
  kernels_.describe(seconds, std::nullopt, point);
  if (device().profiles().chip.architecture == "wormhole_b0") return;
  point.warnings.emplace_back(
      "the models are made for the 8x8 cores of a Wormhole chip: the other cores are idle, which "
      "demos for larger chips use");
}

}  // namespace howard::experiments
