// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declared here so that this header can be read without Python's.
namespace pybind11 __attribute__((visibility("hidden"))) {
  class module_;
}

namespace howard::python {

/// Adds Graph, Variable and Optimizer: the autograd engine, which howard.ttml is made on.
void bind_autograd(pybind11::module_& module);

}  // namespace howard::python
