// SPDX-License-Identifier: Apache-2.0
#include "python/module_arrays.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.h"
#include "engines/arrays/array.h"
#include "engines/device/bfloat16.h"
#include "python/array_products.h"

namespace py = pybind11;

namespace howard::python {
namespace {

using arrays::Array;
using arrays::Dims;

template <class From>
void copy_words(const py::buffer_info& from, Array& to) {
  const auto* const values = static_cast<const From*>(from.ptr);
  for (std::size_t i = 0; i < to.words().size(); ++i) to.set(i, static_cast<double>(values[i]));
}

/// Numbers of one of struct's formats, or "E" for bfloat16, which has none there.
Array array_from_bytes(const py::buffer& buffer, char format, const Dims& shape) {
  const py::buffer_info from = buffer.request();
  Array to(shape, std::string_view("?bBhHiIlLqQ").find(format) != std::string_view::npos);
  const std::size_t width = std::string_view("?bB").find(format) != std::string_view::npos   ? 1
                            : std::string_view("hHE").find(format) != std::string_view::npos ? 2
                            : std::string_view("iIf").find(format) != std::string_view::npos ? 4
                                                                                             : 8;
  if (static_cast<std::size_t>(from.size * from.itemsize) != to.words().size() * width) {
    throw Error({.attempted = "read a buffer of numbers",
                 .value = std::to_string(from.size * from.itemsize) + " bytes",
                 .accepted = std::to_string(to.words().size() * width)});
  }
  switch (format) {
    case 'f':
    case 'i':
    case 'I':
      if (!to.words().empty()) std::memcpy(to.words().data(), from.ptr, to.words().size() * 4);
      break;
    case 'd':
      copy_words<double>(from, to);
      break;
    case 'b':
      copy_words<std::int8_t>(from, to);
      break;
    case '?':
    case 'B':
      copy_words<std::uint8_t>(from, to);
      break;
    case 'h':
      copy_words<std::int16_t>(from, to);
      break;
    case 'H':
      copy_words<std::uint16_t>(from, to);
      break;
    case 'l':
    case 'q':
      copy_words<std::int64_t>(from, to);
      break;
    case 'L':
    case 'Q':
      copy_words<std::uint64_t>(from, to);
      break;
    case 'E': {
      const auto* const bits = static_cast<const std::uint16_t*>(from.ptr);
      std::transform(bits, bits + from.size * from.itemsize / 2, to.words().begin(), from_bfloat16);
      break;
    }
    default:
      throw Error({.attempted = "read a buffer of numbers",
                   .value = std::string("format ") + format,
                   .accepted = "? b B h H i I l L q Q f d E"});
  }
  return to;
}

/// The words as they are: float32, or int32.
py::object bytes_of(const Array& array) {
  return py::bytearray(reinterpret_cast<const char*>(array.words().data()),
                       array.words().size() * sizeof(float));
}

Array full_array(const Dims& shape, double value, bool whole) {
  Array out(shape, whole);
  if (value == 0 || out.words().empty()) return out;
  out.set(0, value);
  std::ranges::fill(out.words(), out.words().front());
  return out;
}

Array arange_array(double start, double step, std::int64_t count, bool whole) {
  Array out({count}, whole);
  for (std::int64_t i = 0; i < count; ++i) {
    out.set(static_cast<std::size_t>(i), start + static_cast<double>(i) * step);
  }
  return out;
}

/// Evenly between two numbers; splitmix64, whose numbers are the same everywhere.
Array uniform_array(const Dims& shape, double low, double high, std::uint64_t seed, bool whole) {
  Array out(shape, whole);
  for (std::size_t i = 0; i < out.words().size(); ++i) {
    seed += 0x9E3779B97F4A7C15;
    std::uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    const double part = static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
    out.set(i, low + part * (high - low));
  }
  return out;
}

void bind_array_class(py::module_& module) {
  py::class_<Array>(module, "Array", "Numbers of any rank.")
      .def_property_readonly("shape",
                             [](const Array& self) { return py::tuple(py::cast(self.shape())); })
      .def_property_readonly("whole", &Array::is_whole)
      .def_property_readonly("size", &Array::size)
      .def("bytes", &bytes_of)
      .def("reshaped", &Array::reshaped)
      .def("at", [](const Array& self, std::int64_t i) {
        if (i < 0 || i >= self.size()) throw py::index_error("there is no such element");
        return self.at(static_cast<std::size_t>(i));
      });
}

void bind_array_makers(py::module_& module) {
  module.def("from_bytes", &array_from_bytes);
  module.def("full", &full_array, py::arg("shape"), py::arg("value"), py::arg("whole") = false);
  module.def("arange", &arange_array);
  module.def("uniform", &uniform_array);
  module.def("rounded", &arrays::rounded);
}

void bind_array_functions(py::module_& module) {
  module.def("unary",
             [](std::string_view function, const Array& a, const std::vector<double>& parameters) {
               return arrays::unary(function, a, parameters);
             });
  module.def("binary", &arrays::binary);
  module.def("where", &arrays::where);
  module.def("function_names", &arrays::function_names);
  module.def("is_unary", &arrays::is_unary);
  module.def("is_binary", &arrays::is_binary);
  module.def("reduce", &arrays::reduce);
  module.def("argmax", &arrays::argmax);
  module.def("cumulative", &arrays::cumulative);
  module.def("sort", &arrays::sort);
  module.def("softmax", &arrays::softmax);
  module.def("normalized", &arrays::normalized);
  module.def("permuted", &arrays::permuted);
  module.def("sliced", &arrays::sliced);
  module.def("concatenated", [](const std::vector<Array>& parts, std::int64_t dim) {
    return arrays::concatenated(parts, dim);
  });
  module.def("padded", &arrays::padded);
  module.def("broadcast_to", &arrays::broadcast_to);
  module.def("broadcast_shape", &arrays::broadcast);
  module.def("repeated", &arrays::repeated);
  module.def("gathered", &arrays::gathered);
  module.def("scattered", &arrays::scattered);
  module.def("rows_of", &arrays::rows_of);
  module.def("matmul", &product);
}

}  // namespace

void bind_arrays(py::module_& module) {
  py::module_ inner = module.def_submodule("arrays", "Numbers of any rank on the host.");
  bind_array_class(inner);
  bind_array_makers(inner);
  bind_array_functions(inner);
}

}  // namespace howard::python
