// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/log.h"

#include <string_view>

namespace howard::profiler {
namespace {

std::string_view describe(Defect defect) {
  switch (defect) {
    case Defect::negative_duration:
      return "it ends before it starts";
    case Defect::dispatched_too_soon:
      return "it was dispatched before the host's call";
    case Defect::ran_too_soon:
      return "it ran before it was dispatched";
    case Defect::partial_overlap:
      return "it overlaps another activity of its place in part";
  }
  return "";
}

/// Returns `list` without the entries whose indices, in order, are given.
template <class Entry>
void remove(std::vector<Entry>& list, const std::vector<std::size_t>& indices) {
  if (indices.empty()) return;
  std::size_t kept = 0;
  auto next = indices.begin();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (next != indices.end() && *next == i) {
      ++next;
    } else {
      list[kept++] = list[i];
    }
  }
  list.resize(kept);
}

}  // namespace

void remove_defects(Timeline& timeline, DroppedRows& dropped) {
  std::vector<std::size_t> programs;
  std::vector<std::size_t> activities;
  for (const TimelineDefect& found : defects_of(timeline)) {
    (found.of_activity ? activities : programs).push_back(found.index);
    dropped.add(describe(found.defect), 0);
    ++timeline.losses;
  }
  remove(timeline.programs, programs);
  remove(timeline.activities, activities);
}

std::vector<std::string> warnings_of(const Log& log) {
  std::vector<std::string> warnings;
  for (const auto& reason : log.dropped.reasons()) {
    warnings.push_back("left out " + describe(reason));
  }
  warnings.insert(warnings.end(), log.notes.begin(), log.notes.end());
  return warnings;
}

}  // namespace howard::profiler
