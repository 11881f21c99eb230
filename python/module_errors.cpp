// SPDX-License-Identifier: Apache-2.0
#include "python/module_errors.h"

#include <fmt/format.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/terminal_text.h"
#include "base/text.h"

namespace py = pybind11;

namespace howard::python {
namespace {

/// The class howard.Error. It is never released, because Python's errors may outlive the module.
PyObject* error_class = nullptr;  // NOLINT(*-avoid-non-const-global-variables)

/// Returns a hint that is written for the command line as arguments of howard.run(): "-a shape=64"
/// as axes={"shape": "64"}, "--backend emulated" as backend="emulated". Any other hint stays as it
/// is.
std::string python_hint(const std::string& hint) {
  const std::vector<std::string> words = split(hint, ' ');
  std::vector<std::string> arguments, axes;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    const bool is_option = i + 1 < words.size() && words[i].size() > 1 && words[i].front() == '-';
    if (!is_option) return hint;
    const std::string& value = words[i + 1];
    const std::size_t equals = value.find('=');
    if (words[i] == "-a" && equals != std::string::npos) {
      axes.push_back(
          fmt::format("\"{}\": \"{}\"", value.substr(0, equals), value.substr(equals + 1)));
    } else if (words[i].starts_with("--")) {
      std::string name = words[i].substr(2);
      std::ranges::replace(name, '-', '_');
      if (name == "chip" || name == "software") name = "profile";
      arguments.push_back(fmt::format("{}=\"{}\"", name, value));
    } else {
      return hint;
    }
  }
  if (!axes.empty()) {
    arguments.insert(arguments.begin(), fmt::format("axes={{{}}}", join(axes, ", ")));
  }
  return join(arguments, ", ");
}

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const Error& error) {
    ErrorText text = error.text();
    text.hint = python_hint(text.hint);
    // Python prints it as it is, and takes UTF-8 only.
    for (std::string* const part : {&text.attempted, &text.value, &text.accepted, &text.hint}) {
      *part = terminal_text(*part, TerminalMarks::lines);
    }
    const py::object raised = py::reinterpret_borrow<py::object>(error_class)(Error(text).what());
    raised.attr("attempted") = text.attempted;
    raised.attr("value") = text.value;
    raised.attr("accepted") = text.accepted;
    raised.attr("hint") = text.hint;
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
