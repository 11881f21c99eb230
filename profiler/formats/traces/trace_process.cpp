// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/traces/trace_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "profiler/timeline.h"

namespace howard::profiler {
namespace {

std::string microseconds(SimTime time) {
  constexpr double kPicosecondsPerMicrosecond = 1e6;
  return fmt::format("{:.3f} us", static_cast<double>(time.ps()) / kPicosecondsPerMicrosecond);
}

/// Returns "4.310 us: host issuing 3.900 us, go latency 0.410 us", with the longest cause first.
std::string text_of(SimTime gap, const CauseTimes& causes) {
  std::vector<std::pair<SimTime, std::string_view>> parts;
  for (std::size_t i = 0; i < kGapCauses; ++i) {
    const auto cause = static_cast<GapCause>(i);
    if (causes[cause] > SimTime()) parts.emplace_back(causes[cause], name_of(cause));
  }
  std::ranges::stable_sort(parts, std::ranges::greater(),
                           [](const auto& part) { return part.first; });
  std::string text = microseconds(gap);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    text +=
        fmt::format("{}{} {}", i == 0 ? ": " : ", ", parts[i].second, microseconds(parts[i].first));
  }
  return text;
}

/// Returns "1024x512 bfloat16", without dimensions of 1 in front of the matrix.
std::string text_of(const TensorFacts& tensor) {
  std::size_t first = 0;
  while (first + 2 < tensor.dimensions.size() && tensor.dimensions[first] == 1) ++first;
  std::string text;
  for (std::size_t i = first; i < tensor.dimensions.size(); ++i) {
    text += fmt::format("{}{}", text.empty() ? "" : "x", tensor.dimensions[i]);
  }
  return fmt::format("{} {}", text, tensor.dtype);
}

std::string text_of(const std::vector<TensorFacts>& tensors) {
  std::string text;
  for (const TensorFacts& tensor : tensors) text += (text.empty() ? "" : ", ") + text_of(tensor);
  return text;
}

void add_facts(const ProgramFacts& facts, std::vector<SpanNote>& notes) {
  const auto add = [&](std::string_view name, std::uint64_t value) {
    if (value > 0) notes.push_back({name, value});
  };
  const auto add_text = [&](std::string_view name, std::string text) {
    if (!text.empty()) notes.push_back({name, std::move(text)});
  };
  add_text("operation", std::string(facts.operation));
  // A device that does not know its results does not know the shapes of its operands either.
  if (!facts.outputs.empty()) {
    add_text("shapes", text_of(facts.inputs) + " -> " + text_of(facts.outputs));
  } else if (!facts.inputs.empty()) {
    add_text("dtype", std::string(facts.inputs.front().dtype));
  }
  add_text("fidelity", std::string(facts.fidelity));
  add("flops", static_cast<std::uint64_t>(facts.work.flops.value()));
  add("dram_bytes", static_cast<std::uint64_t>(facts.work.dram.value()));
  add("core_count", static_cast<std::uint64_t>(std::max(facts.work.cores, 0)));
  add_text("longest_stage", std::string(facts.work.limited_by));
}

bool is_kernel(const TimelineEvent& event) {
  const TrackKind place = event.track.kind;
  return event.category == category::kKernel && event.program != 0 &&
         (place == TrackKind::sub_device || place == TrackKind::command_queue);
}

/// Says how the number of waiting commands changes.
struct Step {
  SimTime time;
  std::int64_t change = 0;
};

std::vector<QueueLevel> levels_of(std::vector<Step> steps, SimTime origin) {
  std::ranges::stable_sort(steps, {}, &Step::time);
  std::vector<QueueLevel> levels;
  std::int64_t waiting = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    waiting += steps[i].change;
    if (i + 1 < steps.size() && steps[i + 1].time == steps[i].time) continue;
    const bool same = !levels.empty() && levels.back().waiting == waiting;
    if (!same) levels.push_back({steps[i].time - origin, waiting});
  }
  return levels;
}

}  // namespace

TraceView::TraceView(const TraceProcess& process)
    : process_(process), tracks_(by_track(process.events)) {
  const auto first = std::ranges::min_element(process.events, {}, &TimelineEvent::start);
  if (first != process.events.end()) origin_ = first->start;
  find_cores(process.events);
  explain(process);
}

void TraceView::find_cores(std::span<const TimelineEvent> events) {
  std::uint64_t program = 0;
  Cores* cores = nullptr;  // of that program, because events of one mostly follow each other
  for (const TimelineEvent& event : events) {
    if (event.track.kind != TrackKind::core || event.program == 0) continue;
    const int x = core_x(event.track.index);
    const int y = core_y(event.track.index);
    if (cores == nullptr || event.program != program) {
      program = event.program;
      cores = &cores_.try_emplace(program, Cores{x, y, x, y}).first->second;
    }
    *cores = {std::min(cores->left, x), std::min(cores->top, y), std::max(cores->right, x),
              std::max(cores->bottom, y)};
  }
}

/// Takes gaps and queues as the analyses see them. Events that cannot have happened explain
/// nothing.
void TraceView::explain(const TraceProcess& process) {
  const Timeline timeline = unchecked_timeline_of(process.events, process.losses);
  if (!defects_of(timeline).empty()) return;
  for (const BusyLane& lane : find_gaps(timeline, LaneKind::sub_device)) {
    for (std::size_t i = 0; i < lane.gaps.size(); ++i) {
      gaps_[timeline.programs[lane.gaps[i].after].number] = {lane.gaps[i].span.duration(),
                                                             lane.causes_of(i)};
    }
  }
  std::map<std::uint16_t, std::vector<Step>> steps;
  for (const ProgramRun& program : timeline.programs) {
    if (!program.host_call) continue;
    const SimTime taken = program.dispatch ? program.dispatch->start : program.kernel.start;
    const SimTime issued = std::min(program.host_call->end, taken);
    steps[program.queue].push_back({issued, 1});
    steps[program.queue].push_back({taken, -1});
  }
  for (auto& [queue, some] : steps) queues_[queue] = levels_of(std::move(some), origin_);
}

std::vector<SpanNote> TraceView::notes_of(const TimelineEvent& event) const {
  std::vector<SpanNote> notes;
  if (!is_kernel(event)) return notes;
  const ProgramFacts* const facts = process_.facts ? process_.facts(event.program) : nullptr;
  if (facts != nullptr) add_facts(*facts, notes);
  if (const auto found = cores_.find(event.program); found != cores_.end()) {
    const Cores& cores = found->second;
    notes.push_back({"cores", fmt::format("({},{})-({},{})", cores.left, cores.top, cores.right,
                                          cores.bottom)});
  }
  if (const GapBefore* const gap = gap_before(event)) {
    notes.push_back({"gap_before_ps", static_cast<std::uint64_t>(gap->length.ps())});
    notes.push_back({"gap_before", text_of(gap->length, gap->causes)});
  }
  return notes;
}

const GapBefore* TraceView::gap_before(const TimelineEvent& event) const {
  if (!is_kernel(event)) return nullptr;
  const auto found = gaps_.find(event.program);
  return found == gaps_.end() ? nullptr : &found->second;
}

std::string name_of_level(std::uint16_t queue) {
  return fmt::format("command queue {}: commands waiting", queue);
}

}  // namespace howard::profiler
