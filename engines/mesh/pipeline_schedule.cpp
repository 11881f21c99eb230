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

/// Holds when the input of each part's pass of each micro-batch has arrived; absent means not yet.
using Arrivals = std::vector<std::vector<std::optional<SimTime>>>;

/// Returns the pass that is number `index` of all forward passes of a stage, or of all its backward
/// passes.
PipelinePass pass_at(const PipelineOrder& order, bool forward, int index) {
  const int group = index / order.parts();
  const int within = index % order.parts();
  const int chunk = within / order.stages;
  return {.forward = forward,
          .micro_batch = group * order.stages + within % order.stages,
          .chunk = forward ? chunk : order.chunks - 1 - chunk};
}

/// Returns how many forward passes a stage makes before its first one back.
int passes_ahead(const PipelineOrder& order, int stage) {
  if (order.schedule == PipelineSchedule::sequential) return 1;
  if (order.schedule == PipelineSchedule::gpipe) return order.micro_batches;
  const int below = order.stages - stage - 1;
  if (order.chunks == 1) return below + 1;
  return 2 * below + (order.chunks - 1) * order.stages + 1;
}

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
               .accepted = "ttml, gpipe, 1f1b"});
}

std::vector<int> blocks_of_parts(std::span<const int> blocks, int chunks) {
  std::vector<int> parts;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    for (const int count : blocks) {
      parts.push_back(count / chunks + (chunk < count % chunks ? 1 : 0));
    }
  }
  return parts;
}

std::vector<PipelinePass> passes_of(const PipelineOrder& order, int stage) {
  HOWARD_CHECK(order.is_possible(), "an order that lets all passes go on");
  // All schedules are one pattern: some passes forward, then one back and one forward in turn.
  const int ahead = passes_ahead(order, stage);
  const int count = order.micro_batches * order.chunks;
  std::vector<PipelinePass> passes;
  int next = 0;
  for (int done = 0; done < count; ++done) {
    while (next < std::min(done + ahead, count)) passes.push_back(pass_at(order, true, next++));
    passes.push_back(pass_at(order, false, done));
  }
  return passes;
}

int most_alive(const PipelineOrder& order, int stage) {
  int alive = 0;
  int most = 0;
  for (const PipelinePass& pass : passes_of(order, stage)) {
    alive += pass.forward ? 1 : -1;
    most = std::max(most, alive);
  }
  return most;
}

std::vector<StageAccount> run_pipeline(const PipelineOrder& order,
                                       std::span<const PassTimes> parts) {
  HOWARD_CHECK(std::ssize(parts) == order.parts(), "each part of a pipeline has its times");
  const auto count = static_cast<std::size_t>(order.stages);
  std::vector<std::vector<PipelinePass>> passes;
  for (int i = 0; i < order.stages; ++i) passes.push_back(passes_of(order, i));
  const std::vector<std::optional<SimTime>> nothing(static_cast<std::size_t>(order.micro_batches));
  Arrivals activations(parts.size(), nothing), gradients(parts.size(), nothing);
  activations.front().assign(nothing.size(), SimTime());
  std::vector<StageAccount> accounts(count);
  std::vector<std::size_t> next(count, 0);
  /// Lets a stage make its next pass. Returns whether it could.
  const auto advance = [&](std::size_t i) {
    if (next[i] == passes[i].size()) return false;
    const PipelinePass pass = passes[i][next[i]];
    const auto micro_batch = static_cast<std::size_t>(pass.micro_batch);
    const std::size_t part = static_cast<std::size_t>(pass.chunk) * count + i;
    const bool last = part + 1 == parts.size();
    // The last part's backward pass needs its own forward pass, which is over.
    const std::optional<SimTime> ready = pass.forward ? activations[part][micro_batch]
                                         : last       ? accounts[i].end
                                                      : gradients[part][micro_batch];
    if (!ready) return false;
    const SimTime took = pass.forward ? parts[part].forward : parts[part].backward;
    SimTime end = std::max(accounts[i].end, *ready) + took;
    accounts[i].computing += took;
    const bool sends = pass.forward ? !last : part > 0;
    if (sends) {
      end += parts[part].send;
      accounts[i].sending += parts[part].send;
      (pass.forward ? activations[part + 1] : gradients[part - 1])[micro_batch] = end;
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
