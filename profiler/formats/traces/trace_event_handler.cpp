// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/traces/trace_event_handler.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "base/text.h"
#include "profiler/formats/csv/decimal.h"

namespace howard::profiler {

bool TraceEventHandler::number_integer(std::int64_t number) {
  return scalar(fmt::format_int(number).str());
}

bool TraceEventHandler::number_unsigned(std::uint64_t number) {
  return scalar(fmt::format_int(number).str());
}

bool TraceEventHandler::number_float(double /*number*/, const std::string& text) {
  return scalar(text);
}

bool TraceEventHandler::string(std::string& text) { return scalar(text); }

bool TraceEventHandler::start_object(std::size_t /*size*/) {
  ++depth_;
  if (events_depth_ > 0 && depth_ == events_depth_ + 1) event_ = {};
  if (events_depth_ > 0 && depth_ == events_depth_ + 2) in_arguments_ = key_ == "args";
  return true;
}

bool TraceEventHandler::end_object() {
  if (events_depth_ > 0 && depth_ == events_depth_ + 1) take_event();
  if (events_depth_ > 0 && depth_ == events_depth_ + 2) in_arguments_ = false;
  --depth_;
  return true;
}

bool TraceEventHandler::start_array(std::size_t /*size*/) {
  const bool holds_events = depth_ == 0 || (depth_ == 1 && key_ == "traceEvents");
  ++depth_;
  if (holds_events) events_depth_ = depth_;
  return true;
}

bool TraceEventHandler::end_array() {
  if (depth_ == events_depth_) events_depth_ = -1;
  --depth_;
  return true;
}

bool TraceEventHandler::key(std::string& text) {
  const bool of_event = events_depth_ > 0 && depth_ == events_depth_ + 1;
  const bool of_arguments = in_arguments_ && depth_ == events_depth_ + 2;
  if (depth_ == 1 || of_event || of_arguments) key_ = text;
  return true;
}

bool TraceEventHandler::parse_error(std::size_t /*position*/, const std::string& /*token*/,
                                    const nlohmann::json::exception& failure) {
  failure_ = json_failure(failure.what());
  return false;
}

/// Takes a string or a number.
bool TraceEventHandler::scalar(std::string_view text) {
  if (events_depth_ < 0) return true;
  if (in_arguments_ && depth_ == events_depth_ + 2) {
    if (key_ == "name") event_.argument_name = text;
    if (key_ == "labels") event_.labels = text;
    if (key_ == "program") {
      std::from_chars(text.data(), text.data() + text.size(), event_.program);
    }
    if (key_ == "trace") {
      std::from_chars(text.data(), text.data() + text.size(), event_.trace);
    }
  } else if (depth_ == events_depth_ + 1) {
    if (key_ == "ph") event_.phase = text;
    if (key_ == "name") event_.name = text;
    if (key_ == "cat") event_.category = text;
    if (key_ == "pid") event_.process = text;
    if (key_ == "tid") event_.thread = text;
    if (key_ == "ts") set_time(event_.start, text);
    if (key_ == "dur") set_time(event_.duration, text);
  }
  return true;
}

void TraceEventHandler::set_time(std::optional<SimTime>& member, std::string_view text) {
  constexpr int kPicosecondsPerMicrosecondDigits = 6;
  const auto picoseconds = parse_scaled(text, kPicosecondsPerMicrosecondDigits);
  if (picoseconds && SimTime::picoseconds(*picoseconds) < kLatestTraceTime &&
      SimTime::picoseconds(*picoseconds) > SimTime() - kLatestTraceTime) {
    member = SimTime::picoseconds(*picoseconds);
  } else {
    event_.bad_time = true;
  }
}

std::size_t TraceEventHandler::process_index() {
  const auto [found, added] = process_indices_.try_emplace(event_.process, found_.processes.size());
  if (added) found_.processes.push_back({.name = "process " + event_.process});
  return found->second;
}

std::uint32_t TraceEventHandler::thread_index() {
  const std::size_t process = process_index();
  const auto index = static_cast<std::uint32_t>(found_.threads.size());
  const auto [found, added] = thread_indices_.try_emplace({process, event_.thread}, index);
  if (added) found_.threads.push_back({.process = process, .name = "thread " + event_.thread});
  return found->second;
}

void TraceEventHandler::take_event() {
  ++event_number_;
  if (event_.phase == "M") return take_metadata();
  const bool complete = event_.phase == "X";
  const bool begins = event_.phase == "B";
  if (!complete && !begins && event_.phase != "E") return;  // these are counters, flows, instants
  const auto reject = [&](std::string_view reason) {
    dropped_.add(reason, 0, fmt::format("event {}", event_number_));
  };
  if (event_.bad_time) return reject("a time is not a number of microseconds in range");
  if (!event_.start) return reject("an event has no ts");
  if (found_.threads.size() > std::numeric_limits<std::uint16_t>::max()) {
    return reject("more threads than can be told apart");
  }
  TraceSpans::Thread& thread = found_.threads[thread_index()];
  TraceSpans::Span span{.thread = thread_index(),
                        .name = names_.id(event_.name),
                        .category = names_.id(event_.category),
                        .start = *event_.start,
                        .program = event_.program,
                        .trace = event_.trace};
  if (begins) {
    thread.open.push_back(span);
  } else if (complete) {
    if (!event_.duration) return reject("a complete event has no dur");
    if (*event_.duration < SimTime()) return reject("a duration is negative");
    span.end = span.start + *event_.duration;
    found_.take(span, dropped_);
  } else {
    const std::string_view reason = found_.end(thread, *event_.start, dropped_);
    if (!reason.empty()) reject(reason);
  }
}

void TraceEventHandler::take_metadata() {
  if (event_.name == "process_name") {
    found_.processes[process_index()].name = event_.argument_name;
  } else if (event_.name == "thread_name") {
    if (found_.threads.size() <= std::numeric_limits<std::uint16_t>::max()) {
      found_.threads[thread_index()].name = event_.argument_name;
    }
  } else if (event_.name == "process_labels") {
    found_.set_label(process_index(), event_.labels);
  }
}

}  // namespace howard::profiler
