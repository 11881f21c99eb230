// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engines/autograd/parameter.h"
#include "engines/autograd/recorder.h"
#include "engines/models/gpt2.h"
#include "engines/models/mlp.h"
#include "engines/models/nano_gpt.h"

namespace howard::experiments {

/// A model on a device with its optimizer, as one function. What it starts from is written where
/// the device holds values.
struct Training {
  autograd::StepFunction step;
  std::vector<autograd::Parameter*> parameters;
  std::shared_ptr<void> model;  ///< And optimizer; they live as long as this.
};

/// With SGD at the report's learning rate, 0.01, as all of its engines. `products`: how matrices
/// are multiplied.
Training train_mlp(Device& device, const models::MlpOptions& options,
                   models::MlpFunctions functions, const MatmulAttributes& products = {});
/// The report's Python engine: two layers without biases whose 20 calls of a step are made from
/// Python. The device's host is told so of each; the calls themselves are made from here.
Training train_python_mlp(Device& device, std::int64_t batch, std::int64_t width);
Training train_gpt2(Device& device, const models::Gpt2Options& options,
                    const MatmulAttributes& products = {});

/// TTML's training: AdamW made of small ops, products at the highest fidelity.
Training train_nano_gpt(Device& device, const models::NanoGptOptions& options);

}  // namespace howard::experiments
