// SPDX-License-Identifier: Apache-2.0
//
// These tests check the rules of the trace formats, as Perfetto's trace processor has them. There
// is a small checker of each format, which runs on traces of random events.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "profiler/formats/csv/decimal.h"
#include "profiler/formats/traces/chrome_trace.h"
#include "profiler/formats/traces/perfetto_trace.h"
#include "profiler/tracks.h"
#include "tests/profiler/formats/random_events.h"
#include "tests/profiler/formats/samples.h"

namespace howard::profiler {
namespace {

using nlohmann::json;

/// Holds a span as a viewer would show it.
struct Shown {
  std::string process, track, name, category;
  std::int64_t start = 0, end = 0;
  std::uint64_t program = 0;
  std::uint64_t trace = 0;

  friend auto operator<=>(const Shown&, const Shown&) = default;
};

std::vector<Shown> sorted(std::vector<Shown> spans) {
  std::ranges::sort(spans);
  return spans;
}

/// Returns what a viewer should show of the events, with times divided by `unit` picoseconds.
std::vector<Shown> expected(const std::vector<TraceProcess>& processes, std::int64_t unit) {
  std::vector<Shown> spans;
  for (const TraceProcess& process : processes) {
    const auto first = std::ranges::min_element(process.events, {}, &TimelineEvent::start);
    for (const TimelineEvent& event : process.events) {
      spans.push_back({process.name, name_of(event.track), std::string(event.name),
                       std::string(event.category), (event.start - first->start).ps() / unit,
                       (event.end - first->start).ps() / unit, event.program, event.trace});
    }
  }
  return sorted(std::move(spans));
}

/// Returns "" or the first rule that spans of one track, in the order of the file, break.
std::string check_nesting(const std::vector<Shown>& spans) {
  std::vector<Shown> order = spans;
  std::ranges::stable_sort(order, [](const Shown& a, const Shown& b) {
    return std::tuple(a.start, b.end) < std::tuple(b.start, a.end);
  });
  std::vector<std::int64_t> open;
  for (const Shown& span : order) {
    if (span.end < span.start) return "a span ends before it starts: " + span.name;
    while (!open.empty() && open.back() <= span.start) open.pop_back();
    if (!open.empty() && span.end > open.back()) return "spans overlap in part: " + span.name;
    open.push_back(span.end);
  }
  return "";
}

/// Reads Chrome's format as strictly as it can be read. Times are exact, in picoseconds.
class ChromeChecker {
 public:
  /// Returns the spans; `broken` says which rule the file breaks.
  std::vector<Shown> check(const std::string& text, std::string& broken) {
    const json file = json::parse(text, nullptr, false);
    if (file.is_discarded() || !file.contains("traceEvents")) {
      broken = "no JSON object with traceEvents";
      return {};
    }
    check_decimals(text, broken);
    for (const json& event : file["traceEvents"]) {
      for (const char* const member : {"ph", "pid", "tid", "name"}) {
        if (!event.contains(member)) broken = std::string("an event without ") + member;
      }
      if (event.at("ph") == "M") {
        metadata(event, broken);
      } else if (event.at("ph") == "X") {
        span(event, broken);
      } else if (event.at("ph") == "C") {
        if (!event.at("args").at("commands").is_number_integer()) broken = "a level of no number";
      } else {
        broken = "an event of another phase";
      }
    }
    std::vector<Shown> all;
    for (auto& [thread, spans] : threads_) {
      if (!thread_names_.contains(thread)) broken = "a thread without a name";
      for (Shown& one : spans) {
        one.process = process_names_[thread.first];
        one.track = thread_names_[thread];
      }
      const std::string nesting = check_nesting(spans);
      if (!nesting.empty()) broken = nesting;
      all.insert(all.end(), spans.begin(), spans.end());
    }
    return sorted(std::move(all));
  }

 private:
  using Thread = std::pair<int, int>;

  /// Every ts and dur has a fraction, because whole microseconds would lose what the engines count
  /// in.
  static void check_decimals(const std::string& text, std::string& broken) {
    for (const std::string_view member : {"\"ts\":", "\"dur\":"}) {
      for (std::size_t at = text.find(member); at != text.npos; at = text.find(member, at + 1)) {
        const std::size_t begin = at + member.size();
        const std::string number = text.substr(begin, text.find_first_of(",}", begin) - begin);
        if (number.find('.') != number.size() - 7) broken = "a time without six decimals";
      }
    }
  }

  void metadata(const json& event, std::string& broken) {
    const Thread thread{event.at("pid"), event.at("tid")};
    if (event.at("name") == "process_name") {
      if (process_names_.contains(thread.first)) broken = "a process with two names";
      process_names_[thread.first] = event.at("args").at("name");
    }
    if (event.at("name") == "thread_name") {
      if (thread_names_.contains(thread)) broken = "a thread with two names";
      thread_names_[thread] = event.at("args").at("name");
    }
  }

  void span(const json& event, std::string& broken) {
    if (!event.at("ts").is_number() || !event.at("dur").is_number()) broken = "a time of no number";
    const auto picoseconds = [](const json& time) {
      return parse_scaled(time.dump(), 6).value_or(-1);  // exact below 2^53 ps
    };
    const std::int64_t start = picoseconds(event.at("ts"));
    const json arguments = event.value("args", json::object());
    threads_[{event.at("pid"), event.at("tid")}].push_back(
        {.name = event.at("name"),
         .category = event.at("cat"),
         .start = start,
         .end = start + picoseconds(event.at("dur")),
         .program = arguments.value("program", std::uint64_t{0}),
         .trace = arguments.value("trace", std::uint64_t{0})});
  }

  std::map<int, std::string> process_names_;
  std::map<Thread, std::string> thread_names_;
  std::map<Thread, std::vector<Shown>> threads_;
};

/// Holds the fields of a protobuf message, in order: number, and value or bytes.
struct Field {
  std::uint64_t number = 0, value = 0;
  std::string_view bytes;
};
class Message {
 public:
  explicit Message(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::uint64_t tag = varint(bytes);
      Field field{.number = tag >> 3U};
      field.value = varint(bytes);
      if ((tag & 7U) == 2) {
        field.bytes = bytes.substr(0, field.value);
        if (field.bytes.size() < field.value) throw std::runtime_error("a field is cut off");
        bytes.remove_prefix(field.value);
      } else if ((tag & 7U) != 0) {
        throw std::runtime_error("a field of another type");
      }
      fields_.push_back(field);
    }
  }

  const std::vector<Field>& fields() const { return fields_; }
  std::optional<Field> find(std::uint64_t number) const {
    const auto found = std::ranges::find(fields_, number, &Field::number);
    return found != fields_.end() ? std::optional(*found) : std::nullopt;
  }
  std::uint64_t value(std::uint64_t number) const { return find(number).value_or(Field{}).value; }
  std::string text(std::uint64_t number) const {
    return std::string(find(number).value_or(Field{}).bytes);
  }

 private:
  static std::uint64_t varint(std::string_view& bytes) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; !bytes.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes.front());
      bytes.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
    throw std::runtime_error("a number is cut off");
  }

  std::vector<Field> fields_;
};

/// Reads TrackEvents as the trace processor does: events of a track open and close a stack in the
/// order of their times, equal ones in the order of the file.
class PerfettoChecker {
 public:
  std::vector<Shown> check(std::string_view bytes, std::string& broken) {
    const Message trace(bytes);
    bool first = true;
    for (const Field& field : trace.fields()) {
      const Message packet(field.bytes);
      if (field.number != 1 || packet.value(10) != 1) broken = "a packet of no sequence";
      if (packet.value(13) != (first ? 3U : 2U)) broken = "wrong sequence flags";
      first = false;
      if (const auto names = packet.find(12)) intern(Message(names->bytes));
      if (const auto track = packet.find(60)) describe(Message(track->bytes), broken);
      if (const auto event = packet.find(11)) take(packet, Message(event->bytes), broken);
    }
    for (const auto& [uuid, track] : tracks_) {
      if (!track.open.empty()) broken = "a span that does not end";
    }
    return sorted(std::move(shown_));
  }

 private:
  struct Track {
    std::string process, name;
    std::uint64_t last = 0;
    std::vector<Shown> open;
  };

  void intern(const Message& names) {
    for (const Field& field : names.fields()) {
      const Message name(field.bytes);
      names_[{field.number, name.value(1)}] = name.text(2);
    }
  }

  void describe(const Message& track, std::string& broken) {
    if (tracks_.contains(track.value(1))) broken = "a track that is described twice";
    if (const auto process = track.find(3)) {
      tracks_[track.value(1)].process = Message(process->bytes).text(6);
    } else {
      if (track.find(8)) counters_.insert(track.value(1));
      if (!tracks_.contains(track.value(5))) broken = "a track of an unknown process";
      tracks_[track.value(1)] = {tracks_[track.value(5)].process, track.text(2), 0, {}};
    }
  }

  void take(const Message& packet, const Message& event, std::string& broken) {
    if (!tracks_.contains(event.value(11))) broken = "an event of an unknown track";
    Track& track = tracks_[event.value(11)];
    const std::uint64_t time = packet.value(8);
    if (time < track.last) broken = "an event before the one before it";
    track.last = time;
    if ((event.value(9) == 4) != counters_.contains(event.value(11))) broken = "no counter counts";
    if (event.value(9) == 4) return;
    if (event.value(9) == 1) {
      std::map<std::string, std::uint64_t> notes;
      for (const Field& field : event.fields()) {
        if (field.number != 4) continue;
        const Message annotation(field.bytes);
        if (!names_.contains({3, annotation.value(1)})) broken = "an annotation of no name";
        notes[names_[{3, annotation.value(1)}]] = annotation.value(3);
      }
      if (!names_.contains({2, event.value(10)})) broken = "a name that was not sent";
      if (!names_.contains({1, event.value(3)})) broken = "a category that was not sent";
      track.open.push_back({track.process, track.name, names_[{2, event.value(10)}],
                            names_[{1, event.value(3)}], static_cast<std::int64_t>(time), 0,
                            notes["program"], notes["trace"]});
    } else if (track.open.empty()) {
      broken = "an end without a begin";
    } else {
      track.open.back().end = static_cast<std::int64_t>(time);
      shown_.push_back(track.open.back());
      track.open.pop_back();
    }
  }

  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> names_;
  std::map<std::uint64_t, Track> tracks_;
  std::set<std::uint64_t> counters_;
  std::vector<Shown> shown_;
};

TEST(TraceRules, ChromeTracesKeepTheRulesAndShowEverySpan) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const std::vector<TimelineEvent> events = testing::random_events(seed);
    const std::vector<TraceProcess> processes = {{"one", events, 0}, {"two", events, seed}};
    std::string broken;
    const std::vector<Shown> shown = ChromeChecker().check(chrome_trace(processes).json, broken);
    ASSERT_EQ(broken, "") << seed;
    ASSERT_EQ(shown, expected(processes, 1)) << seed;
  }
}

TEST(TraceRules, PerfettoTracesKeepTheRulesAndShowEverySpan) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const std::vector<TimelineEvent> events = testing::random_events(seed);
    const std::vector<TraceProcess> processes = {{"one", events, 0}, {"two", events, seed}};
    std::string broken;
    const std::vector<Shown> shown = PerfettoChecker().check(perfetto_trace(processes), broken);
    ASSERT_EQ(broken, "") << seed;
    ASSERT_EQ(shown, expected(processes, 1'000)) << seed;
  }
}

TEST(TraceRules, TheCheckersFindWhatViewersStumbleOver) {
  const std::vector<TimelineEvent> events = sample_events();
  const TraceProcess process{.name = "point", .events = events};
  const std::string text = chrome_trace({&process, 1}).json;
  const auto broken_by = [&](const std::string& what, const std::string& with) {
    std::string bad = text;
    bad.replace(bad.find(what), what.size(), with);
    std::string broken;
    ChromeChecker().check(bad, broken);
    return broken;
  };
  EXPECT_EQ(broken_by("\"dur\":5.000001", "\"dur\":5"), "a time without six decimals");
  EXPECT_EQ(broken_by("\"dur\":5.000001", "\"dur\":31.000001"),
            "spans overlap in part: soft\"max\n");
  EXPECT_EQ(broken_by("thread_name", "thread_nam"), "a thread without a name");
  EXPECT_EQ(broken_by("\"ph\":\"X\"", "\"ph\":\"Y\""), "an event of another phase");
  EXPECT_EQ(broken_by("]", ""), "no JSON object with traceEvents");
}

}  // namespace
}  // namespace howard::profiler
