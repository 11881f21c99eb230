// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declared here so that this header can be read without Python's.
namespace pybind11 __attribute__((visibility("hidden"))) {
  class module_;
}

namespace howard::python {

/// Adds what NumPy does not do for the values of the stand-in for ttnn: the catalogue's functions,
/// the rounding of data types, large products of matrices.
void bind_values(pybind11::module_& module);

/// Adds Chip, which runs and records what the stand-in for ttnn asks of a device.
void bind_chip(pybind11::module_& module);

}  // namespace howard::python
