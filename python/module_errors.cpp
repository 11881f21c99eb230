// SPDX-License-Identifier: Apache-2.0
#include "python/module_errors.h"

#include <pybind11/pybind11.h>

#include <exception>

#include "base/error.h"

namespace py = pybind11;

namespace howard::python {
namespace {

/// The class howard.Error. It is never released, because Python's errors may outlive the module.
PyObject* error_class = nullptr;  // NOLINT(*-avoid-non-const-global-variables)

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const Error& error) {
    const py::object raised = py::reinterpret_borrow<py::object>(error_class)(error.what());
    raised.attr("attempted") = error.text().attempted;
    raised.attr("value") = error.text().value;
    raised.attr("accepted") = error.text().accepted;
    raised.attr("hint") = error.text().hint;
    PyErr_SetObject(error_class, raised.ptr());
  }
}

}  // namespace

void bind_errors(py::module_& module) {
  error_class = PyErr_NewExceptionWithDoc("howard.Error",
                                          "What was asked for cannot be done. Its text is one "
                                          "sentence; attempted, value, accepted and\n"
                                          "hint are its parts, the last two of which may be empty.",
                                          PyExc_RuntimeError, nullptr);
  if (error_class == nullptr) throw py::error_already_set();
  module.attr("Error") = py::reinterpret_borrow<py::object>(error_class);
  py::register_exception_translator(&translate);
}

}  // namespace howard::python
