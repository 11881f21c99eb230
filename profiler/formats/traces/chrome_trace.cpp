// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/traces/chrome_trace.h"

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json_dump.h"

namespace howard::profiler {
namespace {

/// Appends `text` as a JSON string. Names are nearly always plain: they are copied, and the rest is
/// escaped.
void append_string(std::string& json, std::string_view text) {
  const bool plain = std::ranges::all_of(
      text, [](char c) { return c >= ' ' && c < '\x7f' && c != '"' && c != '\\'; });
  if (plain) {
    json += '"';
    json += text;
    json += '"';
  } else {
    json += json_dump(nlohmann::json(text));
  }
}

void append_integer(std::string& json, std::uint64_t value) {
  const fmt::format_int digits(value);
  json.append(digits.data(), digits.size());
}

/// Appends microseconds with all six decimals of the picoseconds.
void append_microseconds(std::string& json, SimTime time) {
  constexpr std::uint64_t kPicosecondsPerMicrosecond = 1'000'000;
  const std::int64_t ps = time.ps();
  if (ps < 0) json += '-';
  // This is correct for the least value too.
  const std::uint64_t size =
      ps < 0 ? 0 - static_cast<std::uint64_t>(ps) : static_cast<std::uint64_t>(ps);
  append_integer(json, size / kPicosecondsPerMicrosecond);
  // The leading 1 keeps the zeros after the point; the point then overwrites it.
  const fmt::format_int decimals(kPicosecondsPerMicrosecond + size % kPicosecondsPerMicrosecond);
  json += '.';
  json.append(decimals.data() + 1, decimals.size() - 1);
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

  void levels(std::string_view name, const std::vector<QueueLevel>& levels) {
    for (const QueueLevel& level : levels) {
      begin_line();
      fmt::format_to(std::back_inserter(json_), R"({{"ph":"C",{},"tid":0,"name":"{}","ts":)", pid_,
                     name);
      append_microseconds(json_, level.time);
      fmt::format_to(std::back_inserter(json_), R"(,"args":{{"commands":{}}}}})", level.waiting);
    }
  }

  void spans(std::size_t tid, const TraceView& view, const TrackEvents& events) {
    const std::string place = fmt::format(",{},\"tid\":{},\"ts\":", pid_, tid);
    for (const TimelineEvent* event : events) {
      begin_line();
      json_ += "{\"ph\":\"X\",\"name\":";
      append_string(json_, event->name);
      json_ += ",\"cat\":";
      append_string(json_, event->category);
      json_ += place;
      append_microseconds(json_, view.since_start(event->start));
      json_ += ",\"dur\":";
      append_microseconds(json_, event->end - event->start);
      if (event->program != 0 || event->trace != 0) {
        json_ += ",\"args\":{\"program\":";
        append_integer(json_, event->program);
        if (event->trace != 0) {
          json_ += ",\"trace\":";
          append_integer(json_, event->trace);
        }
        for (const SpanNote& note : view.notes_of(*event)) append_note(note);
        json_ += '}';
      }
      json_ += '}';
    }
  }

 private:
  void append_note(const SpanNote& note) {
    json_ += ',';
    append_string(json_, note.name);
    json_ += ':';
    if (const auto* const number = std::get_if<std::uint64_t>(&note.value)) {
      append_integer(json_, *number);
    } else {
      append_string(json_, std::get<std::string>(note.value));
    }
  }

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
  const TraceView view(process);
  for (const auto& [queue, levels] : view.queues()) writer.levels(name_of_level(queue), levels);
  std::size_t tid = 0;
  for (const auto& [track, events] : view.tracks()) {
    ++tid;
    writer.metadata("thread_name", tid, "name", name_of(track));
    writer.metadata("thread_sort_index", tid, tid);
    writer.spans(tid, view, events);
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
