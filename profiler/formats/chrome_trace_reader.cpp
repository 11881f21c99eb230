// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/chrome_trace_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/json_depth.h"
#include "profiler/formats/trace_event_handler.h"

namespace howard::profiler {
namespace {

/// The bytes of a source as the JSON parser takes them, one by one.
class Bytes {
 public:
  /// `attempted` is said when the text is nested too deep, and must outlive this.
  Bytes(ByteSource& source, std::string_view attempted)
      : source_(source), attempted_(attempted), buffer_(std::size_t{1} << 16) {
    fill();
  }

  bool at_end() const { return at_ == end_; }
  char current() const { return buffer_[at_]; }
  void advance() {
    if (!depth_.take(buffer_[at_])) refuse_json_depth(attempted_);
    if (++at_ == end_) fill();
  }

 private:
  void fill() {
    at_ = 0;
    end_ = source_.read(buffer_);
  }

  ByteSource& source_;
  std::string_view attempted_;
  JsonDepth depth_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, end_ = 0;
};

class ByteIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  explicit ByteIterator(Bytes* bytes) : bytes_(bytes) {}
  char operator*() const { return bytes_->current(); }
  ByteIterator& operator++() {
    bytes_->advance();
    return *this;
  }
  ByteIterator operator++(int) { return ++*this; }
  /// Null is the end.
  friend bool operator==(const ByteIterator& a, const ByteIterator& b) {
    return (a.bytes_ == nullptr || a.bytes_->at_end()) ==
           (b.bytes_ == nullptr || b.bytes_->at_end());
  }

 private:
  Bytes* bytes_;
};

/// The number that `text` is behind `prefix`; absent when it is anything else or out of range.
std::optional<std::uint16_t> number_after(std::string_view prefix, std::string_view text) {
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  std::uint16_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// "core (3,4) compute", as `chrome_trace` writes it.
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

/// The track that a thread of this name was written from; absent for a name that Howard does not
/// write.
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

/// The tracks of all threads: those they are named after in the processes where all are.
std::vector<Track> find_tracks(const TraceEventHandler& handler, ReadTrace& trace) {
  std::vector<Track> tracks(handler.threads().size());
  std::vector<bool> ours(trace.processes.size(), true);
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    const auto track = track_of(handler.threads()[i].name);
    if (!track) ours[handler.threads()[i].process] = false;
    tracks[i] = track.value_or(Track{});
  }
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    const TraceEventHandler::Thread& thread = handler.threads()[i];
    if (ours[thread.process]) continue;
    std::vector<std::string>& names = trace.processes[thread.process].threads;
    tracks[i] = {TrackKind::sub_device, Lane::none, static_cast<std::uint16_t>(names.size())};
    names.push_back(thread.name);
  }
  return tracks;
}

/// The spans that lie in no other of their track, of category "kernel" where there are such.
std::vector<TraceEvent> programs_of(const ReadProcess& process) {
  std::vector<TraceEvent> events = process.events;
  const auto is_kernel = [](const TraceEvent& event) {
    return event.category == category::kKernel;
  };
  if (std::ranges::any_of(events, is_kernel)) {
    std::erase_if(events, [&](const TraceEvent& event) { return !is_kernel(event); });
  }
  std::ranges::stable_sort(events, [](const TraceEvent& a, const TraceEvent& b) {
    return std::tuple(a.track.index, a.start, b.end) < std::tuple(b.track.index, b.start, a.end);
  });
  std::vector<TraceEvent> outer;
  for (TraceEvent& event : events) {
    const bool inner = !outer.empty() && outer.back().track == event.track &&
                       event.end <= outer.back().end && event.start < outer.back().end;
    event.category = category::kKernel;
    event.program = 0;
    if (!inner) outer.push_back(event);
  }
  return outer;
}

}  // namespace

ReadTrace read_chrome_events(ByteSource& source, std::string_view name, DroppedRows& dropped,
                             std::vector<std::string>& notes) {
  ReadTrace trace;
  TraceEventHandler handler(trace.names, dropped);
  const std::string attempted = fmt::format("read {} as a Chrome trace", name);
  Bytes bytes(source, attempted);
  nlohmann::json::sax_parse(ByteIterator(&bytes), ByteIterator(nullptr), &handler);
  for (const TraceEventHandler::Process& process : handler.processes()) {
    trace.processes.push_back({.name = process.name, .losses = process.losses});
  }
  const std::vector<Track> tracks = find_tracks(handler, trace);
  for (const TraceEventHandler::Span& span : handler.spans()) {
    ReadProcess& process = trace.processes[handler.threads()[span.thread].process];
    process.events.push_back({.track = tracks[span.thread],
                              .trace = span.trace,
                              .name = trace.names.name(span.name),
                              .category = trace.names.name(span.category),
                              .start = span.start,
                              .end = span.end,
                              .program = span.program});
  }
  for (const TraceEventHandler::Thread& thread : handler.threads()) {
    if (!thread.open.empty()) dropped.add("a begin without an end", 0, {}, thread.open.size());
  }
  if (handler.spans().empty()) {
    throw Error({.attempted = attempted,
                 .value = handler.failure().value_or("it has no spans"),
                 .accepted = R"({"traceEvents": [{"ph": "X", "ts": 1.5, "dur": 2, ...}, ...]})",
                 .hint = ""});
  }
  if (handler.failure()) notes.push_back("the JSON breaks off: " + *handler.failure());
  return trace;
}

Log read_chrome_trace(ByteSource& source, std::string_view name) {
  Log log;
  ReadTrace trace = read_chrome_events(source, name, log.dropped, log.notes);
  for (ReadProcess& process : trace.processes) {
    const bool ours = process.threads.empty();
    const std::vector<TraceEvent> events = ours ? std::move(process.events) : programs_of(process);
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
