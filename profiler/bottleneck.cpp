// SPDX-License-Identifier: Apache-2.0
#include "profiler/bottleneck.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <ranges>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "profiler/bound.h"

namespace howard::profiler {
namespace {

/// Returns the time of `amount` at `rate` per second, at most `longest`.
SimTime time_at(std::int64_t amount, double rate, SimTime longest) {
  const double picoseconds = std::ceil(static_cast<double>(amount) / rate * 1e12);
  if (picoseconds >= static_cast<double>(longest.ps())) return longest;
  return SimTime::picoseconds(static_cast<std::int64_t>(picoseconds));
}

/// Returns whether each kind of work was done at a known peak, or there was none of it. Where the
/// kernel's longest stage is known, so is its work, even if that is nothing: a move within L1.
bool is_known(const OpRun& run) {
  const bool flops_known = run.flops.value() == 0 || run.peak_flops > 0;
  const bool dram_known = run.dram.value() == 0 || run.peak_bandwidth > 0;
  const bool any = run.flops.value() > 0 || run.dram.value() > 0 || !run.limited_by.empty();
  return flops_known && dram_known && any;
}

std::optional<double> ratio(double dividend, double divisor) {
  if (dividend <= 0 || divisor <= 0) return std::nullopt;
  return dividend / divisor;
}

/// Fills a summary.
class Filling {
 public:
  void add(const OpRun& run) {
    ++summary_.runs;
    summary_.idle += run.idle_before;
    if (!run.limited_by.empty()) stages_[run.limited_by] += run.duration;
    if (run.cores_used) {
      core_time_ += *run.cores_used * run.duration.seconds();
      with_cores_ += run.duration;
    }
    if (!is_known(run)) {
      summary_.unknown += run.duration;
      return;
    }
    summary_.flops += run.flops;
    summary_.dram_bytes += run.dram;
    const SimTime compute = run.flops.value() == 0
                                ? SimTime()
                                : time_at(run.flops.value(), run.peak_flops, run.duration);
    const SimTime dram = run.dram.value() == 0
                             ? SimTime()
                             : time_at(run.dram.value(), run.peak_bandwidth, run.duration);
    (compute >= dram ? summary_.compute : summary_.dram) += std::max(compute, dram);
    summary_.excess += run.duration - std::max(compute, dram);
  }

  WorkSummary summary(std::string_view name) const {
    WorkSummary summary = summary_;
    summary.name = name;
    for (const auto& [stage, busy] : stages_) summary.stages.push_back({std::string(stage), busy});
    std::ranges::stable_sort(summary.stages, std::greater(), &WorkSummary::Stage::busy);
    summary.cores_used = ratio(core_time_, with_cores_.seconds());
    return summary;
  }

 private:
  WorkSummary summary_;
  std::map<std::string_view, SimTime> stages_;
  double core_time_ = 0;  ///< Seconds times the part of the cores.
  SimTime with_cores_;
};

/// Holds summaries by name, in the order of their first runs.
class Groups {
 public:
  void add(std::string_view name, const OpRun& run) {
    const auto [found, is_new] = indices_.try_emplace(name, groups_.size());
    if (is_new) groups_.emplace_back(name, Filling());
    groups_[found->second].second.add(run);
  }

  std::vector<WorkSummary> summaries() const {
    std::vector<WorkSummary> summaries;
    for (const auto& [name, group] : groups_) summaries.push_back(group.summary(name));
    return summaries;
  }

 private:
  std::unordered_map<std::string_view, std::size_t> indices_;
  std::vector<std::pair<std::string_view, Filling>> groups_;
};

/// Returns the times by verdict.
std::array<SimTime, 5> parts_of(const WorkSummary& summary) {
  return {summary.idle, summary.compute, summary.dram, summary.excess, summary.unknown};
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::dispatch_bound:
      return "dispatch";
    case Verdict::compute_bound:
      return "compute";
    case Verdict::dram_bound:
      return "DRAM";
    case Verdict::kernel_inefficient:
      return "kernel";
    case Verdict::unknown:
      return "unknown";
  }
  return "";
}

Verdict WorkSummary::verdict() const {
  if (!kernels_decide(busy().seconds(), time().seconds())) return Verdict::dispatch_bound;
  return kernel_verdict();
}

Verdict WorkSummary::kernel_verdict() const {
  const auto parts = parts_of(*this);
  const auto largest = std::ranges::max_element(parts | std::views::drop(1));
  if (*largest == SimTime()) return Verdict::unknown;
  return static_cast<Verdict>(largest - parts.begin());
}

double WorkSummary::share_of(Verdict verdict) const {
  const SimTime part = parts_of(*this).at(static_cast<std::size_t>(verdict));
  return ratio(part.seconds(), time().seconds()).value_or(0);
}

std::optional<double> WorkSummary::intensity() const {
  return ratio(static_cast<double>(flops.value()), static_cast<double>(dram_bytes.value()));
}

std::optional<double> WorkSummary::attainable() const {
  return ratio(static_cast<double>(flops.value()), (compute + dram).seconds());
}

std::optional<double> WorkSummary::achieved() const {
  return ratio(static_cast<double>(flops.value()), (compute + dram + excess).seconds());
}

Bottlenecks find_bottlenecks(std::span<const OpRun> runs) {
  Filling all;
  Groups by_op;
  Groups by_section;
  for (const OpRun& run : runs) {
    HOWARD_CHECK(run.duration >= SimTime() && run.idle_before >= SimTime(),
                 "an op and the gap before it take no negative time");
    all.add(run);
    by_op.add(run.name, run);
    by_section.add(run.section, run);
  }
  Bottlenecks found{all.summary("all"), by_op.summaries(), by_section.summaries()};
  std::ranges::stable_sort(found.by_op, std::greater(), &WorkSummary::time);
  return found;
}

}  // namespace howard::profiler
