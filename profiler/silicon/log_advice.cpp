// SPDX-License-Identifier: Apache-2.0
#include "profiler/silicon/log_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "engines/chip/kernels/ttnn_names.h"
#include "profiler/merged_devices.h"
#include "profiler/silicon/op_attributes.h"

namespace howard::profiler {
namespace {

std::string us(SimTime time) { return fmt::format("{:.2f} us", time.seconds() * 1e6); }

/// Returns `time` in the proportion of two times of the emulator.
SimTime in_proportion(SimTime time, SimTime now, SimTime then) {
  if (now <= SimTime()) return time;
  return SimTime::picoseconds(
      static_cast<std::int64_t>(static_cast<double>(time.ps()) * (then.seconds() / now.seconds())));
}

/// Returns "Matmul 32x1280 bfloat16, ...".
std::string where(const CallUse& use) { return use.name + " " + use.facts.operands; }

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

/// Of thousands of calls, those that take the most time say enough about the others.
constexpr std::size_t kMostCompared = 200;

class Adviser {
 public:
  Adviser(const LoggedRun& run, const OpCalls& calls, CallEmulator* emulator)
      : run_(run), calls_(calls), emulator_(emulator) {}

  void look_at_host(std::span<const BusyLane> devices);
  void look_at_collectives();
  void look_at_calls(std::span<const CallUse> uses);
  void look_at_movements(std::span<const CallUse> uses);
  void look_at_neighbours(std::span<const CallUse> uses);
  std::vector<LogFinding> take() &&;

 private:
  void add(LogFinding finding) {
    if (finding.gain > SimTime()) findings_.push_back(std::move(finding));
  }
  void look_at_cores(const CallUse& use, SimTime shortest);
  void look_at_product(const CallUse& use);
  void look_at_memory(const CallUse& use);
  void try_variant(const CallUse& use, SimTime now, const OpRow& variant, std::string what);

  const LoggedRun& run_;
  const OpCalls& calls_;
  CallEmulator* emulator_;
  std::vector<LogFinding> findings_;
};

SimTime middle_of(std::vector<SimTime> times) {
  if (times.empty()) return {};
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

/// Holds a gap that the host had a part in.
struct HostGap {
  SimTime gap, host;
  bool first = false;     ///< The program behind it ran for the first time.
  bool compiled = false;  ///< The log says that it was compiled.
};

struct HostGaps {
  std::vector<HostGap> gaps;
  std::vector<SimTime> launches;  ///< Gaps that it had no part in.
};

HostGaps host_gaps(const std::vector<ProgramRun>& programs, const BusyLane& lane) {
  HostGaps found;
  std::set<std::tuple<std::uint32_t, NameId>> seen;
  const auto is_first = [&](const ProgramRun& program) {
    return seen.insert({program.call, program.name}).second;
  };
  if (!lane.gaps.empty()) is_first(programs[lane.gaps.front().before]);
  for (std::size_t i = 0; i < lane.gaps.size(); ++i) {
    const Gap& gap = lane.gaps[i];
    const CauseTimes causes = lane.causes_of(i);
    const SimTime host = causes[GapCause::between_calls] + causes[GapCause::host_issuing] +
                         causes[GapCause::compile];
    const SimTime length = gap.span.duration();
    if (causes[GapCause::launch] == length) found.launches.push_back(length);
    const ProgramRun& after = programs[gap.after];
    const bool first = is_first(after);
    if (host > SimTime()) found.gaps.push_back({length, host, first, after.compiled});
  }
  return found;
}

/// Returns what the host made one device wait for, by what could be done about it.
std::vector<LogFinding> host_findings(const std::vector<ProgramRun>& programs,
                                      const BusyLane& lane) {
  const HostGaps found = host_gaps(programs, lane);
  const SimTime floor = middle_of(found.launches);
  std::vector<SimTime> usual;
  for (const HostGap& gap : found.gaps) {
    if (!gap.first && !gap.compiled) usual.push_back(gap.gap);
  }
  constexpr std::int64_t kPause = 50;  // of the usual length: not the time of a call
  const SimTime pause = kPause * middle_of(usual);
  LogFinding first{.what = "keep the process and its program cache: first runs of programs",
                   .why = "the host was busy before programs that had not run yet",
                   .source = GainSource::at_most};
  LogFinding again{.what = "avoid recompilation: shapes or attributes that change",
                   .why = "PROGRAM CACHE HIT says so of programs that had run before",
                   .source = GainSource::at_most};
  LogFinding paused{.what = "shorten the host's pauses: reading results, preparing inputs",
                    .why = fmt::format("gaps of over {} times the usual one", kPause),
                    .source = GainSource::at_most};
  LogFinding steady{.what = "replay a trace (or make calls faster): the device waits for calls",
                    .why = floor > SimTime()
                               ? fmt::format("the calls came late; where they had come before, "
                                             "gaps take {}",
                                             us(floor))
                               : "the calls came late",
                    .source = floor > SimTime() ? GainSource::measured : GainSource::at_most};
  for (const HostGap& gap : found.gaps) {
    LogFinding& finding = gap.first         ? first
                          : gap.compiled    ? again
                          : gap.gap > pause ? paused
                                            : steady;
    ++finding.programs;
    finding.now += gap.gap;
    finding.gain += std::max(SimTime(), std::min(gap.host, gap.gap - floor));
  }
  return {std::move(first), std::move(again), std::move(paused), std::move(steady)};
}

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

/// Advises on a call on few cores, though its result has tiles for more.
void Adviser::look_at_cores(const CallUse& use, SimTime shortest) {
  if (use.cores == 0 || use.base_cores == 0 || !use.facts.knows_sizes) return;
  const auto usable =
      static_cast<int>(std::min<std::int64_t>(use.base_cores, use.facts.work_units));
  if (2 * use.cores > usable) return;
  const SimTime one = std::max(
      in_proportion(use.median, SimTime::picoseconds(usable), SimTime::picoseconds(use.cores)),
      std::max(shortest, use.at_peak()));
  const SimTime then = one * static_cast<std::int64_t>(use.runs);
  add({.what = "spread it over more cores: a core grid, or operands sharded over them",
       .where = where(use),
       .why = fmt::format("{} of {} cores, its result has {} tiles; {} each", use.cores,
                          use.base_cores, use.facts.work_units, us(use.median)),
       .programs = use.runs,
       .now = use.time,
       .gain = use.time - std::min(then, use.time),
       .source = GainSource::at_most});
}

void Adviser::try_variant(const CallUse& use, SimTime now, const OpRow& variant, std::string what) {
  const auto then = emulator_->run(variant);
  if (!then || then->kernel >= now) return;
  add({.what = std::move(what),
       .where = where(use),
       .why = fmt::format("emulated {} instead of {}; {} each in the log", us(then->kernel),
                          us(now), us(use.median)),
       .programs = use.runs,
       .now = use.time,
       .gain = use.time - in_proportion(use.time, now, then->kernel),
       .source = GainSource::emulated});
}

void Adviser::look_at_product(const CallUse& use) {
  const OpRow& row = calls_.row(use.call);
  // This is how ttnn's default would run it: without a configuration of its own.
  OpRow plain = row;
  plain.name = "Matmul";
  const OpAttributes told(row.attributes);
  const bool ta = told.find("transpose_a") == "true", tb = told.find("transpose_b") == "true";
  const std::string attributes =
      fmt::format("{{'transpose_a': '{}'; 'transpose_b': '{}'}}", ta, tb);
  plain.attributes = attributes;
  const auto emulated = emulator_->run(plain);
  if (!emulated) return;
  const SimTime all = emulated->kernel * static_cast<std::int64_t>(use.runs);
  constexpr double kWorth = 0.95;  // the emulator's products are some percent off
  if (all.seconds() < kWorth * use.time.seconds()) {
    // What tune searches are the configurations of ttnn.matmul.
    const bool tunable = use.name.starts_with("Matmul");
    add({.what = tunable ? "another configuration: run_experiment tune searches one"
                         : "ttnn.matmul without a configuration of its own, or a tuned one",
         .where = where(use),
         .why = fmt::format(
             "{} each; the emulator's default takes {}, bound by {}; at the peaks {}",
             us(use.median), us(emulated->kernel), emulated->bound_by, us(use.at_peak())),
         .programs = use.runs,
         .now = use.time,
         .gain = use.time - all,
         .source = GainSource::emulated});
  }
  OpRow lower = plain;
  if (row.fidelity == "HiFi4" || row.fidelity == "HiFi3") {
    lower.fidelity = "HiFi2";
    try_variant(use, emulated->kernel, lower, "math fidelity HiFi2");
  }
  OpRow smaller = plain;
  const bool wide = smaller.inputs.size() >= 2 && smaller.inputs[1].datatype == "BFLOAT16";
  if (wide) {
    smaller.inputs[1].datatype = "BFLOAT8_B";
    try_variant(use, emulated->kernel, smaller, "weights in bfloat8_b");
  }
}

/// Advises on a call whose operands would fit into L1, but lie in DRAM.
void Adviser::look_at_memory(const CallUse& use) {
  if (!use.emulated || !use.facts.knows_sizes || use.base_cores == 0) return;
  // The other half is left for circular buffers.
  const Bytes room(emulator_->chip().l1_circular_buffers.value() * use.base_cores / 2);
  if (use.facts.dram == Bytes() || use.facts.dram > room) return;
  OpRow inside = calls_.row(use.call);
  for (std::vector<TensorCells>* const tensors : {&inside.inputs, &inside.outputs}) {
    for (TensorCells& tensor : *tensors) {
      const bool in_dram = tensor.memory.empty() ||
                           tensor.memory.find("_DRAM_INTERLEAVED") != std::string_view::npos;
      if (in_dram) tensor.memory = "DEV_0_L1_INTERLEAVED";
    }
  }
  try_variant(use, use.emulated->kernel, inside,
              "operands and result in L1: memory_config=ttnn.L1_MEMORY_CONFIG");
}

/// Advises on neighbours that could run beside each other: both are on few cores, and the second
/// does not read anything of the first's shape.
void Adviser::look_at_neighbours(std::span<const CallUse> uses) {
  std::map<std::uint32_t, const CallUse*> by_call;
  for (const CallUse& use : uses) by_call[use.call] = &use;
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

void Adviser::look_at_calls(std::span<const CallUse> uses) {
  if (uses.empty()) return;
  for (const CallUse& use : uses) {
    // It is not expected to take less than the shortest of the others.
    SimTime shortest = use.median;
    for (const CallUse& other : uses.first(std::min(uses.size(), kMostCompared))) {
      if (other.call != use.call) shortest = std::min(shortest, other.median);
    }
    look_at_cores(use, shortest < use.median ? shortest : SimTime());
    const bool product = use.facts.flops > Flops() && use.facts.knows_sizes;
    const bool same_chip = use.obstacle != Obstacle::other_chip;
    if (product && emulator_ != nullptr && same_chip) look_at_product(use);
    if (emulator_ != nullptr && same_chip) look_at_memory(use);
  }
}

/// Advises on ops that only move elements, by name, and on pairs of them of which the second undoes
/// the first.
void Adviser::look_at_movements(std::span<const CallUse> uses) {
  std::map<std::string, LogFinding> by_name;
  for (const CallUse& use : uses) {
    if (!chip::moves_elements(use.name)) continue;
    LogFinding& finding = by_name[use.name];
    finding.programs += use.runs;
    finding.now += use.time;
  }
  for (auto& [name, finding] : by_name) {
    finding.what = "do without: let the op before write, or the op after read, this layout";
    finding.where = name;
    finding.why = fmt::format("{} programs compute nothing", finding.programs);
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
  std::ranges::stable_sort(findings_, std::greater(), &LogFinding::gain);
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
  Adviser adviser(run, calls, emulator);
  adviser.look_at_host(devices);
  adviser.look_at_collectives();
  adviser.look_at_calls(uses);
  adviser.look_at_movements(uses);
  adviser.look_at_neighbours(uses);
  return std::move(adviser).take();
}

}  // namespace howard::profiler
