// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/log_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace howard::profiler {
namespace {

/// Gives spans, which come by start, to tracks on which nothing overlaps.
class FreeTracks {
 public:
  /// Tracks beyond `first`, whose number is wanted, are numbered from `spare` on.
  std::uint16_t take(std::uint16_t wanted, std::uint16_t spare, const Span& span) {
    if (is_free(wanted, span)) return wanted;
    while (!is_free(spare, span)) ++spare;
    return spare;
  }

 private:
  bool is_free(std::uint16_t track, const Span& span) {
    SimTime& end = ends_.try_emplace(track, span.start).first->second;
    if (end > span.start) return false;
    end = span.end;
    return true;
  }

  std::map<std::uint16_t, SimTime> ends_;
};

void add_programs(const Timeline& timeline, std::vector<const ProgramRun*> programs,
                  LogTrace& trace) {
  const auto spare_of = [&](std::uint16_t ProgramRun::*index) {
    std::uint16_t most = 0;
    for (const ProgramRun* const program : programs) most = std::max(most, program->*index);
    return static_cast<std::uint16_t>(most + 1);
  };
  const std::uint16_t spare_kernels = spare_of(&ProgramRun::sub_device);
  const std::uint16_t spare_threads = spare_of(&ProgramRun::host_thread);
  const auto add = [&](TrackKind kind, std::uint16_t index, std::string_view category,
                       const ProgramRun& program, const Span& span) {
    trace.events.push_back({.track = {kind, Lane::none, index},
                            .name = timeline.names.name(program.name),
                            .category = category,
                            .start = span.start,
                            .end = span.end,
                            .program = program.number});
  };
  FreeTracks kernels, threads;
  std::ranges::stable_sort(programs, {}, [](const ProgramRun* p) { return p->kernel.start; });
  for (const ProgramRun* const program : programs) {
    const auto track = kernels.take(program->sub_device, spare_kernels, program->kernel);
    add(TrackKind::sub_device, track, category::kKernel, *program, program->kernel);
  }
  std::erase_if(programs, [](const ProgramRun* p) { return !p->host_call; });
  std::ranges::stable_sort(programs, {}, [](const ProgramRun* p) { return p->host_call->start; });
  for (const ProgramRun* const program : programs) {
    const auto thread = threads.take(program->host_thread, spare_threads, *program->host_call);
    add(TrackKind::host_thread, thread, category::kHost, *program, *program->host_call);
  }
}

}  // namespace

std::vector<LogTrace> traces_of(const Log& log) {
  std::vector<LogTrace> traces;
  for (std::size_t i = 0; i < log.runs.size(); ++i) {
    const Timeline& timeline = log.runs[i].timeline;
    std::map<std::uint16_t, std::vector<const ProgramRun*>> by_device;
    for (const ProgramRun& program : timeline.programs) {
      by_device[program.device].push_back(&program);
    }
    for (auto& [device, programs] : by_device) {
      LogTrace& trace = traces.emplace_back();
      trace.name = log.runs.size() > 1 ? fmt::format("run {}, device {}", i + 1, device)
                                       : fmt::format("device {}", device);
      trace.losses = timeline.losses;
      add_programs(timeline, std::move(programs), trace);
    }
  }
  return traces;
}

}  // namespace howard::profiler
