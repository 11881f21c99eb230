// SPDX-License-Identifier: Apache-2.0
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "engines/device/rounding.h"
#include "engines/host/host_device.h"
#include "engines/ops/tensor.h"
#include "engines/program/eltwise_value.h"
#include "python/module_ttnn.h"

namespace py = pybind11;

namespace howard::python {
namespace {

/// A thread takes this many elements at a time.
constexpr std::size_t kGrain = 16384;

/// The numbers of an array of NumPy, which lie one after the other.
template <class Number>
std::span<Number> numbers_of(const py::buffer& buffer) {
  const py::buffer_info info = buffer.request(!std::is_const_v<Number>);
  const std::string wanted = py::format_descriptor<std::remove_const_t<Number>>::format();
  if (info.format != wanted || PyBuffer_IsContiguous(info.view(), 'C') == 0) {
    throw Error({.attempted = "compute with an array",
                 .value = "one of format '" + info.format + "'",
                 .accepted = "a contiguous one of '" + wanted + "'"});
  }
  return {static_cast<Number*>(info.ptr), static_cast<std::size_t>(info.size)};
}

/// Computes a function of the catalogue for each element of arrays of one shape.
void elementwise(const std::string& name, const py::buffer& out,
                 const std::vector<py::buffer>& given, const std::vector<double>& numbers) {
  const auto function = find_eltwise(name);
  const std::span<double> to = numbers_of<double>(out);
  std::vector<std::span<const double>> values;
  for (const py::buffer& one : given) values.push_back(numbers_of<const double>(one));
  const bool fits =
      function && std::cmp_equal(entry_of(*function).values, values.size()) &&
      std::ranges::all_of(values, [&](auto one) { return one.size() == to.size(); }) &&
      std::cmp_greater_equal(numbers.size(), entry_of(*function).numbers);
  if (!fits) {
    throw Error({.attempted = "compute elementwise",
                 .value = "'" + name + "' of " + std::to_string(values.size()) + " values and " +
                          std::to_string(numbers.size()) + " numbers",
                 .accepted = "a function of the catalogue, with its values and numbers"});
  }
  const EltwiseFunction<double> compute = eltwise_function<double>(*function);
  const double first = numbers.empty() ? 0 : numbers[0];
  const double second = numbers.size() > 1 ? numbers[1] : 0;
  const auto at = [&](std::size_t value, std::size_t i) {
    return value < values.size() ? values[value][i] : 0;
  };
  const py::gil_scoped_release unlocked;
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, to.size(), kGrain), [&](const auto& part) {
    for (std::size_t i = part.begin(); i < part.end(); ++i) {
      to[i] = compute({at(0, i), at(1, i), at(2, i), first, second});
    }
  });
}

/// Multiplies matrices [batch, m, k] by [batch, k, n] on the host engine.
void multiply(const py::buffer& a, const py::buffer& b, const py::buffer& out) {
  static host::HostDevice device;
  const auto tensor = [](const py::buffer& of) {
    const std::vector<py::ssize_t> shape = of.request().shape;
    return ops::Tensor(
        device, {.shape = {shape.at(0), shape.at(1), shape.at(2)}, .dtype = DataType::float32});
  };
  const ops::Tensor left = tensor(a), right = tensor(b), result = tensor(out);
  CommandQueue& queue = device.command_queue(0);
  queue.write_buffer(left.buffer(), std::as_bytes(numbers_of<const float>(a)));
  queue.write_buffer(right.buffer(), std::as_bytes(numbers_of<const float>(b)));
  queue.enqueue(make_program(MatmulAttributes{}, {left, right}, {result}));
  queue.read_buffer(result.buffer(), std::as_writable_bytes(numbers_of<float>(out)));
}

}  // namespace

void bind_values(py::module_& module) {
  module.def("elementwise", &elementwise);
  module.def("multiply", &multiply);
  module.def("round", [](const py::buffer& values, std::string_view dtype, std::size_t width) {
    round_to(parse_data_type(dtype), numbers_of<float>(values), width);
  });
}

}  // namespace howard::python
