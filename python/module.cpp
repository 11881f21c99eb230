// SPDX-License-Identifier: Apache-2.0
#include <pybind11/pybind11.h>

#include "harness/environment.h"
#include "python/module_device.h"
#include "python/module_errors.h"
#include "python/module_experiments.h"
#include "python/module_query.h"
#include "python/module_ttnn.h"

PYBIND11_MODULE(_native, module) {
  module.doc() = "What of the package howard is compiled; its names are those of howard.";
  module.attr("__version__") = howard::harness::version();
  howard::python::bind_errors(module);
  howard::python::bind_devices(module);
  howard::python::bind_ops(module);
  howard::python::bind_experiments(module);
  howard::python::bind_queries(module);
  pybind11::module_ ttnn = module.def_submodule("_ttnn", "What howard.ttnn is made on.");
  howard::python::bind_values(ttnn);
  howard::python::bind_chip(ttnn);
  pybind11::module_ ttml = module.def_submodule("_ttml", "What howard.ttml is made on.");
  howard::python::bind_models(ttml);
  howard::python::bind_training(ttml);
}
