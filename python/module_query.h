// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declared here so that this header does not need Python's headers.
namespace pybind11 __attribute__((visibility("hidden"))) {
  class module_;
}

namespace howard::python {

/// Adds _OpModel, on which howard/_op.py asks what ops take.
void bind_queries(pybind11::module_& module);

}  // namespace howard::python
