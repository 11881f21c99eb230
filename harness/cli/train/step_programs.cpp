// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/train/step_programs.h"

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "engines/autograd/steps/step_recorder.h"
#include "engines/autograd/steps/training_step.h"
#include "engines/chip/kernels/lowering.h"
#include "engines/models/batch.h"
#include "engines/training/clipped.h"
#include "engines/training/optimizers.h"

namespace howard::cli {
namespace {

using ProgramKey = std::tuple<std::string, Attributes, std::vector<TensorSpec>>;

/// Returns what ttnn's program cache tells programs apart by.
ProgramKey key_of(const Program& program) {
  const Program timed = chip::timing_key(program);
  std::vector<TensorSpec> specs;
  for (const Operand& input : timed.inputs) specs.push_back(input.spec);
  for (const Operand& result : timed.outputs) specs.push_back(result.spec);
  return {std::string(timed.name), timed.attributes, std::move(specs)};
}

}  // namespace

StepPrograms step_programs(Device& device, const training::Recipe& recipe,
                           std::int64_t vocabulary) {
  autograd::StepRecorder recorder(device, autograd::StepRecorder::Reads::zeros);
  const auto model = models::make_model(recorder, recipe.model.with(vocabulary));
  const models::BatchTensors batch = models::own_batch(
      recorder, *model, recipe.examples ? models::Weights::given : models::Weights::none);
  const auto optimizer =
      training::make_optimizer(recipe, autograd::Calls(recorder), model->parameters(), false);
  training::Clipped clipped(*optimizer, model->parameters(), recipe.optimizer.clip,
                            /*reads_norm=*/true);
  const std::size_t set_up = recorder.programs().size();
  const autograd::StepFunction step = autograd::training_step(
      [&](autograd::Tape& tape, int) { return models::batch_loss(tape, *model, batch); },
      recipe.optimizer.clip > 0 ? clipped : *optimizer,
      {.tape = {.calls = {.products = models::kTtmlProducts}, .compute = recipe.model.compute},
       .batches = recipe.accumulate});
  static_cast<void>(step(recorder));
  StepPrograms found{.count = recorder.programs().size() - set_up};
  std::set<ProgramKey> keys;
  for (std::size_t i = 0; i < recorder.programs().size(); ++i) {
    const Program& program = recorder.programs()[i];
    keys.insert(key_of(program));
    if (i >= set_up) found.flops += program.flops;
  }
  found.different = keys.size();
  return found;
}

}  // namespace howard::cli
