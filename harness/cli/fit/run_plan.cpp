// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/fit/run_plan.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/error.h"
#include "engines/autograd/averaged_gradients.h"
#include "engines/autograd/host_values.h"
#include "engines/autograd/step_recorder.h"
#include "engines/autograd/training_step.h"
#include "engines/device/collective.h"
#include "engines/training/optimizers.h"
#include "engines/training/recipe_model.h"
#include "engines/wormhole/dispatch/footprint.h"
#include "engines/wormhole/wormhole_device.h"
#include "profiler/memory_recorder.h"

namespace howard::cli {
namespace {

/// This is more than any run takes, so that its need is known even where it does not fit.
constexpr Bytes kEndless{std::int64_t{1} << 56};

wormhole::Profiles with_endless_dram(wormhole::Profiles profiles) {
  profiles.chip.dram_capacity = kEndless;
  return profiles;
}

/// Emulates a run on one chip of the mesh; all others do the same.
class EmulatedRun {
 public:
  EmulatedRun(const RunSetting& setting, const wormhole::Profiles& profiles, MemorySink* memory)
      : recipe_(setting.recipe),
        chip_(profiles, {.memory = memory}),
        tensor_(chip_, 0, setting.tp, 0),
        data_(chip_, 1, static_cast<int>(setting.ddp), 0) {
    recipe_.batch /= setting.ddp;
    chip_.begin_phase("model");
    model_ = training::make_model(chip_, recipe_, setting.vocabulary, &tensor_);
    chip_.begin_phase("optimizer");
    const autograd::Calls calls(chip_);
    optimizer_ = training::make_optimizer(recipe_, calls, model_->parameters(), false);
    averaged_ =
        std::make_unique<autograd::AveragedGradients>(*optimizer_, model_->parameters(), data_);
    step_ = autograd::training_step(
        [this](autograd::Tape& tape, int) {
          return model_->loss(tape, model_->tokens(), model_->targets());
        },
        *averaged_,
        {.tape = {.calls = {.products = models::kTtmlProducts}, .compute = recipe_.dtype},
         .batches = recipe_.accumulate});
  }

  /// Runs an update, with its data and the loss that is read at its end.
  SimTime update() {
    const SimTime start = chip_.now();
    CommandQueue& queue = chip_.command_queue(0);
    const std::vector<std::uint32_t> data(
        static_cast<std::size_t>(recipe_.batch * recipe_.sequence));
    for (int i = 0; i < recipe_.accumulate; ++i) {
      autograd::write_indices(queue, model_->tokens(), data);
      autograd::write_indices(queue, model_->targets(), data);
    }
    static_cast<void>(autograd::read_values(queue, step_(chip_)));
    return chip_.now() - start;
  }

  /// Describes the programs of an update.
  void describe(const wormhole::Profiles& profiles, RunPlan& plan) {
    autograd::StepRecorder recorder(chip_);
    static_cast<void>(step_(recorder));
    const std::size_t update = recorder.phases().back().first;
    for (std::size_t i = 0; i < recorder.programs().size(); ++i) {
      const Program& program = recorder.programs()[i];
      SimTime& exchanged = i < update ? plan.exchanges : plan.sums;
      for (const wormhole::PlannedProgram& launch : chip_.launches(program)) {
        plan.trace += wormhole::trace_bytes(launch.footprint, profiles.software);
        ++plan.launches;
        if (collective_of(program)) {
          exchanged += launch.kernel.total;
          continue;
        }
        plan.kernels += launch.kernel.total;
        plan.kernels_by_op[std::string(launch.name)] += launch.kernel.total;
      }
    }
    const auto whole = training::make_model(recorder, recipe_, plan.setting.vocabulary, nullptr);
    for (const autograd::Parameter* parameter : whole->parameters()) {
      plan.parameters += parameter->value.spec().shape.elements();
    }
  }

  Bytes peak() const {
    Bytes most;
    for (const MemoryPhase& phase : chip_.memory_phases()) most = std::max(most, phase.peak);
    return most;
  }

 private:
  training::Recipe recipe_;
  wormhole::WormholeDevice chip_;
  autograd::DeviceGroup tensor_, data_;
  std::unique_ptr<models::LanguageModel> model_;
  std::unique_ptr<autograd::Optimizer> optimizer_, averaged_;
  autograd::StepFunction step_;
};

/// Plans a run with `batches` batches; its step is the second update.
RunPlan measured(RunSetting setting, int batches, const wormhole::Profiles& profiles,
                 profiler::MemoryRecorder* memory) {
  setting.recipe.accumulate = batches;
  RunPlan plan{.setting = setting};
  if (memory != nullptr) memory->open("model");
  EmulatedRun run(setting, with_endless_dram(profiles), memory);
  static_cast<void>(run.update());
  if (memory != nullptr) {
    memory->close();
    plan.memory = memory->use();
  }
  plan.step = run.update();
  plan.peak = run.peak();
  run.describe(profiles, plan);
  return plan;
}

}  // namespace

std::int64_t RunPlan::tokens() const {
  const training::Recipe& recipe = setting.recipe;
  return recipe.batch * recipe.sequence * recipe.accumulate;
}

double RunPlan::tokens_per_second() const {
  return step > SimTime() ? static_cast<double>(tokens()) / step.seconds() : 0;
}

double RunPlan::flops() const {
  const training::Recipe& recipe = setting.recipe;
  const double attention = 12.0 * recipe.layers * static_cast<double>(recipe.width) *
                           static_cast<double>(recipe.sequence);
  return (6 * static_cast<double>(parameters) + attention) * static_cast<double>(tokens());
}

double RunPlan::share_of_peak() const {
  const double most = peak_flops * static_cast<double>(setting.chips()) * step.seconds();
  return most > 0 ? flops() / most : 0;
}

RunPlan plan_run(const RunSetting& setting, const wormhole::Profiles& profiles, bool with_memory) {
  profiler::MemoryRecorder memory;
  const int batches = setting.recipe.accumulate;
  RunPlan plan{.setting = setting};
  try {
    plan = measured(setting, std::min(batches, 2), profiles, with_memory ? &memory : nullptr);
    if (batches > 2) {
      const RunPlan one = measured(setting, 1, profiles, nullptr);
      const int more = batches - 2;
      plan.step += (plan.step - one.step) * more;
      plan.kernels += (plan.kernels - one.kernels) * more;
      plan.trace += (plan.trace - one.trace) * more;
      plan.launches += (plan.launches - one.launches) * static_cast<std::size_t>(more);
      plan.exchanges += (plan.exchanges - one.exchanges) * more;
      for (auto& [op, time] : plan.kernels_by_op) {
        const auto found = one.kernels_by_op.find(op);
        const SimTime first = found == one.kernels_by_op.end() ? SimTime() : found->second;
        time += (time - first) * more;
      }
    }
  } catch (const Error& failure) {
    plan.clash = failure.what();
  }
  plan.setting = setting;
  plan.capacity = profiles.chip.dram_capacity - profiles.software.trace_region;
  const CoreGrid grid = profiles.chip.compute_grid(wormhole::DispatchCoreType::worker);
  plan.peak_flops = profiles.chip.peak_flops(grid.cores(), MathFidelity::hifi4);
  return plan;
}

}  // namespace howard::cli
