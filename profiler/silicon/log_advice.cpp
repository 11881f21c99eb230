// SPDX-License-Identifier: Apache-2.0
#include "profiler/silicon/log_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <variant>

#include "engines/chip/kernels/ttnn_names.h"
#include "engines/program/op_attributes.h"
#include "profiler/merged_devices.h"
#include "profiler/silicon/host_advice.h"

namespace howard::profiler {
namespace {

/// Returns `time` in the proportion of two times of the emulator.
SimTime in_proportion(SimTime time, SimTime now, SimTime then) {
  if (now <= SimTime()) return time;
  return SimTime::picoseconds(
      static_cast<std::int64_t>(static_cast<double>(time.ps()) * (then.seconds() / now.seconds())));
}

/// Returns "Matmul 32x1280 bfloat16, ...".
std::string where(const CallUse& use) { return use.name + " " + use.facts.operands; }

/// Returns "Matmul 32x1280 @ 1280x1280 bf16".
std::string brief(const CallUse& use) {
  std::string_view name = use.name;
  constexpr std::string_view kEnding = "DeviceOperation";
  if (name.ends_with(kEnding)) name.remove_suffix(kEnding.size());
  return fmt::format("{} {}", name, use.facts.short_operands);
}

/// Returns the links that a program uses; null for one that uses none.
LinkUse* links_of(Program& program) {
  return std::visit(
      [](auto& op) -> LinkUse* {
        if constexpr (requires { op.use; }) return &op.use;
        if constexpr (requires { op.gather.use; }) return &op.gather.use;
        if constexpr (requires { op.scatter.use; }) return &op.scatter.use;
        return nullptr;
      },
      program.attributes.variant());
}

/// Collects a finding about pairs of programs on each of several devices, which run side by side:
/// what the whole would gain is what the device with the most does.
class FindingOfDevices {
 public:
  explicit FindingOfDevices(LogFinding empty) : empty_(std::move(empty)) {}

  void add_pair(const ProgramRun& one, const ProgramRun& two, SimTime gain) {
    LogFinding& finding = devices_.try_emplace(one.device, empty_).first->second;
    finding.programs += 2;
    finding.now += one.kernel.duration() + two.kernel.duration();
    finding.gain += gain;
  }
  LogFinding largest() const {
    LogFinding most = empty_;
    for (const auto& [device, finding] : devices_) {
      if (finding.gain > most.gain) most = finding;
    }
    return most;
  }

 private:
  LogFinding empty_;
  std::map<std::uint16_t, LogFinding> devices_;
};

class Adviser {
 public:
  Adviser(const LoggedRun& run, const OpCalls& calls, std::span<const CallUse> uses,
          CallEmulator* emulator);

  void look_at_host(std::span<const BusyLane> devices);
  void look_at_collectives();
  void look_at_links();
  void look_at_argmax(const CallUse& use);
  void look_at_calls();
  void look_at_movements();
  void look_at_neighbours();
  std::vector<LogFinding> take() &&;

 private:
  void add(LogFinding finding) {
    if (finding.gain > SimTime()) findings_.push_back(std::move(finding));
  }
  SimTime least_time(const CallUse& use) const;
  void look_at_cores(const CallUse& use);
  void look_at_wiring(const CallUse& use);
  void look_at_batch(const CallUse& use, const std::optional<Program>& plain);
  void look_at_product(const CallUse& use, const Program& plain);
  void look_at_memory(const CallUse& use);
  void try_variant(const CallUse& use, SimTime now, const Program& variant, std::string what);

  const LoggedRun& run_;
  const OpCalls& calls_;
  std::span<const CallUse> uses_;
  CallEmulator* emulator_;
  SimTime launch_;      ///< The least that a program takes.
  double fastest_ = 0;  ///< The most bytes of DRAM in a second that any of the calls moved.
  std::vector<LogFinding> findings_;
};

/// Advises on gaps for which the host was the cause. Devices wait side by side: the one that waits
/// the most speaks for all.
void Adviser::look_at_host(std::span<const BusyLane> devices) {
  std::vector<LogFinding> largest;
  for (const BusyLane& lane : devices) {
    std::vector<LogFinding> findings = host_findings(run_.timeline.programs, lane);
    largest.resize(findings.size());
    for (std::size_t i = 0; i < findings.size(); ++i) {
      if (findings[i].gain <= largest[i].gain) continue;
      findings[i].where =
          devices.size() > 1 ? fmt::format("the host of device {}", lane.device) : "the host";
      largest[i] = std::move(findings[i]);
    }
  }
  for (LogFinding& finding : largest) add(std::move(finding));
}

/// Advises on collectives in which the devices that come first wait for the last one.
void Adviser::look_at_collectives() {
  const MergedDevices merged = merge_devices(run_.timeline, run_.knows_starts);
  for (const MergedOp& op : merged.ops) {
    if (!op.collective || op.time == SimTime()) continue;
    add({.what = "balance the devices: those that come first wait in it for the last one",
         .where = std::string(run_.timeline.names.name(op.name)),
         .why = fmt::format("its runs take {:.0f} % less on the device that comes last of {}",
                            100 * (1 - op.shortest.seconds() / op.time.seconds()), merged.devices),
         .programs = op.runs,
         .now = op.time,
         .gain = op.time - op.shortest,
         .source = GainSource::at_most});
  }
}

/// Tries a collective over twice the links, and over a ring if the log says that it is on a line.
void Adviser::look_at_wiring(const CallUse& use) {
  const SimTime now = use.emulated->kernel;
  Program wider = use.emulated->program, ring = wider;
  LinkUse* const use_of_links = links_of(wider);
  if (use_of_links == nullptr) return;
  const int links = std::exchange(use_of_links->links, 2 * use_of_links->links);
  constexpr int kMostLinks = 8;  // of which there can be twice as many
  if (links <= kMostLinks)
    try_variant(use, now, wider, fmt::format("{} links instead of {}", 2 * links, links));
  if (calls_.row(use.call).attributes.find("Topology::Linear") == std::string_view::npos) return;
  links_of(ring)->ring = true;
  try_variant(use, now, ring, "a ring in place of a line, where the devices are wired so");
}

/// Advises on collectives: what they take is what their links pass.
void Adviser::look_at_links() {
  for (const CallUse& use : uses_) {
    if (!is_collective(use.name)) continue;
    if (use.emulated) look_at_wiring(use);
    if (chip::is_product(use.name)) continue;  // It hides its exchange behind its product.
    const OpAttributes told(calls_.row(use.call).attributes);
    const auto links = told.find("num_links");
    const bool ring = told.find("topology").value_or("").find("Ring") != std::string_view::npos;
    const SimTime floor = launch_ * static_cast<std::int64_t>(use.runs);
    add({.what = "run it beside the ops that do not need its result",
         .where = where(use),
         .brief = brief(use),
         .why = fmt::format("links bound it, not cores: {}, {}; {} each",
                            links ? fmt::format("num_links {}", *links)
                                  : std::string("the log does not say how many links"),
                            ring ? "a ring" : "not said to be a ring", us(use.median)),
         .programs = use.runs,
         .now = use.time,
         .gain = use.time - std::min(use.time, floor),
         .source = GainSource::at_most});
  }
}

/// An argmax of rows that one core goes through could be shared by all.
void Adviser::look_at_argmax(const CallUse& use) {
  Program shared = use.emulated->program;
  auto* const argmax = std::get_if<ArgmaxAttributes>(&shared.attributes);
  if (argmax == nullptr || argmax->use_multicore) return;
  argmax->use_multicore = true;
  try_variant(use, use.emulated->kernel, shared, "cores share the columns: use_multicore=True");
}

Adviser::Adviser(const LoggedRun& run, const OpCalls& calls, std::span<const CallUse> uses,
                 CallEmulator* emulator)
    : run_(run), calls_(calls), uses_(uses), emulator_(emulator) {
  if (emulator != nullptr) launch_ = emulator->launch();
  for (const CallUse& use : uses) {
    const bool tells = use.facts.knows_sizes && !use.facts.moves_a_part && !use.doubtful;
    if (!tells || use.median == SimTime()) continue;
    if (launch_ == SimTime() || use.median < launch_) launch_ = use.median;
    fastest_ =
        std::max(fastest_, static_cast<double>(use.facts.dram.value()) / use.median.seconds());
  }
}

/// Returns the least that a run of the call can take: a launch, and its bytes at the peak of the
/// DRAM. Where that is not known, its bytes are as fast as those of the log's fastest call.
SimTime Adviser::least_time(const CallUse& use) const {
  if (use.at_peak() > SimTime()) return launch_ + use.at_peak();
  if (fastest_ <= 0) return launch_;
  return launch_ + SimTime::picoseconds(static_cast<std::int64_t>(
                       1e12 * static_cast<double>(use.facts.dram.value()) / fastest_));
}

/// Says whether more cores would not help a call, however many tiles its result has: readers of
/// weights that lie in shards on the banks of the DRAM stand beside these, the ops of a decoding
/// step have a core for each sequence, and a norm of shards takes the time of its cores' exchange.
bool has_its_cores(const OpRow& call) {
  const auto sharded = [](std::string_view place) {
    return [=](const TensorCells& tensor) {
      return tensor.memory.ends_with("_SHARDED") && tensor.memory.find(place) != tensor.memory.npos;
    };
  };
  if (std::ranges::any_of(call.inputs, sharded("_DRAM_"))) return true;
  const bool decodes = call.name.find("HeadsDecode") != call.name.npos ||
                       chip::updates_a_part(call.name) || chip::reads_a_part(call.name);
  const bool is_norm = chip::stem_of(call.name) == chip::stem_of(LayernormAttributes::kTtnn);
  const bool is_rotary = call.name.find("RotaryEmbedding") != call.name.npos;
  return decodes || ((is_norm || is_rotary) && std::ranges::any_of(call.inputs, sharded("_L1_")));
}

/// Advises on a call on few cores, though its result has tiles for more.
void Adviser::look_at_cores(const CallUse& use) {
  if (has_its_cores(calls_.row(use.call))) return;
  if (use.cores == 0 || use.base_cores == 0 || !use.facts.knows_sizes) return;
  const auto usable =
      static_cast<int>(std::min<std::int64_t>(use.base_cores, use.facts.work_units));
  if (2 * use.cores > usable) return;
  const SimTime one = std::max(
      in_proportion(use.median, SimTime::picoseconds(usable), SimTime::picoseconds(use.cores)),
      least_time(use));
  const SimTime then = one * static_cast<std::int64_t>(use.runs);
  add({.what = "spread it over more cores: a core grid, or operands sharded over them",
       .where = where(use),
       .brief = brief(use),
       .why =
           fmt::format("{} of {} cores, its result has {} tiles; {} each, {} at least", use.cores,
                       use.base_cores, use.facts.work_units, us(use.median), us(least_time(use))),
       .programs = use.runs,
       .now = use.time,
       .gain = use.time - std::min(then, use.time),
       .source = GainSource::at_most});
}

/// Advises on a product that reads its second operand again for each matrix of the first one.
void Adviser::look_at_batch(const CallUse& use, const std::optional<Program>& plain) {
  if (use.facts.read_again == Bytes()) return;
  const OpRow& row = calls_.row(use.call);
  std::optional<EmulatedCall> now = use.emulated, then;
  if (plain && !std::get<MatmulAttributes>(plain->attributes).transpose_a) {
    Program folded = *plain;
    for (Operand* const operand : {&folded.inputs.front(), &folded.outputs.front()}) {
      const Shape& shape = operand->spec.shape;
      operand->spec.shape = {shape.batch() * shape.tile_rows() * kTileSide, shape.columns()};
    }
    if (!now) now = emulator_->run(row, *plain);
    then = emulator_->run(row, std::move(folded));
  }
  const bool emulated = now && then && then->kernel < now->kernel;
  const SimTime least =
      std::min(use.median, launch_ + dram_time_at_peak(use.facts, emulator_->chip_of(row)));
  add({.what = "fold the batch of the first operand into its rows: reshape to 1x1xMxK",
       .where = where(use),
       .brief = brief(use),
       .why = fmt::format(
           "the second operand is read {} times, {:.1f} MB more than once; {}", use.facts.batch,
           1e-6 * static_cast<double>(use.facts.read_again.value()),
           emulated ? fmt::format("emulated {} instead of {}", us(then->kernel), us(now->kernel))
                    : fmt::format("{} each", us(use.median))),
       .programs = use.runs,
       .now = use.time,
       .gain = use.time - (emulated ? in_proportion(use.time, now->kernel, then->kernel)
                                    : least * static_cast<std::int64_t>(use.runs)),
       .source = emulated ? GainSource::emulated : GainSource::at_most});
}

void Adviser::try_variant(const CallUse& use, SimTime now, const Program& variant,
                          std::string what) {
  const auto then = emulator_->run(calls_.row(use.call), variant);
  if (!then || then->kernel >= now) return;
  add({.what = std::move(what),
       .where = where(use),
       .brief = brief(use),
       .why = fmt::format("emulated {} instead of {}; {} each in the log", us(then->kernel),
                          us(now), us(use.median)),
       .programs = use.runs,
       .now = use.time,
       .gain = use.time - in_proportion(use.time, now, then->kernel),
       .source = GainSource::emulated});
}

/// Compares a product with `plain`, which is how ttnn's default would run it.
void Adviser::look_at_product(const CallUse& use, const Program& plain) {
  const bool sharded = std::ranges::any_of(
      plain.inputs, [](const Operand& input) { return input.spec.sharding.has_value(); });
  if (sharded) return;  // ttnn then takes a configuration from the shards
  const auto emulated = emulator_->run(calls_.row(use.call), plain);
  if (!emulated) return;
  const SimTime all = emulated->kernel * static_cast<std::int64_t>(use.runs);
  constexpr double kWorth = 0.95;  // the emulator's products are some percent off
  if (all.seconds() < kWorth * use.time.seconds()) {
    // What tune searches are the configurations of ttnn.matmul.
    const bool tunable = use.name.starts_with("Matmul");
    add({.what = tunable ? "another configuration: run_experiment tune searches one"
                         : "ttnn.matmul without a configuration of its own, or a tuned one",
         .where = where(use),
         .brief = brief(use),
         .why = fmt::format(
             "{} each; the emulator's default takes {}, bound by {}; at the peaks {}",
             us(use.median), us(emulated->kernel), emulated->bound_by, us(use.at_peak())),
         .programs = use.runs,
         .now = use.time,
         .gain = use.time - all,
         .source = GainSource::emulated});
  }
  Program lower = plain;
  auto& fidelity = std::get<MatmulAttributes>(lower.attributes).compute.fidelity;
  if (fidelity == MathFidelity::hifi4 || fidelity == MathFidelity::hifi3) {
    fidelity = MathFidelity::hifi2;
    try_variant(use, emulated->kernel, lower, "math fidelity HiFi2");
  }
  Program smaller = plain;
  DataType& weights = smaller.inputs[1].spec.dtype;
  if (weights == DataType::bfloat16) {
    weights = DataType::bfloat8_b;
    try_variant(use, emulated->kernel, smaller, "weights in bfloat8_b");
  }
}

/// Advises on a call whose operands would fit into L1, but lie in DRAM. The weights of a product or
/// a convolution stay: those of a whole model do not fit there.
void Adviser::look_at_memory(const CallUse& use) {
  if (!use.emulated || !use.facts.knows_sizes || use.base_cores == 0) return;
  // The other parts of a cache would have to be there too.
  if (use.facts.moves_a_part || chip::updates_a_part(use.name)) return;
  // The other half is left for circular buffers.
  const Bytes room(emulator_->chip_of(calls_.row(use.call)).l1_circular_buffers.value() *
                   use.base_cores / 2);
  if (use.facts.dram == Bytes() || use.facts.dram > room) return;
  const bool has_weights = chip::is_product(use.name) || chip::is_convolution(use.name);
  Program inside = use.emulated->program;
  for (std::vector<Operand>* const operands : {&inside.inputs, &inside.outputs}) {
    for (Operand& operand : *operands) {
      const bool is_weight =
          has_weights && operands == &inside.inputs && &operand != &operands->front();
      if (!operand.spec.sharding && !is_weight) operand.spec.storage = Storage::l1;
    }
  }
  try_variant(use, use.emulated->kernel, inside,
              has_weights ? "first operand and result in L1: memory_config=ttnn.L1_MEMORY_CONFIG"
                          : "operands and result in L1: memory_config=ttnn.L1_MEMORY_CONFIG");
}

/// Advises on neighbours that could run beside each other: both are on few cores, and the second
/// does not read anything of the first's shape.
void Adviser::look_at_neighbours() {
  std::map<std::uint32_t, const CallUse*> by_call;
  for (const CallUse& use : uses_) by_call[use.call] = &use;
  const std::vector<ProgramRun>& programs = run_.timeline.programs;
  const bool divided = std::ranges::any_of(
      programs, [](const ProgramRun& program) { return program.sub_device != 0; });
  if (divided || !run_.knows_starts) return;
  FindingOfDevices beside({.what = "a second queue: two sub-devices with a queue each",
                           .where = "neighbours on few cores",
                           .source = GainSource::at_most});
  for (std::size_t i = 0; i + 1 < programs.size(); ++i) {
    const ProgramRun& one = programs[i];
    const ProgramRun& two = programs[i + 1];
    const auto first = by_call.find(one.call);
    const auto second = by_call.find(two.call);
    if (one.device != two.device || first == by_call.end() || second == by_call.end()) continue;
    const int cores = first->second->base_cores;
    if (one.cores == 0 || two.cores == 0 || one.cores + two.cores > cores) continue;
    const OpRow& from = calls_.row(one.call);
    const OpRow& to = calls_.row(two.call);
    if (from.outputs.empty() || to.inputs.empty()) continue;
    const bool reads = std::ranges::any_of(to.inputs, [&](const TensorCells& input) {
      return input.dimensions == from.outputs.front().dimensions;
    });
    if (reads) continue;
    beside.add_pair(one, two, std::min(one.kernel.duration(), two.kernel.duration()));
    ++i;
  }
  LogFinding finding = beside.largest();
  finding.why = fmt::format(
      "{} pairs have room beside each other, and the second reads nothing of the first's shape",
      finding.programs / 2);
  add(std::move(finding));
}

void Adviser::look_at_calls() {
  for (const CallUse& use : uses_) {
    if (use.doubtful || is_collective(use.name)) continue;
    look_at_cores(use);
    const bool product = chip::is_product(use.name) && use.facts.flops > Flops();
    if (emulator_ == nullptr || use.obstacle == Obstacle::other_chip) continue;
    const auto plain = product ? plain_product(calls_.row(use.call)) : std::nullopt;
    if (plain) look_at_product(use, *plain);
    if (product) look_at_batch(use, plain);
    if (use.emulated) look_at_argmax(use);
    look_at_memory(use);
  }
}

/// Advises on ops that only move elements, by name, and on pairs of them of which the second undoes
/// the first.
void Adviser::look_at_movements() {
  std::map<std::string, LogFinding> by_name;
  for (const CallUse& use : uses_) {
    if (!chip::moves_elements(use.name)) continue;
    LogFinding& finding = by_name[use.name];
    finding.programs += use.runs;
    finding.now += use.time;
  }
  for (auto& [name, finding] : by_name) {
    finding.what = "do without: let the op before write, or the op after read, this layout";
    finding.where = name;
    finding.why = finding.programs == 1
                      ? "one program computes nothing"
                      : fmt::format("{} programs compute nothing", finding.programs);
    finding.gain = finding.now;
    finding.source = GainSource::at_most;
    add(std::move(finding));
  }
  FindingOfDevices undone({.what = "remove pairs that undo each other",
                           .where = "movements",
                           .why = "the second's result has the shape and layout of the first's "
                                  "operand",
                           .source = GainSource::measured});
  const std::vector<ProgramRun>& programs = run_.timeline.programs;
  const auto movement = [&](const ProgramRun& program) {
    return program.call > 0 && chip::moves_elements(run_.timeline.names.name(program.name));
  };
  for (std::size_t i = 0; i + 1 < programs.size(); ++i) {
    const ProgramRun& one = programs[i];
    const ProgramRun& two = programs[i + 1];
    if (one.device != two.device || !movement(one) || !movement(two)) continue;
    const OpRow& a = calls_.row(one.call);
    const OpRow& b = calls_.row(two.call);
    if (a.inputs.empty() || b.inputs.empty() || a.outputs.empty() || b.outputs.empty()) continue;
    const auto same = [](const TensorCells& x, const TensorCells& y) {
      return x.dimensions == y.dimensions && x.layout == y.layout && x.memory == y.memory;
    };
    if (!same(a.outputs[0], b.inputs[0]) || !same(a.inputs[0], b.outputs[0])) continue;
    undone.add_pair(one, two, one.kernel.duration() + two.kernel.duration());
    ++i;
  }
  add(undone.largest());
}

std::vector<LogFinding> Adviser::take() && {
  std::map<std::uint16_t, SimTime> devices;
  for (const ProgramRun& program : run_.timeline.programs) {
    devices[program.device] += program.kernel.duration();
  }
  SimTime busy;
  for (const auto& [device, time] : devices) busy = std::max(busy, time);
  std::erase_if(findings_, [&](const LogFinding& finding) {
    return finding.gain.seconds() < 1e-3 * busy.seconds();
  });
  std::ranges::stable_sort(findings_, std::greater(), &LogFinding::rank);
  return std::move(findings_);
}

}  // namespace

std::string_view name_of(GainSource source) {
  switch (source) {
    case GainSource::measured:
      return "measured";
    case GainSource::emulated:
      return "emulated";
    case GainSource::at_most:
      return "at most";
  }
  return "";
}

std::vector<LogFinding> advise(const LoggedRun& run, const OpCalls& calls,
                               std::span<const BusyLane> devices, std::span<const CallUse> uses,
                               CallEmulator* emulator) {
  Adviser adviser(run, calls, uses, emulator);
  adviser.look_at_host(devices);
  adviser.look_at_collectives();
  adviser.look_at_links();
  adviser.look_at_calls();
  adviser.look_at_movements();
  adviser.look_at_neighbours();
  return std::move(adviser).take();
}

}  // namespace howard::profiler
