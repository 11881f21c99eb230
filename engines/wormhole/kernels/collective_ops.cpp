// SPDX-License-Identifier: Apache-2.0
#include "engines/wormhole/kernels/collective_ops.h"

#include <algorithm>

#include "engines/wormhole/chip_links.h"
#include "engines/wormhole/kernels/work_split.h"

namespace howard::wormhole {
namespace {

/// Returns how many cores move data in one direction of a link. ttnn chooses the number by the
/// bytes that pass the link (tt-metal's all_gather_async and reduce_scatter_minimal_async on a
/// line).
int workers(const Collective& collective, Bytes passing) {
  const std::int64_t bytes = passing.value();
  constexpr std::int64_t kKib = 1024;
  if (collective.gathers) return bytes > 256 * kKib ? 4 : bytes > 4 * kKib ? 2 : 1;
  if (bytes > 4096 * kKib) return 8;
  return bytes >= 512 * kKib ? 4 : bytes > 4 * kKib ? 2 : 1;
}

}  // namespace

PlannedProgram plan_collective(const Program& program, const Collective& collective, CoreGrid grid,
                               const Profiles& profiles) {
  const TensorSpec& in = program.inputs[0].spec;
  const TensorSpec& out = program.outputs[0].spec;
  const Bytes whole = collective.gathers ? out.padded_bytes() : in.padded_bytes();
  const int chips = collective.devices;
  const Bytes passing(whole.value() * (chips - 1) / chips);
  constexpr int kDirections = 2;
  const int movers = workers(collective, passing);
  // Several workers of one direction share the link through one more core.
  const int cores = std::min(kDirections * (movers + (movers > 1 ? 1 : 0)), grid.cores());
  constexpr int kCircularBuffers = 4;
  const SimTime total = half_all_reduce_time(profiles.software.all_reduce, chips, chips - 1, whole);
  const SimTime start =
      half_all_reduce_time(profiles.software.all_reduce, chips, chips - 1, Bytes());
  return {.name = program.name,
          .footprint = op_footprint(cores, 1, profiles.software.ttnn_other_arguments,
                                    kCircularBuffers, profiles.software),
          .kernel = {.compute_start = start,
                     .reads_end = total,
                     .first_write = start,
                     .math_end = total,
                     .total = total,
                     .unshared = total,
                     .dram = in.padded_bytes() + out.padded_bytes(),
                     .grid = grid,
                     .cores = cores,
                     .bottleneck = Bottleneck::output_writes}};
}

}  // namespace howard::wormhole
