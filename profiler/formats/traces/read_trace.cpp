// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/traces/read_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace howard::profiler {
namespace {

/// Returns the number behind `prefix` in `text`; absent if it is anything else or out of range.
std::optional<std::uint16_t> number_after(std::string_view prefix, std::string_view text) {
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  std::uint16_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Parses "core (3,4) compute", as `name_of` writes it.
std::optional<Track> core_track(std::string_view name) {
  constexpr std::string_view kBegin = "core (";
  const std::size_t comma = name.find(',');
  const std::size_t close = name.find(')');
  if (!name.starts_with(kBegin) || comma == name.npos || close == name.npos || close < comma) {
    return std::nullopt;
  }
  const auto x = number_after("", name.substr(kBegin.size(), comma - kBegin.size()));
  const auto y = number_after("", name.substr(comma + 1, close - comma - 1));
  if (!x || !y || *x > 255 || *y > 255) return std::nullopt;
  constexpr std::array<std::pair<std::string_view, Lane>, 4> kLanes = {{{"", Lane::none},
                                                                        {" reader", Lane::reader},
                                                                        {" compute", Lane::compute},
                                                                        {" writer", Lane::writer}}};
  const std::string_view lane = name.substr(close + 1);
  const auto found = std::ranges::find(kLanes, lane, &std::pair<std::string_view, Lane>::first);
  if (found == kLanes.end()) return std::nullopt;
  return Track{TrackKind::core, found->second, core_index(*x, *y)};
}

/// Returns the track from which a thread of this name was written; absent for a name that Howard
/// does not write.
std::optional<Track> track_of(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, TrackKind>, 4> kPrefixes = {
      {{"host thread ", TrackKind::host_thread},
       {"command queue ", TrackKind::command_queue},
       {"dispatcher ", TrackKind::dispatcher},
       {"sub-device ", TrackKind::sub_device}}};
  for (const auto& [prefix, kind] : kPrefixes) {
    if (const auto number = number_after(prefix, name)) return Track{kind, Lane::none, *number};
  }
  return core_track(name);
}

/// Returns the tracks of all threads. They follow from the names in processes in which all threads
/// have such names.
std::vector<Track> find_tracks(const std::vector<TraceSpans::Thread>& threads, ReadTrace& trace) {
  std::vector<Track> tracks(threads.size());
  std::vector<bool> ours(trace.processes.size(), true);
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    const auto track = track_of(threads[i].name);
    if (!track) ours[threads[i].process] = false;
    tracks[i] = track.value_or(Track{});
  }
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    const TraceSpans::Thread& thread = threads[i];
    if (ours[thread.process]) continue;
    std::vector<std::string>& names = trace.processes[thread.process].threads;
    tracks[i] = {TrackKind::sub_device, Lane::none, static_cast<std::uint16_t>(names.size())};
    names.push_back(thread.name);
  }
  return tracks;
}

/// Returns the spans that lie in no other of their track, of category "kernel" if there are any.
std::vector<TimelineEvent> programs_of(const ReadProcess& process) {
  std::vector<TimelineEvent> events = process.events;
  const auto is_kernel = [](const TimelineEvent& event) {
    return event.category == category::kKernel;
  };
  if (std::ranges::any_of(events, is_kernel)) {
    std::erase_if(events, [&](const TimelineEvent& event) { return !is_kernel(event); });
  }
  std::ranges::stable_sort(events, [](const TimelineEvent& a, const TimelineEvent& b) {
    return std::tuple(a.track.index, a.start, b.end) < std::tuple(b.track.index, b.start, a.end);
  });
  std::vector<TimelineEvent> outer;
  for (TimelineEvent& event : events) {
    const bool inner = !outer.empty() && outer.back().track == event.track &&
                       event.end <= outer.back().end && event.start < outer.back().end;
    event.category = category::kKernel;
    event.program = 0;
    if (!inner) outer.push_back(event);
  }
  return outer;
}

}  // namespace

void TraceSpans::set_label(std::size_t process, std::string_view label) {
  constexpr std::string_view kLossLabel = " events lost";
  if (!label.ends_with(kLossLabel)) return;
  std::uint64_t losses = 0;
  std::from_chars(label.data(), label.data() + label.size(), losses);
  processes[process].losses = losses;
}

void TraceSpans::take(const Span& span, DroppedRows& dropped) {
  if (spans.size() < kMostTraceEvents) {
    spans.push_back(span);
  } else {
    dropped.add(fmt::format("beyond the first {} events", kMostTraceEvents), 0);
  }
}

std::string_view TraceSpans::end(Thread& thread, SimTime end, DroppedRows& dropped) {
  if (thread.open.empty()) return "an end without a begin";
  Span span = thread.open.back();
  thread.open.pop_back();
  span.end = end;
  if (span.end < span.start) return "a span ends before it begins";
  take(span, dropped);
  return "";
}

ReadTrace TraceSpans::assemble(NameTable names, DroppedRows& dropped) const {
  ReadTrace trace{.names = std::move(names), .processes = {}};
  for (const Process& process : processes) {
    trace.processes.push_back({.name = process.name, .losses = process.losses});
  }
  const std::vector<Track> tracks = find_tracks(threads, trace);
  for (const Span& span : spans) {
    ReadProcess& process = trace.processes[threads[span.thread].process];
    process.events.push_back({.track = tracks[span.thread],
                              .trace = span.trace,
                              .name = trace.names.name(span.name),
                              .category = trace.names.name(span.category),
                              .start = span.start,
                              .end = span.end,
                              .program = span.program});
  }
  for (const Thread& thread : threads) {
    if (!thread.open.empty()) dropped.add("a begin without an end", 0, {}, thread.open.size());
  }
  return trace;
}

Log log_of(ReadTrace trace, Log log) {
  for (ReadProcess& process : trace.processes) {
    const bool ours = process.threads.empty();
    const std::vector<TimelineEvent> events =
        ours ? std::move(process.events) : programs_of(process);
    LoggedRun run{.title = std::move(process.name),
                  .timeline = unchecked_timeline_of(events, process.losses),
                  .lanes = std::move(process.threads)};
    if (process.losses > 0) {
      log.dropped.add("lost when the trace was recorded", 0, {}, process.losses);
    }
    remove_defects(run.timeline, log.dropped);
    if (!run.timeline.programs.empty()) log.runs.push_back(std::move(run));
  }
  return log;
}

}  // namespace howard::profiler
