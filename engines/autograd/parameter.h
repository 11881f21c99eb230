// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "engines/ops/tensor.h"

namespace howard::autograd {

class DeviceGroup;

/// A tensor that is trained.
struct Parameter {
  std::string name;  ///< "blocks.0.attention.weight"; unique in its model.
  ops::Tensor value;
  /// The sum of the gradients of all backward passes since it was last absent.
  std::optional<ops::Tensor> gradient;
  /// The devices that divide it; the value and the gradient are then this device's shares
  /// (divided_parameter.h). Null: this device has the whole.
  const DeviceGroup* sharers = nullptr;
  bool trained = true;  ///< If false, it is frozen: it gets no gradient.
};

}  // namespace howard::autograd
