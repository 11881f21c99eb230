// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "experiments/training.h"

namespace howard::experiments {

/// The report's Python engine: an MLP of two layers without biases whose 20 calls of a step,
/// closures and graph included, are made from Python. The device's host is told so of each call;
/// the calls themselves are made from here.
Training train_python_mlp(Device& device, std::int64_t batch, std::int64_t width);

}  // namespace howard::experiments
