// SPDX-License-Identifier: Apache-2.0
//
// Ranks exchange two kinds of messages. The first rank hands out "PLACE PLACE ...", and the same
// line comes back, followed by the points as a result's JSON has them. JSON holds a point without
// loss, so the first rank writes the bytes that it would write alone.

#include "harness/cli/sharing/point_sharing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "harness/cli/terminal/interruption.h"
#include "harness/runner.h"
#include "reports/formats/result_json.h"

namespace howard::cli {
namespace {

using Places = std::vector<std::size_t>;

Places parse_places(std::string_view line) {
  Places places;
  if (line.empty()) return places;
  for (const std::string& word : split(line, ' ')) {
    const auto place = parse_integer(word);
    HOWARD_CHECK(place && *place >= 0, "ranks tell each other places in the plan");
    places.push_back(static_cast<std::size_t>(*place));
  }
  return places;
}

/// Returns the points that ended, with their places.
std::string text_of(const Places& places, std::vector<harness::PointResult> points) {
  if (places.empty()) return "";
  std::array<harness::ExperimentResult, 1> result;
  result.front().points = std::move(points);
  return fmt::format("{}\n{}", fmt::join(places, " "), reports::result_json(result));
}

void take_back(std::string_view text, int from, harness::PointQueue& queue) {
  if (text.empty()) return;
  const std::size_t line = text.find('\n');
  const Places places = parse_places(text.substr(0, line));
  auto results =
      reports::parse_result_json(text.substr(line + 1), fmt::format("points of rank {}", from));
  HOWARD_CHECK(results.size() == 1 && results.front().points.size() == places.size(),
               "a rank sends a point for each place");
  for (std::size_t i = 0; i < places.size(); ++i) {
    queue.end(places[i], std::move(results.front().points[i]));
  }
}

/// Keeps the points of a run that ended, and their places in its plan.
struct Collected final : harness::RunObserver {
  Places ended;
  std::vector<harness::PointResult> results;

  bool stop() override { return interrupted(); }
  void point_done(std::size_t index, const harness::PointResult& point) override {
    ended.push_back(index);
    results.push_back(point);
  }
};

/// Runs some points of a plan and returns the text of those that ended.
std::string run_places(const PlannedExperiment& planned, const Places& places, int threads) {
  std::vector<harness::PointResult> points;
  for (const std::size_t place : places) points.push_back(planned.points.at(place));
  Collected collected;
  harness::run_points(*planned.experiment, std::move(points), {}, collected, {.threads = threads});
  for (std::size_t& place : collected.ended) place = places[place];
  return text_of(collected.ended, std::move(collected.results));
}

}  // namespace

void hand_out(Ranks& ranks, int index, harness::PointQueue& queue) {
  // A batch is a quarter of each rank's share of what is left. It is large enough that messages
  // cost little beside points of 0.1 ms, and small enough that all ranks end together.
  constexpr std::size_t kMostPlaces = 256;
  const auto size = static_cast<std::size_t>(ranks.size());
  for (std::size_t working = size - 1; working > 0;) {
    // A rank that has finished this experiment may already be asking for points of the next one.
    const auto message = ranks.receive(index);
    HOWARD_CHECK(message.has_value(), "the first rank is never told that it is done");
    take_back(message->text, message->from, queue);
    const auto places =
        queue.take(std::clamp<std::size_t>(queue.left() / (4 * size), 1, kMostPlaces));
    ranks.send(message->from, index, fmt::format("{}", fmt::join(places, " ")));
    if (places.empty()) --working;
  }
}

void take_part(Ranks& ranks, const std::vector<PlannedExperiment>& planned, int threads) {
  for (std::size_t i = 0; i < planned.size(); ++i) {
    const PlannedExperiment& one = planned[i];
    if (!harness::can_share(*one.experiment)) continue;
    const int index = static_cast<int>(i);
    std::string ended;
    while (true) {
      ranks.send(0, index, ended);
      const auto answer = ranks.receive(index);
      if (!answer) return;
      const Places places = parse_places(answer->text);
      if (places.empty()) break;
      ended = run_places(one, places, threads);
    }
  }
}

}  // namespace howard::cli
