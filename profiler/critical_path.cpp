// SPDX-License-Identifier: Apache-2.0
#include "profiler/critical_path.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "base/check.h"

namespace howard::profiler {
namespace {

using Index = std::uint32_t;

/// Returns the programs by start, so that each comes after all on which it depends.
std::vector<Index> in_order(const std::vector<ProgramRun>& programs) {
  std::vector<Index> order(programs.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::stable_sort(order, {}, [&](Index i) {
    return std::pair(programs[i].kernel.start, programs[i].kernel.end);
  });
  return order;
}

/// Returns all dependencies, including those of the sub-devices' order, sorted by `after` in the
/// given order.
std::vector<Dependency> all_dependencies(const std::vector<ProgramRun>& programs,
                                         const std::vector<Index>& order,
                                         std::span<const Dependency> given) {
  std::vector<std::size_t> places(programs.size());
  for (std::size_t i = 0; i < order.size(); ++i) places[order[i]] = i;
  std::vector<Dependency> all(given.begin(), given.end());
  for (const Dependency& dependency : given) {
    HOWARD_CHECK(std::max(dependency.before, dependency.after) < programs.size() &&
                     places[dependency.before] < places[dependency.after],
                 "a program starts after those that it depends on");
  }
  std::map<std::pair<std::uint16_t, std::uint16_t>, Index> last_on_cores;
  for (const Index i : order) {
    const auto [last, is_first] =
        last_on_cores.try_emplace({programs[i].device, programs[i].sub_device}, i);
    if (!is_first) all.push_back({std::exchange(last->second, i), i});
  }
  std::ranges::stable_sort(all, {}, [&](const Dependency& edge) { return places[edge.after]; });
  return all;
}

/// Holds the dependencies of each program, from a list that is sorted by program.
class Edges {
 public:
  Edges(std::vector<Dependency> sorted, std::size_t programs)
      : sorted_(std::move(sorted)), ranges_(programs) {
    for (std::size_t i = 0; i < sorted_.size(); ++i) {
      auto& [first, count] = ranges_[sorted_[i].after];
      if (count++ == 0) first = i;
    }
  }

  std::span<const Dependency> of(Index program) const {
    const auto [first, count] = ranges_[program];
    return std::span(sorted_).subspan(first, count);
  }

 private:
  std::vector<Dependency> sorted_;
  std::vector<std::pair<std::size_t, std::size_t>> ranges_;
};

/// Returns the dependency that ended last; absent if there is none.
std::optional<Index> last_dependency(const std::vector<ProgramRun>& programs,
                                     std::span<const Dependency> edges) {
  const auto last = std::ranges::max_element(
      edges, {}, [&](const Dependency& edge) { return programs[edge.before].kernel.end; });
  return last == edges.end() ? std::nullopt : std::optional(last->before);
}

}  // namespace

CriticalPath critical_path(const Timeline& timeline, std::span<const Dependency> dependencies) {
  const std::vector<ProgramRun>& programs = timeline.programs;
  CriticalPath path;
  if (programs.empty()) return path;
  const std::vector<Index> order = in_order(programs);
  const Edges edges(all_dependencies(programs, order, dependencies), programs.size());

  const auto end = [&](Index i) { return programs[i].kernel.end; };
  std::optional<Index> last = *std::ranges::max_element(order, {}, end);
  path.slack.resize(programs.size());
  for (std::size_t i = 0; i < programs.size(); ++i) {
    path.slack[i] = end(*last) - programs[i].kernel.end;
  }
  // Delaying a program by its slack delays none of those after it by more than their own slack.
  for (auto program = order.rbegin(); program != order.rend(); ++program) {
    const auto latest = last_dependency(programs, edges.of(*program));
    for (const Dependency& edge : edges.of(*program)) {
      const SimTime allowed = path.slack[*program] + (end(*latest) - end(edge.before));
      path.slack[edge.before] = std::min(path.slack[edge.before], allowed);
    }
  }

  const SimTime run_end = end(*last);
  while (last) {
    path.programs.push_back(*last);
    const auto before = last_dependency(programs, edges.of(*last));
    if (before) path.idle += std::max(SimTime(), programs[*last].kernel.start - end(*before));
    last = before;
  }
  std::ranges::reverse(path.programs);
  path.busy = run_end - programs[path.programs.front()].kernel.start - path.idle;
  return path;
}

}  // namespace howard::profiler
