// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declared here so that this header does not need Python's headers.
namespace pybind11 __attribute__((visibility("hidden"))) {
  class module_;
}

namespace howard::python {

/// Adds howard.Error, a RuntimeError that C++ Errors are translated to. Its text is the whole
/// sentence, and its attributes are the four parts.
void bind_errors(pybind11::module_& module);

}  // namespace howard::python
