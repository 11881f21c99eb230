// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engines/autograd/calls.h"

namespace howard::experiments {

/// Describes an input of a checked op.
struct CheckInput {
  enum class Kind : std::uint8_t { normal, constant, indices };

  Shape shape;
  Kind kind = Kind::normal;
  /// The standard deviation, the constant, or the number of indices.
  double value = 1;
  Layout layout = Layout::tile;
};

/// Describes a row of the report's table of gradients: one op alone, with the numbers on which it
/// was checked.
struct OpCheck {
  std::string_view op;
  std::vector<CheckInput> inputs;
  ops::Tensor (*run)(const autograd::Calls&, std::span<const ops::Tensor>);
  /// It passes where |difference| <= absolute + relative |reference|, as in the report.
  double relative = 0.1;
  double absolute = 0.05;
};

/// Returns the report's eleven ops, in its order and with its shapes: batch 32, sequence 64, width
/// 128, 4 heads.
const std::vector<OpCheck>& op_checks();

/// Says how far a device's numbers are from float64.
struct OpFinding {
  /// The reference is the op on the inputs before they were rounded, as in the report.
  double max_difference = 0;
  double kernel_difference =
      0;  ///< Against the op on the inputs that the device had: its arithmetic alone.
  double max_reference = 0;  ///< The largest magnitude in the first reference.
  bool passes = false;       ///< The first difference decides, for all elements.
  bool zeros_pass = false;   ///< True if a device that computes nothing would pass too.
};

/// Runs the op on `device` in `dtype`. `seed` makes the inputs.
OpFinding check_op(Device& device, const OpCheck& check, DataType dtype, std::uint64_t seed);

}  // namespace howard::experiments
