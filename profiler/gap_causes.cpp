// SPDX-License-Identifier: Apache-2.0
#include "profiler/gap_causes.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>

namespace howard::profiler {
namespace {

constexpr SimTime kEndOfTime = SimTime::picoseconds(std::numeric_limits<std::int64_t>::max());

GapCause cause_of(Occupation occupation) {
  switch (occupation) {
    case Occupation::finish:
      return GapCause::finish;
    case Occupation::transfer:
      return GapCause::transfer;
    case Occupation::queue_full:
      return GapCause::queue_full;
    case Occupation::profiler:
      return GapCause::profiler;
    case Occupation::event_wait:
      return GapCause::event_wait;
  }
  return GapCause::unknown;
}

/// Sorts by start, the longer first, so that an outer segment precedes those within it.
template <class Segments>
void sort_outer_first(Segments& segments) {
  const auto before = [](const auto& a, const auto& b) {
    return std::tie(a.span.start, b.span.end) < std::tie(b.span.start, a.span.end);
  };
  if (!std::ranges::is_sorted(segments, before)) std::ranges::stable_sort(segments, before);
}

}  // namespace

GapCauses::GapCauses(const Timeline& timeline) {
  for (const Activity& activity : timeline.activities) {
    const Segment segment{activity.span, cause_of(activity.occupation)};
    if (activity.place == TrackKind::host_thread) {
      hosts_[{0, activity.index}].push_back(segment);
    } else if (activity.place == TrackKind::dispatcher) {
      waits_[{activity.device, activity.index}].push_back(segment);
    } else if (activity.place == TrackKind::sub_device) {
      measuring_[{activity.device, activity.index}].push_back(segment);
    }
  }
  for (SegmentsByPlace* const places : {&hosts_, &waits_, &measuring_}) {
    for (auto& [place, segments] : *places) segments = innermost(std::move(segments));
  }
  // A log that does not know when programs were launched cannot tell what then ran.
  const bool any_launch = std::ranges::any_of(timeline.programs, [](const ProgramRun& program) {
    return program.dispatch || program.host_call || program.replay != 0;
  });
  can_tell_ = any_launch || !timeline.activities.empty();
  if (!any_launch) return;
  for (const ProgramRun& program : timeline.programs) {
    running_[{program.device, program.sub_device}].push_back(
        {program.kernel, GapCause::cores_busy});
    if (!program.dispatch) continue;
    dispatches_[{program.device, program.queue}].push_back({*program.dispatch, GapCause::dispatch});
  }
  for (SegmentsByPlace* const places : {&dispatches_, &running_}) {
    for (auto& [place, segments] : *places) segments = joined(std::move(segments));
  }
}

/// Returns nested segments as a sequence: at each moment the innermost one that covers it.
GapCauses::Segments GapCauses::innermost(Segments nested) {
  sort_outer_first(nested);
  Segments sequence;
  Segments open;
  SimTime reached;
  const auto advance_to = [&](SimTime time) {
    while (!open.empty()) {
      const auto& [span, cause] = open.back();
      const SimTime end = std::min(span.end, time);
      if (end > reached) {
        sequence.push_back({{reached, end}, cause});
        reached = end;
      }
      if (span.end > time) return;
      open.pop_back();
    }
  };
  for (const Segment& segment : nested) {
    advance_to(segment.span.start);
    reached = segment.span.start;
    open.push_back(segment);
  }
  advance_to(kEndOfTime);
  return sequence;
}

/// Returns the union of segments of one cause, without empty ones.
GapCauses::Segments GapCauses::joined(Segments overlapping) {
  sort_outer_first(overlapping);
  Segments apart;
  for (const Segment& segment : overlapping) {
    if (!apart.empty() && segment.span.start <= apart.back().span.end) {
      apart.back().span.end = std::max(apart.back().span.end, segment.span.end);
    } else if (segment.span.start < segment.span.end) {
      apart.push_back(segment);
    }
  }
  return apart;
}

const GapCauses::Segments& GapCauses::at(const SegmentsByPlace& places, Place place) {
  static const Segments kNone;
  const auto found = places.find(place);
  return found == places.end() ? kNone : found->second;
}

/// Cuts `span` at the segments' ends. `visit` gets each part with the segment in which it lies, or
/// null.
template <class Visitor>
void GapCauses::for_each_part(const Span& span, const Segments& segments, const Visitor& visit) {
  SimTime reached = span.start;
  auto segment = std::ranges::upper_bound(segments, reached, {},
                                          [](const Segment& other) { return other.span.end; });
  for (; segment != segments.end() && segment->span.start < span.end; ++segment) {
    if (reached < segment->span.start) visit(Span{reached, segment->span.start}, nullptr);
    const SimTime start = std::max(reached, segment->span.start);
    reached = std::min(segment->span.end, span.end);
    visit(Span{start, reached}, &*segment);
  }
  if (reached < span.end) visit(Span{reached, span.end}, nullptr);
}

void GapCauses::add(const Span& span, const Segments& segments, GapCause otherwise,
                    CauseTimes& causes) {
  for_each_part(span, segments, [&](const Span& part, const Segment* segment) {
    causes[segment == nullptr ? otherwise : segment->cause] += part.duration();
  });
}

CauseTimes GapCauses::explain(const Span& gap, const ProgramRun& before,
                              const ProgramRun& after) const {
  const bool same_replay =
      after.replay != 0 && after.replay == before.replay && after.trace == before.trace;
  // The programs of one replay were issued together.
  const bool issued_before = same_replay && !after.host_call;
  const auto within = [&](SimTime time, SimTime earliest) {
    return std::clamp(time, earliest, gap.end);
  };
  const SimTime issued = after.host_call ? within(after.host_call->end, gap.start) : gap.start;
  CauseTimes causes = explain_call({gap.start, issued}, after);
  const bool issue_known = after.host_call || issued_before;
  if (after.dispatch) {
    const SimTime taken = within(after.dispatch->start, issued);
    const SimTime dispatched = within(after.dispatch->end, taken);
    explain_undispatched({issued, taken}, after,
                         issue_known ? GapCause::dispatcher_held : GapCause::unknown, causes);
    causes[GapCause::dispatch] += dispatched - taken;
    explain_dispatched({dispatched, gap.end}, after, GapCause::go_latency, causes);
  } else if (issue_known) {
    explain_dispatched({issued, gap.end}, after, GapCause::launch, causes);
  } else {
    add({issued, gap.end}, at(measuring_, {after.device, after.sub_device}), GapCause::unknown,
        causes);
  }
  return causes;
}

/// The host had not begun the call of `after` yet, or was in it.
CauseTimes GapCauses::explain_call(const Span& span, const ProgramRun& after) const {
  const Segments& host = at(hosts_, {0, after.host_thread});
  CauseTimes causes;
  if (!after.host_call) return causes;
  const SimTime called = std::clamp(after.host_call->start, span.start, span.end);
  add({span.start, called}, host, GapCause::between_calls, causes);
  add({called, span.end}, host, after.compiled ? GapCause::compile : GapCause::host_issuing,
      causes);
  return causes;
}

/// The dispatcher had not begun with `after`; where it did nothing else either, the cause is
/// `idle`.
void GapCauses::explain_undispatched(const Span& span, const ProgramRun& after, GapCause idle,
                                     CauseTimes& causes) const {
  const Place dispatcher{after.device, after.queue};
  for_each_part(span, at(waits_, dispatcher), [&](const Span& part, const Segment* wait) {
    if (wait != nullptr) {
      causes[wait->cause] += part.duration();
    } else {
      add(part, at(dispatches_, dispatcher), idle, causes);
    }
  });
}

/// Only its cores could hold `after` up.
void GapCauses::explain_dispatched(const Span& span, const ProgramRun& after, GapCause otherwise,
                                   CauseTimes& causes) const {
  const Place cores{after.device, after.sub_device};
  for_each_part(span, at(running_, cores), [&](const Span& part, const Segment* running) {
    if (running != nullptr) {
      causes[running->cause] += part.duration();
    } else {
      add(part, at(measuring_, cores), otherwise, causes);
    }
  });
}

}  // namespace howard::profiler
