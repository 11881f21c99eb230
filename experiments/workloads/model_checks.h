// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engines/device/device.h"

namespace howard::experiments {

/// "mlp", "gpt2", "nano_gpt": small ones, of every function that the large ones have.
const std::vector<std::string>& checked_models();

/// How far the gradients of all parameters are from float64.
struct ModelFinding {
  /// The largest difference of an element over the largest element of its parameter's gradient.
  double max_difference = 0;
  std::string worst_parameter;
  std::size_t parameters = 0;  ///< Tensors.
  std::size_t elements = 0;    ///< Of all of them.
  bool engines_agree = false;  ///< Dynamic, static and traced, to the bit.
  double allowed = 0;          ///< For it to pass.
  bool passes = false;         ///< Everywhere and with every engine.
};

/// Runs one step of each engine on `device`, in `dtype` with float32 parameters, and takes the
/// gradients from how SGD changed the parameters, the only thing that all engines leave behind; the
/// reference is the same step in float64, with results rounded to the data type that they are
/// stored in. Error for an unknown model, or a gradient that is not finite.
ModelFinding check_model(Device& device, std::string_view model, DataType dtype,
                         std::uint32_t seed);

}  // namespace howard::experiments
