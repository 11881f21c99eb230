// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engines/autograd/parameter.h"
#include "engines/autograd/steps/step_recorder.h"
#include "engines/models/gpt2.h"
#include "engines/models/mlp.h"
#include "engines/training/recipe.h"

namespace howard::experiments {

/// Holds a model on a device with its optimizer, as one function. Its initial values are written if
/// the device holds values.
struct Training {
  autograd::StepFunction step;
  std::vector<autograd::Parameter*> parameters;
  std::shared_ptr<void> model;  ///< The model and the optimizer, which live as long as this.
};

/// Trains with SGD at the report's learning rate, 0.01, as all of its engines do. `products` says
/// how matrices are multiplied.
Training train_mlp(Device& device, const models::MlpOptions& options,
                   models::MlpFunctions functions, const MatmulAttributes& products = {});
/// Trains as the report's Python engine: two layers without biases whose 20 calls of a step are
/// made from Python. The calls are made from here, and the device's host is told of each that it
/// came from Python.
Training train_python_mlp(Device& device, std::int64_t batch, std::int64_t width);
Training train_gpt2(Device& device, const models::Gpt2Options& options,
                    const MatmulAttributes& products = {});

/// Trains as TTML does, with products at the highest math fidelity, on random tokens that it learns
/// by heart. The batches of an update are one.
Training train_ttml(Device& device, const training::Recipe& recipe);

}  // namespace howard::experiments
