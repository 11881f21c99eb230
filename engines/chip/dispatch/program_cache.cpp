// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/dispatch/program_cache.h"

#include <fmt/format.h>

#include <tuple>
#include <utility>

#include "base/error.h"
#include "engines/chip/dispatch/calls_of_chip.h"
#include "engines/chip/kernels/lowering.h"
#include "engines/chip/kernels/planner.h"

namespace howard::chip {
namespace {

void require_circular_buffers_fit(const PlannedProgram& planned, const DeviceMemory& memory) {
  const Bytes needed = planned.buffers.least;
  if (needed <= memory.l1_free()) return;
  throw Error({.attempted = fmt::format("run {}", planned.name),
               .value = fmt::format(
                   "its circular buffers need {} bytes of each core's L1, and {} are free{}",
                   needed.value(), memory.l1_free().value(), memory.l1_holders()),
               .accepted = "what tensors in L1 leave",
               .hint = planned.matmul ? "to move tensors to DRAM, or blocks of fewer tiles"
                                      : "to move tensors to DRAM"});
}

}  // namespace

bool ProgramCache::Less::operator()(const Key& a, const Key& b) const {
  const auto facts = [](const Key& key) {
    return std::tie(key.grid, key.l1_free, key.program.name);
  };
  if (const auto order = facts(a) <=> facts(b); order != 0) return order < 0;
  return CallOrder()(a.program, b.program);
}

const PlannedCall& ProgramCache::call(const Program& program, CoreGrid grid,
                                      const DeviceMemory& memory) {
  Key key{grid, memory.l1_free(), timing_key(program)};
  const auto cached = planned_.find(key);
  if (cached != planned_.end()) return cached->second;
  Profiles profiles = profiles_;
  profiles.chip.l1_circular_buffers = memory.l1_free();
  std::vector<LoweredLaunch> lowered = lower(key.program, grid, profiles);
  PlannedCall planned{.temporaries = temporary_bytes(lowered)};
  for (auto& [launch, matmul] : lowered) {
    planned.launches.push_back(plan_program(std::move(launch), grid, profiles, matmul));
    require_circular_buffers_fit(planned.launches.back(), memory);
  }
  return planned_.emplace(std::move(key), std::move(planned)).first->second;
}

}  // namespace howard::chip
