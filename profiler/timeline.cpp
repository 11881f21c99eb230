// SPDX-License-Identifier: Apache-2.0
#include "profiler/timeline.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/check.h"

namespace howard::profiler {

NameId NameTable::id(std::string_view name) {
  const auto found = ids_.find(name);
  if (found != ids_.end()) return found->second;
  const auto id = static_cast<NameId>(names_.size());
  ids_.emplace(names_.emplace_back(name), id);
  return id;
}

namespace {

/// Holds a program's number and where its event is, sorted by number. Events of equal numbers are
/// in order.
using Numbered = std::vector<std::pair<std::uint64_t, const TimelineEvent*>>;

void sort(Numbered& list) {
  // Devices number their programs in the order of their calls, and mostly record them so.
  const auto less = [](const auto& a, const auto& b) { return a.first < b.first; };
  if (!std::ranges::is_sorted(list, less)) std::ranges::stable_sort(list, less);
}

std::optional<Occupation> occupation_of(const TimelineEvent& event) {
  const TrackKind place = event.track.kind;
  if (event.category == category::kProfiler) {
    const bool possible = place == TrackKind::host_thread || place == TrackKind::sub_device;
    return possible ? std::optional(Occupation::profiler) : std::nullopt;
  }
  if (place == TrackKind::dispatcher && event.category == category::kEventWait) {
    return Occupation::event_wait;
  }
  if (place != TrackKind::host_thread) return std::nullopt;
  if (event.category == category::kFinish) return Occupation::finish;
  if (event.category == category::kTransfer) return Occupation::transfer;
  if (event.category == category::kQueueFull) return Occupation::queue_full;
  return std::nullopt;
}

/// Holds the events that make up a timeline, sorted by their categories.
struct SortedEvents {
  std::vector<const TimelineEvent*> kernels;
  Numbered dispatches;
  Numbered calls;
  /// The number of the replay of its trace that each call is, by call; 0 if it replays none.
  std::vector<std::uint32_t> replays;

  explicit SortedEvents(std::span<const TimelineEvent> events) {
    for (const TimelineEvent& event : events) {
      const TrackKind place = event.track.kind;
      if (place == TrackKind::core) continue;
      if (event.category == category::kKernel) {
        kernels.push_back(&event);
      } else if (event.program == 0) {
        continue;
      } else if (place == TrackKind::dispatcher && event.category == category::kDispatch) {
        dispatches.emplace_back(event.program, &event);
      } else if (place == TrackKind::host_thread && event.category == category::kHost) {
        calls.emplace_back(event.program, &event);
      }
    }
    sort(dispatches);
    sort(calls);
    std::map<std::uint32_t, std::uint32_t> replays_of;
    for (const auto& [program, call] : calls) {
      replays.push_back(call->trace == 0 ? 0 : ++replays_of[call->trace]);
    }
  }

  const TimelineEvent* dispatch_of(std::uint64_t program) const {
    const auto found =
        std::ranges::lower_bound(dispatches, program, {}, &Numbered::value_type::first);
    return found != dispatches.end() && found->first == program ? found->second : nullptr;
  }

  /// Fills in the last call whose first program is not after `run`.
  void add_call(ProgramRun& run) const {
    const auto after =
        std::ranges::upper_bound(calls, run.number, {}, &Numbered::value_type::first);
    if (after == calls.begin()) return;
    const TimelineEvent& call = *std::prev(after)->second;
    run.host_thread = call.track.index;
    run.host_call = {call.start, call.end};
    run.trace = call.trace;
    run.replay = replays[static_cast<std::size_t>(after - calls.begin()) - 1];
  }
};

}  // namespace

Timeline timeline_of(std::span<const TimelineEvent> events, std::uint64_t losses) {
  Timeline timeline = unchecked_timeline_of(events, losses);
  HOWARD_CHECK(defects_of(timeline).empty(), "a device records what can have happened");
  return timeline;
}

Timeline unchecked_timeline_of(std::span<const TimelineEvent> events, std::uint64_t losses) {
  Timeline timeline{.losses = losses};
  const SortedEvents sorted(events);
  timeline.programs.reserve(sorted.kernels.size());
  for (const TimelineEvent* kernel : sorted.kernels) {
    ProgramRun run{.number = kernel->program,
                   .name = timeline.names.id(kernel->name),
                   .kernel = {kernel->start, kernel->end}};
    if (kernel->track.kind == TrackKind::sub_device) run.sub_device = kernel->track.index;
    if (kernel->track.kind == TrackKind::command_queue) run.queue = kernel->track.index;
    if (kernel->program != 0) {
      if (const TimelineEvent* const dispatch = sorted.dispatch_of(kernel->program)) {
        run.queue = dispatch->track.index;
        run.dispatch = {dispatch->start, dispatch->end};
      }
      sorted.add_call(run);
    }
    timeline.programs.push_back(run);
  }
  for (const TimelineEvent& event : events) {
    if (const auto occupation = occupation_of(event)) {
      timeline.activities.push_back({.occupation = *occupation,
                                     .place = event.track.kind,
                                     .index = event.track.index,
                                     .span = {event.start, event.end}});
    }
  }
  return timeline;
}

namespace {

std::optional<Defect> defect_of(const ProgramRun& program) {
  const auto& [call, dispatch] = std::tie(program.host_call, program.dispatch);
  const auto negative = [](const Span& span) { return span.end < span.start; };
  if (negative(program.kernel) || (dispatch && negative(*dispatch)) || (call && negative(*call))) {
    return Defect::negative_duration;
  }
  if (dispatch && call && dispatch->start < call->start) return Defect::dispatched_too_soon;
  if (dispatch && program.kernel.start < dispatch->end) return Defect::ran_too_soon;
  if (call && program.kernel.start < call->start) return Defect::ran_too_soon;
  return std::nullopt;
}

/// Returns the activities that overlap an earlier one of their place in part.
std::vector<std::size_t> partial_overlaps(const std::vector<Activity>& activities) {
  std::vector<std::size_t> order(activities.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto place = [&](std::size_t i) {
    const Activity& activity = activities[i];
    const bool host = activity.place == TrackKind::host_thread;
    return std::tuple(activity.place, host ? 0 : activity.device, activity.index);
  };
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    const Span& x = activities[a].span;
    const Span& y = activities[b].span;
    return std::tuple(place(a), x.start, y.end) < std::tuple(place(b), y.start, x.end);
  });
  std::vector<std::size_t> found;
  std::vector<std::size_t> open;
  for (const std::size_t i : order) {
    const Span& span = activities[i].span;
    const auto over = [&](std::size_t other) {
      return place(other) != place(i) || activities[other].span.end <= span.start;
    };
    while (!open.empty() && over(open.back())) open.pop_back();
    if (!open.empty() && span.end > activities[open.back()].span.end) {
      found.push_back(i);
    } else {
      open.push_back(i);
    }
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace

std::vector<TimelineDefect> defects_of(const Timeline& timeline) {
  std::vector<TimelineDefect> defects;
  for (std::size_t i = 0; i < timeline.programs.size(); ++i) {
    if (const auto defect = defect_of(timeline.programs[i])) defects.push_back({*defect, false, i});
  }
  const std::vector<std::size_t> overlaps = partial_overlaps(timeline.activities);
  for (std::size_t i = 0; i < timeline.activities.size(); ++i) {
    const Span& span = timeline.activities[i].span;
    if (span.end < span.start) {
      defects.push_back({Defect::negative_duration, true, i});
    } else if (std::ranges::binary_search(overlaps, i)) {
      defects.push_back({Defect::partial_overlap, true, i});
    }
  }
  return defects;
}

}  // namespace howard::profiler
