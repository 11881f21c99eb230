// SPDX-License-Identifier: Apache-2.0
#include "experiments/meshes/gradient_exchange.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/check.h"
#include "engines/chip/chip_links.h"
#include "experiments/cases/kernel_account.h"

namespace howard::experiments {
namespace {

SimTime share_of(SimTime step, double share) {
  return SimTime::picoseconds(std::llround(static_cast<double>(step.ps()) * share));
}

/// Returns the time of a sum through the host: one chip of each mesh is read, the host adds, and
/// all chips get the sum; boards transfer side by side. The time of the host's additions is not
/// known and not counted.
SimTime host_time(const chip::Profiles& profiles, const std::vector<ChipSet>& meshes, Bytes size) {
  const chip::Profiles remote = chip::behind_ethernet(profiles);
  const auto of = [&](int chip) -> const chip::Profiles& {
    return is_remote(chip) ? remote : profiles;
  };
  SimTime read;
  std::map<int, SimTime> written;  // keys are boards
  for (const ChipSet& mesh : meshes) {
    read = std::max(read, transfer_time(size, of(mesh.front()).chip.pcie_read) +
                              of(mesh.front()).software.host_finish);
    for (const int chip : mesh) {
      written[board_of(chip)] += transfer_time(size, of(chip).chip.pcie_write);
    }
  }
  SimTime write;
  for (const auto& [board, time] : written) write = std::max(write, time);
  return read + write;
}

}  // namespace

Bytes GradientWork::size() const {
  Bytes sum;
  for (const Gradient& gradient : gradients) sum += gradient.size;
  return sum;
}

GradientWork gradients_of(chip::EmulatedChip& chip, const autograd::StepRecorder& step) {
  // This is when the backward phase writes each, in picoseconds of kernels.
  std::map<BufferId, double> written;
  GradientWork work;
  double kernels = 0;
  for (std::size_t i = 0; i < step.phases().size(); ++i) {
    const autograd::StepRecorder::Phase& phase = step.phases()[i];
    const std::size_t end =
        i + 1 < step.phases().size() ? step.phases()[i + 1].first : step.programs().size();
    for (std::size_t p = phase.first; p < end; ++p) {
      const Program& program = step.programs()[p];
      kernels += static_cast<double>(kernel_time_of(chip, program).ps());
      for (const Operand& output : program.outputs) {
        if (phase.name == "backward") written[output.buffer] = kernels;
      }
      for (const Operand& input : program.inputs) {
        const auto gradient = written.find(input.buffer);
        if (phase.name != "step" || gradient == written.end()) continue;
        work.gradients.push_back({input.spec.padded_bytes(), gradient->second});
        // Each parameter counts once, however often the optimizer reads its gradient.
        written.erase(gradient);
      }
    }
    if (phase.name == "backward") work.backward_end = kernels;
  }
  HOWARD_CHECK(kernels > 0 && !work.gradients.empty(), "a training step makes gradients");
  for (Gradient& gradient : work.gradients) gradient.ready /= kernels;
  work.backward_end /= kernels;
  std::ranges::stable_sort(work.gradients, {}, &Gradient::ready);
  return work;
}

SimTime sum_time(const chip::Profiles& profiles, const ChipSet& chips, Bytes size) {
  const std::vector<ChipSet> meshes = split_by_mesh(chips);
  SimTime linked;
  for (const ChipSet& mesh : meshes) {
    linked = std::max(linked, chip::all_reduce_time(profiles, static_cast<int>(mesh.size()),
                                                    line_hops(mesh), size));
  }
  return meshes.size() == 1 ? linked : linked + host_time(profiles, meshes, size);
}

SimTime exchange_time(const chip::Profiles& profiles, const ChipSet& chips,
                      const GradientWork& work, SimTime step, bool overlapped) {
  const SimTime backward_end = share_of(step, work.backward_end);
  SimTime summed = overlapped ? SimTime() : backward_end;
  for (const Gradient& gradient : work.gradients) {
    summed =
        std::max(summed, share_of(step, gradient.ready)) + sum_time(profiles, chips, gradient.size);
  }
  return std::max(summed, backward_end) - backward_end;
}

}  // namespace howard::experiments
