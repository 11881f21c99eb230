// SPDX-License-Identifier: Apache-2.0
#include <pybind11/pybind11.h>

#include "base/error.h"
#include "engines/python/module_device.h"

PYBIND11_MODULE(howard, module) {
  module.doc() =
      "Howard's devices and ops. Each op allocates its result and enqueues one program; on an "
      "emulated device each costs its host what a call from Python costs.";
  pybind11::register_exception<howard::Error>(module, "Error", PyExc_RuntimeError);
  howard::python::bind_devices(module);
  howard::python::bind_ops(module);
}
