// SPDX-License-Identifier: Apache-2.0
#include "profiler/time_account.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "profiler/dispatch_gaps.h"
#include "profiler/gap_causes.h"

namespace howard::profiler {
namespace {

/// Returns what the host was still waiting for or doing when the window ended. That counts as if it
/// had been a gap before a call.
CauseTimes after_the_last(const GapCauses& causes, const Span& tail, const ProgramRun& last) {
  return causes.explain(tail, last, ProgramRun{.host_call = Span{tail.end, tail.end}});
}

/// Returns the length of the union of `spans` within the window.
SimTime covered(std::vector<Span> spans, const Span& window) {
  std::ranges::sort(spans, {}, &Span::start);
  SimTime sum;
  SimTime reached = window.start;
  for (const Span& span : spans) {
    const SimTime start = std::max(span.start, reached);
    const SimTime end = std::min(span.end, window.end);
    if (end <= start) continue;
    sum += end - start;
    reached = end;
  }
  return sum;
}

SimTime host_working(const Timeline& timeline, const Span& window) {
  std::vector<Span> waits;
  for (const Activity& activity : timeline.activities) {
    if (activity.place == TrackKind::host_thread && activity.index == 0) {
      waits.push_back(activity.span);
    }
  }
  return window.duration() - covered(std::move(waits), window);
}

SimTime dispatcher_working(const Timeline& timeline, const Span& window) {
  std::vector<Span> dispatches;
  for (const ProgramRun& program : timeline.programs) {
    if (program.dispatch && program.queue == 0) dispatches.push_back(*program.dispatch);
  }
  return covered(std::move(dispatches), window);
}

class Accountant {
 public:
  Accountant(const Timeline& timeline, const Span& window, const WorkOfProgram& work)
      : timeline_(timeline), causes_(timeline), reached_(window.start) {
    std::vector<const ProgramRun*> order;
    for (const ProgramRun& program : timeline.programs) order.push_back(&program);
    std::ranges::stable_sort(order, {}, [](const ProgramRun* run) { return run->kernel.start; });
    for (const ProgramRun* const program : order) add(*program, work);
    const Span tail{reached_, window.end};
    HOWARD_CHECK(window.start <= tail.start && tail.start <= tail.end,
                 "the programs ran within the window");
    waiting_ += after_the_last(causes_, tail, last_);
    // The window repeats, so what follows its last program precedes the first one of the next.
    if (runs_.empty()) runs_.push_back({});
    runs_.front().idle_before += tail.duration();
  }

  TimeAccount account(const Span& window, int iterations) const {
    TimeAccount account{.time = SimTime::picoseconds(window.duration().ps() / iterations),
                        .iterations = iterations,
                        .window = window,
                        .costs = {},
                        .bottlenecks = find_bottlenecks(runs_),
                        .host_working = host_working(timeline_, window),
                        .dispatcher_working = dispatcher_working(timeline_, window)};
    for (std::size_t i = 0; i < kGapCauses; ++i) {
      const auto cause = static_cast<GapCause>(i);
      if (waiting_[cause] > SimTime()) {
        account.costs.push_back({std::string(name_of(cause)), true, 0, waiting_[cause]});
      }
    }
    for (const WorkSummary& op : account.bottlenecks.by_op) {
      if (op.busy() > SimTime()) account.costs.push_back({op.name, false, op.runs, op.busy()});
    }
    std::ranges::stable_sort(account.costs, std::greater(), &Cost::time);
    return account;
  }

 private:
  void add(const ProgramRun& program, const WorkOfProgram& work) {
    OpRun run{.name = timeline_.names.name(program.name)};
    if (program.kernel.start > reached_) {
      const Span gap{reached_, program.kernel.start};
      waiting_ += causes_.explain(gap, last_, program);
      run.idle_before = gap.duration();
      reached_ = program.kernel.start;
    }
    run.duration = std::max(program.kernel.end, reached_) - reached_;
    work(program.number, run);
    runs_.push_back(run);
    if (program.kernel.end < reached_) return;
    reached_ = program.kernel.end;
    last_ = program;
  }

  const Timeline& timeline_;
  GapCauses causes_;
  SimTime reached_;
  ProgramRun last_;  ///< The one of those so far that ends last.
  CauseTimes waiting_;
  std::vector<OpRun> runs_;
};

}  // namespace

SpentTime TimeAccount::spent(std::string_view kernel_word) const {
  return {.whole = window.duration().seconds(),
          .kernels = bottlenecks.all.busy().seconds(),
          .host = host_working.seconds(),
          .dispatcher = dispatcher_working.seconds(),
          .kernel_word = kernel_word};
}

Pace TimeAccount::pace() const {
  return window.duration() > SimTime() ? pace_of(spent({})) : Pace::neither;
}

std::string TimeAccount::bound() const {
  return worked_out ? costs.front().name : bound_by(spent(kernel_word()));
}

std::vector<Cost> TimeAccount::costs_of_iteration() const {
  std::vector<Cost> each = costs;
  // Each sum is rounded, not each cost, so that the costs still add up.
  SimTime sum, given;
  for (Cost& cost : each) {
    sum += cost.time;
    const SimTime rounded = SimTime::picoseconds(sum.ps() / iterations);
    cost.time = rounded - given;
    given = rounded;
  }
  return each;
}

std::string TimeAccount::kernel_word() const {
  std::string longest;
  for (const Cost& cost : costs) {
    if (cost.waiting) continue;
    if (!longest.empty()) return "kernels: " + longest;
    longest = cost.name;
  }
  const std::vector<WorkSummary::Stage>& stages = bottlenecks.all.stages;
  return stages.empty() ? "kernels: " + longest : stages.front().name;
}

Verdict TimeAccount::verdict() const {
  return pace() == Pace::neither ? bottlenecks.all.verdict() : Verdict::dispatch_bound;
}

TimeAccount account_for(const Timeline& timeline, const Span& window, const WorkOfProgram& work,
                        int iterations) {
  return Accountant(timeline, window, work).account(window, iterations);
}

}  // namespace howard::profiler
