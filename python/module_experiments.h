// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declared here so that this header can be read without Python's.
namespace pybind11 __attribute__((visibility("hidden"))) {
  class module_;
}

namespace howard::python {

/// Adds what runs experiments, explains points and analyses logs, each giving the JSON text that
/// the program writes; howard/_results.py makes Python's own values of it.
void bind_experiments(pybind11::module_& module);

}  // namespace howard::python
