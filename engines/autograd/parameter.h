// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "engines/ops/tensor.h"

namespace howard::autograd {

/// What is trained.
struct Parameter {
  std::string name;  ///< "blocks.0.attention.weight"; unique in its model.
  ops::Tensor value;
  std::optional<ops::Tensor> gradient;  ///< Of what ran backward since it was last absent.
};

}  // namespace howard::autograd
