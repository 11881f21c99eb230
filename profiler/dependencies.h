// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/timeline.h"

namespace howard::profiler {

/// `after` could not start before `before` had ended: an event, a finish, data. Indices into the
/// timeline's programs.
struct Dependency {
  std::uint32_t before = 0;
  std::uint32_t after = 0;
};

/// Who waited for whom, as far as a timeline tells. When an event wait of a dispatcher, a finish or
/// a transfer was over, the program that had ended last was what it had waited for; the next one of
/// that queue, or that this host thread called, waited with it. Data that went from one queue's
/// programs to another's without any of these are not known. In the order of the activities.
std::vector<Dependency> dependencies_of(const Timeline& timeline);

}  // namespace howard::profiler
