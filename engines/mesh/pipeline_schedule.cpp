// SPDX-License-Identifier: Apache-2.0
#include "engines/mesh/pipeline_schedule.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/error.h"

namespace howard::mesh {
namespace {

constexpr std::array<std::pair<PipelineSchedule, std::string_view>, 3> kScheduleNames{
    {{PipelineSchedule::sequential, "ttml"},
     {PipelineSchedule::gpipe, "gpipe"},
     {PipelineSchedule::one_forward_one_back, "1f1b"}}};

/// Holds when the input of each stage's pass of each micro-batch has arrived; absent means not yet.
using Arrivals = std::vector<std::vector<std::optional<SimTime>>>;

}  // namespace

std::string_view name_of(PipelineSchedule schedule) {
  return kScheduleNames[static_cast<std::size_t>(schedule)].second;
}

PipelineSchedule parse_pipeline_schedule(std::string_view word) {
  for (const auto& [schedule, name] : kScheduleNames) {
    if (name == word) return schedule;
  }
  throw Error({.attempted = "choose the schedule of a pipeline",
               .value = "'" + std::string(word) + "'",
               .accepted = "ttml, gpipe, 1f1b",
               .hint = ""});
}

std::vector<PipelinePass> passes_of(PipelineSchedule schedule, int stages, int stage,
                                    int micro_batches) {
  // All three schedules are one pattern: some passes forward, then one back and one forward in
  // turn.
  int ahead = 1;
  if (schedule == PipelineSchedule::gpipe) ahead = micro_batches;
  if (schedule == PipelineSchedule::one_forward_one_back) ahead = stages - stage;
  std::vector<PipelinePass> passes;
  int next = 0;
  for (int done = 0; done < micro_batches; ++done) {
    while (next < std::min(done + ahead, micro_batches)) passes.push_back({true, next++});
    passes.push_back({false, done});
  }
  return passes;
}

int most_alive(PipelineSchedule schedule, int stages, int stage, int micro_batches) {
  int alive = 0;
  int most = 0;
  for (const PipelinePass& pass : passes_of(schedule, stages, stage, micro_batches)) {
    alive += pass.forward ? 1 : -1;
    most = std::max(most, alive);
  }
  return most;
}

std::vector<StageAccount> run_pipeline(PipelineSchedule schedule,
                                       std::span<const StageTimes> stages, int micro_batches) {
  const std::size_t count = stages.size();
  std::vector<std::vector<PipelinePass>> passes;
  for (std::size_t i = 0; i < count; ++i) {
    passes.push_back(
        passes_of(schedule, static_cast<int>(count), static_cast<int>(i), micro_batches));
  }
  const std::vector<std::optional<SimTime>> nothing(static_cast<std::size_t>(micro_batches));
  Arrivals activations(count, nothing), gradients(count, nothing);
  activations.front().assign(nothing.size(), SimTime());
  std::vector<StageAccount> accounts(count);
  std::vector<std::size_t> next(count, 0);
  /// Lets a stage make its next pass. Returns whether it could.
  const auto advance = [&](std::size_t i) {
    if (next[i] == passes[i].size()) return false;
    const PipelinePass pass = passes[i][next[i]];
    const auto micro_batch = static_cast<std::size_t>(pass.micro_batch);
    const bool last = i + 1 == count;
    // The last stage's backward pass needs its own forward pass, which is over.
    const std::optional<SimTime> ready = pass.forward ? activations[i][micro_batch]
                                         : last       ? accounts[i].end
                                                      : gradients[i][micro_batch];
    if (!ready) return false;
    const SimTime took = pass.forward ? stages[i].forward : stages[i].backward;
    SimTime end = std::max(accounts[i].end, *ready) + took;
    accounts[i].computing += took;
    const bool sends = pass.forward ? !last : i > 0;
    if (sends) {
      end += stages[i].send;
      accounts[i].sending += stages[i].send;
      (pass.forward ? activations[i + 1] : gradients[i - 1])[micro_batch] = end;
    }
    accounts[i].end = end;
    ++next[i];
    return true;
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t i = 0; i < count; ++i) {
      while (advance(i)) moved = true;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    HOWARD_CHECK(next[i] == passes[i].size(), "each pass of a pipeline gets what it needs");
  }
  return accounts;
}

}  // namespace howard::mesh
