// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "profiler/dispatch_gaps.h"
#include "profiler/timeline.h"

namespace howard::profiler {

/// What the hosts, dispatchers and cores of a timeline were doing at any time, so that a gap can be
/// taken apart.
class GapCauses {
 public:
  explicit GapCauses(const Timeline& timeline);

  /// False when the timeline holds nothing that explains a gap: all are unknown.
  bool can_tell() const { return can_tell_; }

  /// Each moment of `gap` by what held up `after`, the program that ends it; `before` is the one
  /// that ended last. The parts add up to the gap, exactly.
  CauseTimes explain(const Span& gap, const ProgramRun& before, const ProgramRun& after) const;

 private:
  /// Device and index; 0 and index for host threads.
  using Place = std::pair<std::uint16_t, std::uint16_t>;
  struct Segment {
    Span span;
    GapCause cause{};
  };
  /// In order and apart.
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
  bool real_host_ = false;
  SegmentsByPlace hosts_;
  SegmentsByPlace waits_;       ///< Of dispatchers.
  SegmentsByPlace dispatches_;  ///< Of dispatchers.
  SegmentsByPlace measuring_;   ///< Sub-devices.
  SegmentsByPlace running_;     ///< Sub-devices.
};

}  // namespace howard::profiler
