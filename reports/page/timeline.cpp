// SPDX-License-Identifier: Apache-2.0
#include "reports/page/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/json_dump.h"
#include "reports/findings/gap_names.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

/// Each core has three tracks; those of more cores would hide the others.
constexpr std::size_t kMostCores = 4;
/// A track, or memory, keeps at least so many spans, however many points there are.
constexpr std::size_t kLeastSpans = 500;

/// Holds texts that occur many times, each once.
class Texts {
 public:
  std::size_t place_of(std::string text) {
    const auto [found, is_new] = places_.try_emplace(std::move(text), list_.size());
    if (is_new) list_.push_back(found->first);
    return found->second;
  }
  const std::vector<std::string>& list() const { return list_; }

 private:
  std::map<std::string, std::size_t, std::less<>> places_;
  std::vector<std::string> list_;
};

/// Returns the notes as lines. Gaps are drawn, and their texts would be as many as there are spans:
/// where spans are joined, they are left out.
std::string text_of(const std::vector<profiler::SpanNote>& notes, bool with_gaps) {
  std::string text;
  for (const profiler::SpanNote& note : notes) {
    if (note.name == "gap_before_ps" || (note.name == "gap_before" && !with_gaps)) continue;
    const auto* const words = std::get_if<std::string>(&note.value);
    text += fmt::format("{}{}: {}", text.empty() ? "" : "\n", note.name,
                        words ? *words : fmt::format("{}", std::get<std::uint64_t>(note.value)));
  }
  return text;
}

/// Returns what a gap was spent on most.
profiler::GapCause main_cause(const profiler::CauseTimes& causes) {
  profiler::GapCause most = profiler::GapCause::unknown;
  for (std::size_t i = 0; i < profiler::kGapCauses; ++i) {
    const auto cause = static_cast<profiler::GapCause>(i);
    if (causes[cause] > causes[most]) most = cause;
  }
  return most;
}

/// Appends numbers of which the first of each group is a time, counted from the one before.
class TimedList {
 public:
  template <class... Numbers>
  void add(SimTime start, Numbers... numbers) {
    list_.push_back((start - last_).ps());
    (list_.push_back(numbers), ...);
    last_ = start;
  }
  nlohmann::json take() { return std::move(list_); }

 private:
  nlohmann::json list_ = nlohmann::json::array();
  SimTime last_;
};

/// Holds events that follow each other and are drawn as one.
struct Joined {
  const TimelineEvent* longest = nullptr;
  SimTime start, end;
  SimTime busy;
  std::size_t count = 0;
};

/// Joins short events that begin within the same `width`; a zero width joins none.
std::vector<Joined> joined(const profiler::TrackEvents& events, SimTime width) {
  std::vector<Joined> list;
  SimTime until;
  for (const TimelineEvent* const event : events) {
    const SimTime length = event->end - event->start;
    const bool close = !list.empty() && event->start < until && length < width;
    if (!close) {
      list.push_back({event, event->start, event->end, length, 1});
      // A long span stays alone.
      until = length < width ? event->start + width : event->start;
      continue;
    }
    Joined& last = list.back();
    if (length > last.longest->end - last.longest->start) last.longest = event;
    last.end = std::max(last.end, event->end);
    last.busy += length;
    ++last.count;
  }
  return list;
}

/// Makes the object of one point.
class PointWriter {
 public:
  PointWriter(const TimelinePoint& point, std::size_t most_spans)
      : view_(point.process), memory_(point.memory), name_(point.process.name) {
    std::size_t spans = 0;
    std::size_t tracks = 0;
    SimTime end;
    for (const auto& [track, events] : view_.tracks()) {
      spans += events.size();
      if (track.kind != TrackKind::core) ++tracks;
      for (const TimelineEvent* const event : events) {
        end = std::max(end, view_.since_start(event->end));
      }
    }
    end_ = end;
    // Gaps are drawn as well, and cost what a track does.
    most_ = std::max(kLeastSpans, most_spans / (tracks + 1));
    if (spans > most_spans)
      width_ = SimTime::picoseconds(end.ps() / static_cast<std::int64_t>(most_));
  }

  nlohmann::json write() {
    nlohmann::json tracks = nlohmann::json::array();
    std::set<std::uint16_t> cores;
    for (const auto& [track, events] : view_.tracks()) {
      if (track.kind == TrackKind::core) {
        cores.insert(track.index);
        if (cores.size() > kMostCores) continue;
      }
      tracks.push_back({{"name", profiler::name_of(track)}, {"spans", spans_of(events)}});
      if (track.kind == TrackKind::sub_device) add_gaps(events);
    }
    std::vector<std::string> left_out;
    if (cores.size() > kMostCores) {
      left_out.push_back(
          fmt::format("{} more cores; --trace FILE has them", cores.size() - kMostCores));
    }
    if (width_ > SimTime()) {
      left_out.push_back(fmt::format(
          "spans that begin within {} of each other are drawn as one; --trace FILE has them all",
          format_time(width_)));
    }
    nlohmann::json object{{"name", name_}, {"tracks", std::move(tracks)}, {"gaps", gap_list()}};
    object["colors"] = std::move(colors_);
    if (memory_ != nullptr) add_memory(object);
    object["texts"] = texts_.list();
    if (!left_out.empty()) object["left_out"] = fmt::format("{}", fmt::join(left_out, "\n"));
    return object;
  }

 private:
  struct PlacedGap {
    SimTime start, length;
    profiler::CauseTimes causes;
  };

  nlohmann::json spans_of(const profiler::TrackEvents& events) {
    TimedList list;
    for (const Joined& span : joined(events, width_)) {
      const TimelineEvent& event = *span.longest;
      std::string notes = text_of(view_.notes_of(event), width_ == SimTime());
      if (span.count > 1) {
        const double whole = (span.end - span.start).seconds();
        notes = fmt::format("{} spans, of which this is the longest; {:.0f} % of the time\n{}",
                            span.count, whole > 0 ? 100 * span.busy.seconds() / whole : 0, notes);
      }
      list.add(view_.since_start(span.start), (span.end - span.start).ps(),
               texts_.place_of(std::string(event.name)),
               texts_.place_of(std::string(event.category)), texts_.place_of(std::move(notes)));
    }
    return list.take();
  }

  void add_gaps(const profiler::TrackEvents& events) {
    for (const TimelineEvent* const event : events) {
      const profiler::GapBefore* const gap = view_.gap_before(*event);
      if (gap == nullptr) continue;
      const SimTime start = view_.since_start(event->start) - gap->length;
      const bool close = !gaps_.empty() && start - gaps_.back().start < width_ &&
                         start > gaps_.back().start && gap->length < width_;
      if (!close) gaps_.push_back({start, SimTime(), {}});
      gaps_.back().length += gap->length;
      gaps_.back().causes += gap->causes;
    }
  }

  nlohmann::json gap_list() {
    std::ranges::stable_sort(gaps_, {}, &PlacedGap::start);
    TimedList list;
    for (const PlacedGap& gap : gaps_) {
      const profiler::GapCause cause = main_cause(gap.causes);
      const std::size_t place = texts_.place_of(std::string(name_of(cause)));
      list.add(gap.start, gap.length.ps(), place);
      colors_[std::to_string(place)] = cause_color(cause);
    }
    return list.take();
  }

  /// Returns what was live from when on, within the recorded time.
  nlohmann::json levels_of(Bytes (*amount)(const profiler::MemoryPoint&)) const {
    const std::size_t most = std::max(kLeastSpans, most_ / 10);
    const SimTime width = memory_->curve.size() > most
                              ? SimTime::picoseconds(end_.ps() / static_cast<std::int64_t>(most))
                              : SimTime();
    TimedList list;
    Bytes level;  // what is drawn
    Bytes now;
    SimTime drawn;
    const auto draw = [&](SimTime time) {
      list.add(time, now.value());
      level = now;
      drawn = time;
    };
    bool begun = false;
    for (const profiler::MemoryPoint& point : memory_->curve) {
      const SimTime time = view_.since_start(point.time);
      if (time > end_) break;
      if (time > SimTime()) {
        if (!begun) draw(SimTime());
        begun = true;
        // The largest of levels that are close stands for them.
        if (now < level && time - drawn >= width) draw(std::min(drawn + width, time));
      }
      now = amount(point);
      if (begun && now > level) draw(time);
      if (begun && now < level && width == SimTime()) draw(time);
    }
    if (!begun || now != level) draw(begun ? std::min(drawn + width, end_) : SimTime());
    return list.take();
  }

  /// Returns whether any L1 was in use within the recorded time.
  bool uses_l1() const {
    return std::ranges::any_of(memory_->curve, [&](const profiler::MemoryPoint& point) {
      const SimTime time = view_.since_start(point.time);
      return time > SimTime() && time <= end_ && point.l1() > Bytes();
    });
  }

  void add_memory(nlohmann::json& object) {
    nlohmann::json curves = nlohmann::json::array();
    curves.push_back(
        {{"name", "DRAM"},
         {"levels", levels_of([](const profiler::MemoryPoint& point) { return point.dram; })}});
    if (uses_l1()) {
      curves.push_back(
          {{"name", "L1"},
           {"levels", levels_of([](const profiler::MemoryPoint& point) { return point.l1(); })}});
    }
    object["memory"] = std::move(curves);
    TimedList phases;
    for (const profiler::MemoryPhase& phase : memory_->phases) {
      const SimTime start = std::max(SimTime(), view_.since_start(phase.start));
      const SimTime end = std::min(end_, view_.since_start(phase.end));
      if (end > start) phases.add(start, (end - start).ps(), texts_.place_of(phase.name));
    }
    object["phases"] = phases.take();
  }

  profiler::TraceView view_;
  const profiler::MemoryUse* memory_;
  std::string name_;
  Texts texts_;
  std::size_t most_ = 0;
  SimTime end_;    ///< The end of the last event, since the start.
  SimTime width_;  ///< Spans that begin as close as this are joined; zero: none are.
  std::vector<PlacedGap> gaps_;
  nlohmann::json colors_ = nlohmann::json::object();
};

}  // namespace

std::string timeline_json(std::span<const TimelinePoint> points, std::size_t most_spans) {
  nlohmann::json list = nlohmann::json::array();
  for (const TimelinePoint& point : points) {
    list.push_back(PointWriter(point, most_spans / points.size()).write());
  }
  const std::string plain = json_dump(list);
  std::string safe;
  safe.reserve(plain.size());
  for (const char c : plain) c == '<' ? safe += "\\u003c" : safe += c;
  return safe;
}

}  // namespace howard::reports
