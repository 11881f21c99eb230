// SPDX-License-Identifier: Apache-2.0
#include "experiments/training_plan/planned_chip.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "engines/autograd/host_values.h"
#include "engines/autograd/steps/traced_step.h"
#include "engines/chip/chip_links.h"
#include "engines/program/program.h"
#include "experiments/cases/kernel_account.h"

namespace howard::experiments {
namespace {

/// This is more than any run takes.
constexpr Bytes kEndless{std::int64_t{1} << 56};

/// The sum of one gradient over chips.
struct GradientSum {
  SimTime ready, time;
};

}  // namespace

SimTime scaled(SimTime time, double factor) {
  return SimTime::picoseconds(std::llround(static_cast<double>(time.ps()) * factor));
}

chip::Profiles planned_profiles(const RunSetting& setting, chip::Profiles profiles) {
  profiles.chip.dram_capacity = kEndless;
  const bool calls = setting.engine == training::Engine::dynamic && !setting.replayed;
  return chip::of_mesh(std::move(profiles), calls ? setting.plan.devices() : 1);
}

void write_data(CommandQueue& queue, const ops::Tensor& to) {
  const auto elements = static_cast<std::size_t>(to.spec().shape.elements());
  autograd::write_indices(queue, to, std::vector<std::uint32_t>(elements));
}

void read_losses(CommandQueue& queue, const ops::Tensor& loss, int chips) {
  for (int i = 0; i < chips; ++i) {
    queue.finish();
    static_cast<void>(autograd::read_values(queue, loss));
  }
}

Bytes peak_of(const chip::EmulatedChip& chip) {
  Bytes most;
  for (const MemoryPhase& phase : chip.memory_phases()) most = std::max(most, phase.peak);
  return most;
}

SimTime replay_time(chip::EmulatedChip& chip, const autograd::StepFunction& step) {
  RepeatedStep repeated(chip, step);
  autograd::TracedStep replay(chip, repeated);
  CommandQueue& queue = chip.command_queue(0);
  queue.finish();
  const SimTime start = chip.now();
  replay.run();
  queue.finish();
  return chip.now() - start;
}

SimTime hidden_sums(chip::EmulatedChip& chip, const autograd::StepRecorder& step,
                    std::size_t update, SimTime elapsed) {
  const std::vector<Program>& programs = step.programs();
  std::map<BufferId, SimTime> written;  // when the passes write each buffer last, in kernel time
  SimTime kernels;
  for (std::size_t i = 0; i < update; ++i) {
    kernels += kernel_time_of(chip, programs[i]);
    for (const Operand& output : programs[i].outputs) written[output.buffer] = kernels;
  }
  std::vector<GradientSum> sums;
  SimTime all;
  for (std::size_t i = update; i < programs.size(); ++i) {
    if (!is_collective(programs[i].attributes)) continue;
    const SimTime time = kernel_time_of(chip, programs[i]);
    all += time;
    // The first collective of a sum reads the gradient, and the second one what the first one made.
    const auto gradient = written.find(programs[i].inputs[0].buffer);
    if (gradient != written.end()) {
      sums.push_back({gradient->second, time});
    } else if (!sums.empty()) {
      sums.back().time += time;
    }
  }
  if (kernels == SimTime() || sums.empty()) return {};
  std::ranges::stable_sort(sums, {}, &GradientSum::ready);
  const double stretch = elapsed.seconds() / kernels.seconds();
  SimTime end;
  for (const GradientSum& sum : sums) end = std::max(end, scaled(sum.ready, stretch)) + sum.time;
  return all - std::max(end - elapsed, SimTime());
}

}  // namespace howard::experiments
