// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engines/autograd/calls.h"

namespace howard::experiments {

/// An input of a checked op.
struct CheckInput {
  enum class Kind : std::uint8_t { normal, constant, indices };

  Shape shape;
  Kind kind = Kind::normal;
  /// The standard deviation, the constant, or how many indices there are.
  double value = 1;
  Layout layout = Layout::tile;
};

/// A row of the report's table of gradients: one op alone, with what numbers it was checked on.
struct OpCheck {
  std::string_view op;
  std::vector<CheckInput> inputs;
  ops::Tensor (*run)(const autograd::Calls&, std::span<const ops::Tensor>);
  /// It passes where |difference| <= absolute + relative |reference|, as the report's.
  double relative = 0.1;
  double absolute = 0.05;
};

/// The report's eleven, in its order and with its shapes: batch 32, sequence 64, width 128, 4
/// heads.
const std::vector<OpCheck>& op_checks();

/// How far a device's numbers are from float64.
struct OpFinding {
  double max_difference = 0;  ///< From the op on the inputs before they were rounded: the report's.
  double kernel_difference =
      0;                     ///< From the op on the inputs the device had: its arithmetic alone.
  double max_reference = 0;  ///< The largest number of the first reference, without its sign.
  bool passes = false;       ///< By the first difference, everywhere.
  bool zeros_pass = false;   ///< So would a device that computes nothing.
};

/// Runs the op on `device` in `dtype`. `seed`: of the inputs.
OpFinding check_op(Device& device, const OpCheck& check, DataType dtype, std::uint64_t seed);

}  // namespace howard::experiments
