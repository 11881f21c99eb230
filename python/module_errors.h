// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declared here so that this header can be read without Python's.
namespace pybind11 __attribute__((visibility("hidden"))) {
  class module_;
}

namespace howard::python {

/// Adds howard.Error, which Errors become: a RuntimeError whose text is the whole sentence, with
/// its four parts as attributes.
void bind_errors(pybind11::module_& module);

}  // namespace howard::python
