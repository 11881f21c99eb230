// SPDX-License-Identifier: Apache-2.0
#include "reports/page/timeline.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace howard::reports {
namespace {

/// Three tracks each: more would hide the others, and a span takes some 20 bytes.
constexpr std::size_t kMostCores = 4;

/// Texts that occur many times, each once.
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

std::string text_of(const std::vector<profiler::SpanNote>& notes) {
  std::string text;
  for (const profiler::SpanNote& note : notes) {
    const auto* const words = std::get_if<std::string>(&note.value);
    text += fmt::format("{}{}: {}", text.empty() ? "" : "\n", note.name,
                        words ? *words : fmt::format("{}", std::get<std::uint64_t>(note.value)));
  }
  return text;
}

/// What a gap was spent on most, of "1.2 us: dispatch 1.0 us, host 0.2 us"; "" when nobody knows.
std::string main_cause(std::string_view gap) {
  constexpr std::string_view kBehindLength = ": ";
  const std::size_t begin = gap.find(kBehindLength);
  if (begin == std::string_view::npos) return "";
  const std::string_view causes = gap.substr(begin + kBehindLength.size());
  const std::size_t number = causes.find_first_of("0123456789");
  std::string cause(causes.substr(0, number));
  while (cause.ends_with(' ')) cause.pop_back();
  return cause;
}

void add_gap(const profiler::TraceView& view, const TraceEvent& event,
             const std::vector<profiler::SpanNote>& notes, Texts& texts, nlohmann::json& gaps) {
  std::uint64_t length = 0;
  std::string cause;
  for (const profiler::SpanNote& note : notes) {
    if (note.name == "gap_before_ps") length = std::get<std::uint64_t>(note.value);
    if (note.name == "gap_before") cause = main_cause(std::get<std::string>(note.value));
  }
  if (length == 0) return;
  gaps.push_back(view.since_start(event.start).ps() - static_cast<std::int64_t>(length));
  gaps.push_back(length);
  gaps.push_back(texts.place_of(std::move(cause)));
}

nlohmann::json point_json(const profiler::TraceProcess& point) {
  const profiler::TraceView view(point);
  Texts texts;
  nlohmann::json tracks = nlohmann::json::array();
  nlohmann::json gaps = nlohmann::json::array();
  std::set<std::uint16_t> cores;
  for (const auto& [track, events] : view.tracks()) {
    if (track.kind == TrackKind::core) {
      cores.insert(track.index);
      if (cores.size() > kMostCores) continue;
    }
    nlohmann::json spans = nlohmann::json::array();
    for (const TraceEvent* const event : events) {
      const std::vector<profiler::SpanNote> notes = view.notes_of(*event);
      spans.push_back(view.since_start(event->start).ps());
      spans.push_back((event->end - event->start).ps());
      spans.push_back(texts.place_of(std::string(event->name)));
      spans.push_back(texts.place_of(std::string(event->category)));
      spans.push_back(texts.place_of(text_of(notes)));
      if (track.kind == TrackKind::sub_device) add_gap(view, *event, notes, texts, gaps);
    }
    tracks.push_back({{"name", profiler::name_of(track)}, {"spans", std::move(spans)}});
  }
  nlohmann::json object{{"name", point.name},
                        {"texts", texts.list()},
                        {"tracks", std::move(tracks)},
                        {"gaps", std::move(gaps)}};
  if (cores.size() > kMostCores) {
    object["left_out"] =
        fmt::format("{} more cores; --trace FILE has them", cores.size() - kMostCores);
  }
  return object;
}

}  // namespace

std::string timeline_json(std::span<const profiler::TraceProcess> points) {
  nlohmann::json list = nlohmann::json::array();
  for (const profiler::TraceProcess& point : points) list.push_back(point_json(point));
  const std::string plain = list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string safe;
  safe.reserve(plain.size());
  for (const char c : plain) c == '<' ? safe += "\\u003c" : safe += c;
  return safe;
}

}  // namespace howard::reports
