// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declared here so that this header does not need Python's headers.
namespace pybind11 __attribute__((visibility("hidden"))) {
  class module_;
}

namespace howard::python {

/// Adds the functions that run experiments, explain points, plan trainings and analyse logs. Each
/// returns the JSON text that the program writes; howard/_experiments.py turns that into Python
/// values.
void bind_experiments(pybind11::module_& module);

}  // namespace howard::python
