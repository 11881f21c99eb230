// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/ops_csv/op_record.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/wide.h"

namespace howard::profiler {
namespace {

using CoresOfProgram = std::map<std::pair<int, int>, CoreRecord>;  // by y, x

void add_lane(CoresOfProgram& cores, const TimelineEvent& event, SimTime kernel_start) {
  const int x = core_x(event.track.index);
  const int y = core_y(event.track.index);
  CoreRecord& core = cores
                         .try_emplace({y, x}, CoreRecord{.x = x,
                                                         .y = y,
                                                         .reader_end = kernel_start,
                                                         .compute_end = kernel_start,
                                                         .writer_end = kernel_start})
                         .first->second;
  SimTime& end = event.track.lane == Lane::reader    ? core.reader_end
                 : event.track.lane == Lane::compute ? core.compute_end
                                                     : core.writer_end;
  end = std::max(end, event.end);
}

}  // namespace

std::vector<OpRecord> op_records(std::span<const TimelineEvent> events,
                                 const FactsOfProgram& facts) {
  Timeline timeline = timeline_of(events);
  std::ranges::sort(timeline.programs, {}, &ProgramRun::number);
  std::map<std::uint64_t, std::size_t> index;
  for (std::size_t i = 0; i < timeline.programs.size(); ++i) {
    index.emplace(timeline.programs[i].number, i);
  }
  std::vector<CoresOfProgram> cores(timeline.programs.size());
  for (const TimelineEvent& event : events) {
    const auto found = index.find(event.program);
    if (event.track.kind != TrackKind::core || found == index.end()) continue;
    add_lane(cores[found->second], event, timeline.programs[found->second].kernel.start);
  }
  std::vector<OpRecord> records;
  records.reserve(timeline.programs.size());
  for (std::size_t i = 0; i < timeline.programs.size(); ++i) {
    const ProgramRun& run = timeline.programs[i];
    OpRecord& record = records.emplace_back(
        OpRecord{.run = run, .name = std::string(timeline.names.name(run.name))});
    if (const ProgramFacts* const known = facts(run.number)) record.facts = *known;
    for (const auto& [place, core] : cores[i]) {
      record.cores.push_back(core);
      // The times of cores are recorded as if the kernel were alone on the chip; one that shared
      // the DRAM took longer.
      CoreRecord& last = record.cores.back();
      last.writer_end = std::min(last.writer_end, run.kernel.end);
    }
    const auto writer_end = [](const CoreRecord& core) { return core.writer_end; };
    const auto last = std::ranges::max_element(record.cores, {}, writer_end);
    if (last != record.cores.end()) {
      const SimTime end = last->writer_end;
      for (CoreRecord& core : record.cores) {
        if (core.writer_end == end) core.writer_end = run.kernel.end;
      }
    }
  }
  return records;
}

std::int64_t cycles_of(SimTime time, Frequency clock) {
  constexpr Wide kPicosecondsPerSecond = 1'000'000'000'000;
  const Wide doubled = 2 * Wide{time.ps()} * clock.value() + kPicosecondsPerSecond;
  return static_cast<std::int64_t>(doubled / (2 * kPicosecondsPerSecond));
}

}  // namespace howard::profiler
