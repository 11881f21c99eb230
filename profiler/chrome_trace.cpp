// SPDX-License-Identifier: Apache-2.0
#include "profiler/chrome_trace.h"

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/check.h"

namespace howard::profiler {
namespace {

/// From the host down to the cores, row by row, and in the order data takes through a core.
struct ReadingOrder {
  bool operator()(const Track& a, const Track& b) const {
    return std::tie(a.kind, a.index, a.lane) < std::tie(b.kind, b.index, b.lane);
  }
};

std::string_view name_of(Lane lane) {
  switch (lane) {
    case Lane::none:
      return "";
    case Lane::reader:
      return " reader";
    case Lane::compute:
      return " compute";
    case Lane::writer:
      return " writer";
  }
  return "";
}

std::string name_of(const Track& track) {
  switch (track.kind) {
    case TrackKind::host_thread:
      return fmt::format("host thread {}", track.index);
    case TrackKind::command_queue:
      return fmt::format("command queue {}", track.index);
    case TrackKind::dispatcher:
      return fmt::format("dispatcher {}", track.index);
    case TrackKind::sub_device:
      return fmt::format("sub-device {}", track.index);
    case TrackKind::core:
      return fmt::format("core ({},{}){}", core_x(track.index), core_y(track.index),
                         name_of(track.lane));
  }
  return "";
}

/// `text` as a JSON string. Names are nearly always plain: they are copied, the rest is escaped.
void append_string(std::string& json, std::string_view text) {
  const bool plain = std::ranges::all_of(
      text, [](char c) { return c >= ' ' && c < '\x7f' && c != '"' && c != '\\'; });
  if (plain) {
    json += '"';
    json += text;
    json += '"';
  } else {
    json += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
}

void append_integer(std::string& json, std::uint64_t value) {
  const fmt::format_int digits(value);
  json.append(digits.data(), digits.size());
}

/// Microseconds with all six decimals of the picoseconds.
void append_microseconds(std::string& json, SimTime time) {
  constexpr std::uint64_t kPicosecondsPerMicrosecond = 1'000'000;
  const std::int64_t ps = time.ps();
  if (ps < 0) json += '-';
  const std::uint64_t size = ps < 0 ? 0 - static_cast<std::uint64_t>(ps)  // right for the least one
                                    : static_cast<std::uint64_t>(ps);
  append_integer(json, size / kPicosecondsPerMicrosecond);
  // The leading 1 keeps the zeros after the point, and is overwritten by the point.
  const fmt::format_int decimals(kPicosecondsPerMicrosecond + size % kPicosecondsPerMicrosecond);
  json += '.';
  json.append(decimals.data() + 1, decimals.size() - 1);
}

/// The events of one track by start, the longer first, so that a parent precedes its children.
using TrackEvents = std::vector<const TraceEvent*>;

std::map<Track, TrackEvents, ReadingOrder> by_track(std::span<const TraceEvent> events) {
  std::map<Track, TrackEvents, ReadingOrder> tracks;
  for (const TraceEvent& event : events) tracks[event.track].push_back(&event);
  const auto before = [](const TraceEvent* a, const TraceEvent* b) {
    return a->start != b->start ? a->start < b->start : a->end > b->end;
  };
  for (auto& [track, list] : tracks) {
    // Devices mostly record in order.
    if (!std::ranges::is_sorted(list, before)) std::ranges::stable_sort(list, before);
  }
  return tracks;
}

void check_spans(const TrackEvents& events) {
  std::vector<SimTime> open_ends;
  for (const TraceEvent* event : events) {
    HOWARD_CHECK(event->end >= event->start, "a trace event ends before it starts");
    while (!open_ends.empty() && open_ends.back() <= event->start) open_ends.pop_back();
    HOWARD_CHECK(open_ends.empty() || event->end <= open_ends.back(),
                 "two trace events of one track overlap in part");
    open_ends.push_back(event->end);
  }
}

/// Writes the lines of one process.
class ProcessWriter {
 public:
  ProcessWriter(std::string& json, std::size_t pid)
      : json_(json), pid_(fmt::format("\"pid\":{}", pid)) {}

  void metadata(std::string_view name, std::size_t tid, std::string_view argument,
                std::string_view value) {
    begin_line();
    fmt::format_to(std::back_inserter(json_),
                   R"({{"ph":"M",{},"tid":{},"name":"{}","args":{{"{}":)", pid_, tid, name,
                   argument);
    append_string(json_, value);
    json_ += "}}";
  }

  void metadata(std::string_view name, std::size_t tid, std::size_t sort_index) {
    begin_line();
    fmt::format_to(std::back_inserter(json_),
                   R"({{"ph":"M",{},"tid":{},"name":"{}","args":{{"sort_index":{}}}}})", pid_, tid,
                   name, sort_index);
  }

  void spans(std::size_t tid, const TrackEvents& events) {
    const std::string place = fmt::format(",{},\"tid\":{},\"ts\":", pid_, tid);
    for (const TraceEvent* event : events) {
      begin_line();
      json_ += "{\"ph\":\"X\",\"name\":";
      append_string(json_, event->name);
      json_ += ",\"cat\":";
      append_string(json_, event->category);
      json_ += place;
      append_microseconds(json_, event->start);
      json_ += ",\"dur\":";
      append_microseconds(json_, event->end - event->start);
      if (event->program != 0) {
        json_ += ",\"args\":{\"program\":";
        append_integer(json_, event->program);
        json_ += '}';
      }
      json_ += '}';
    }
  }

 private:
  void begin_line() { json_ += json_.back() == '[' ? "\n" : ",\n"; }

  std::string& json_;
  std::string pid_;
};

void append_process(std::string& json, const TraceProcess& process, std::size_t pid) {
  ProcessWriter writer(json, pid);
  writer.metadata("process_name", 0, "name", process.name);
  writer.metadata("process_sort_index", 0, pid);
  if (process.losses > 0) {
    writer.metadata("process_labels", 0, "labels", fmt::format("{} events lost", process.losses));
  }
  std::size_t tid = 0;
  for (const auto& [track, events] : by_track(process.events)) {
    check_spans(events);
    ++tid;
    writer.metadata("thread_name", tid, "name", name_of(track));
    writer.metadata("thread_sort_index", tid, tid);
    writer.spans(tid, events);
  }
}

}  // namespace

ChromeTrace chrome_trace(std::span<const TraceProcess> processes) {
  constexpr std::size_t kBytesPerEvent = 160;  // measured: 110 to 150
  ChromeTrace trace;
  std::size_t events = 0;
  for (const TraceProcess& process : processes) {
    events += process.events.size();
    trace.losses += process.losses;
  }
  trace.json.reserve(events * kBytesPerEvent + 4096);
  trace.json += "{\"displayTimeUnit\":\"ns\",\n";
  trace.json += fmt::format("\"otherData\":{{\"lost_events\":{}}},\n", trace.losses);
  trace.json += "\"traceEvents\":[";
  for (std::size_t i = 0; i < processes.size(); ++i) {
    append_process(trace.json, processes[i], i + 1);
  }
  trace.json += "\n]}\n";
  return trace;
}

}  // namespace howard::profiler
