// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engines/autograd/calls.h"
#include "engines/autograd/optimizers/optimizer.h"
#include "engines/autograd/parameter.h"
#include "engines/training/recipe.h"

namespace howard::training {

/// Returns the parameters that are not frozen.
std::vector<autograd::Parameter*> trained_of(std::vector<autograd::Parameter*> parameters);

/// Makes the optimizer of a recipe, without clipping. It updates the parameters that are trained.
/// If `replayable`, what changes from step to step lies on the device. `parameters` must outlive
/// it. Throws Error for an AdamW that cannot be replayed: one in one program, with compensated
/// sums, or with a beta1 that changes.
std::unique_ptr<autograd::Optimizer> make_optimizer(const Recipe& recipe,
                                                    const autograd::Calls& calls,
                                                    std::vector<autograd::Parameter*> parameters,
                                                    bool replayable);

/// Returns the numbers of step `step`, from 1.
autograd::StepNumbers numbers_of(const Recipe& recipe, std::int64_t step);

/// A tensor that a checkpoint holds, with its name.
struct SavedTensor {
  std::string name;
  ops::Tensor tensor;
};

/// Returns the parameters, each followed by what `optimizer` keeps for it; null keeps nothing.
std::vector<SavedTensor> saved_tensors(const std::vector<autograd::Parameter*>& parameters,
                                       const autograd::Optimizer* optimizer);

}  // namespace howard::training
