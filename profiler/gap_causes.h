// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "profiler/dispatch_gaps.h"
#include "profiler/timeline.h"

namespace howard::profiler {

/// Knows what the hosts, dispatchers and cores of a timeline were doing at any time, so that a gap
/// can be taken apart.
class GapCauses {
 public:
  explicit GapCauses(const Timeline& timeline);

  /// Returns false if the timeline holds nothing that explains a gap; all gaps are then unknown.
  bool can_tell() const { return can_tell_; }

  /// Gives each moment of `gap` to what held up `after`, the program that ends it. `before` is the
  /// program that ended last. The parts add up to the gap, exactly.
  CauseTimes explain(const Span& gap, const ProgramRun& before, const ProgramRun& after) const;

 private:
  /// Holds device and index; for host threads, 0 and index.
  using Place = std::pair<std::uint16_t, std::uint16_t>;
  struct Segment {
    Span span;
    GapCause cause{};
  };
  /// Segments are in order and do not overlap.
  using Segments = std::vector<Segment>;
  using SegmentsByPlace = std::map<Place, Segments>;

  static Segments innermost(Segments nested);
  static Segments joined(Segments overlapping);
  static const Segments& at(const SegmentsByPlace& places, Place place);
  template <class Visitor>
  static void for_each_part(const Span& span, const Segments& segments, const Visitor& visit);
  static void add(const Span& span, const Segments& segments, GapCause otherwise,
                  CauseTimes& causes);

  void explain_undispatched(const Span& span, const ProgramRun& after, GapCause idle,
                            CauseTimes& causes) const;
  void explain_dispatched(const Span& span, const ProgramRun& after, GapCause otherwise,
                          CauseTimes& causes) const;

  CauseTimes explain_call(const Span& span, const ProgramRun& after) const;

  bool can_tell_ = false;
  SegmentsByPlace hosts_;
  SegmentsByPlace waits_;       ///< The waits of dispatchers.
  SegmentsByPlace dispatches_;  ///< The work of dispatchers.
  SegmentsByPlace measuring_;   ///< The measuring on sub-devices.
  SegmentsByPlace running_;     ///< The programs on sub-devices.
};

}  // namespace howard::profiler
