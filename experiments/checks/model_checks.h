// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engines/device/device.h"

namespace howard::experiments {

/// Returns "mlp", "gpt2" and "nano_gpt": small models with every function that the large ones have.
const std::vector<std::string>& checked_models();

/// Says how far the gradients of all parameters are from float64.
struct ModelFinding {
  /// The largest difference of an element over the largest element of its parameter's gradient.
  double max_difference = 0;
  std::string worst_parameter;
  std::size_t parameters = 0;  ///< The number of tensors.
  std::size_t elements = 0;    ///< The number of elements of all tensors.
  bool engines_agree = false;  ///< Dynamic, static and traced agree to the bit.
  double allowed = 0;          ///< The largest difference that passes.
  bool passes = false;         ///< True if all parameters pass with every engine.
};

/// Runs one step of each engine on `device`, in `dtype` with float32 parameters. It takes the
/// gradients from how SGD changed the parameters, which is the only thing that all engines leave
/// behind. The reference is the same step in float64, with results rounded to the data type in
/// which they are stored. Throws Error for an unknown model, or a gradient that is not finite.
ModelFinding check_model(Device& device, std::string_view model, DataType dtype,
                         std::uint32_t seed);

}  // namespace howard::experiments
