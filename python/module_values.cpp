// SPDX-License-Identifier: Apache-2.0
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "engines/autograd/host_values.h"
#include "engines/device/rounding.h"
#include "engines/host/host_device.h"
#include "engines/ops/tensor.h"
#include "engines/program/eltwise_value.h"
#include "engines/program/fields.h"
#include "engines/program/whole_numbers.h"
#include "engines/workload/launch.h"
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

/// What Python has of an operand: its numbers, shape and type, and whether its layout is row-major.
/// Whole numbers are of their type; all other numbers are floats, whatever the type.
using Given = std::tuple<py::buffer, std::array<std::int64_t, 4>, std::string, bool>;

/// Writes the whole numbers of an array to a tensor, or reads them.
void write_array(CommandQueue& queue, const ops::Tensor& tensor, const py::buffer& from) {
  with_whole_type(tensor.spec().dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    queue.write_buffer(tensor.buffer(), std::as_bytes(numbers_of<const T>(from)));
  });
}
void read_array(CommandQueue& queue, const ops::Tensor& tensor, const py::buffer& to) {
  with_whole_type(tensor.spec().dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    queue.read_buffer(tensor.buffer(), std::as_writable_bytes(numbers_of<T>(to)));
  });
}

/// Computes a program of a kernel on the host engine. A result that has the number of an operand in
/// `in_place` is that operand after the program; other results have -1.
void compute(const std::string& kernel, const std::string& attributes,
             const std::vector<Given>& inputs, const std::vector<Given>& outputs,
             const std::vector<int>& in_place) {
  static host::HostDevice device;
  CommandQueue& queue = device.command_queue(0);
  std::vector<ops::Tensor> tensors;
  std::vector<Operand> operands, results;
  const auto add = [&](const Given& given, std::vector<Operand>& to) {
    const auto& [numbers, d, dtype, row_major] = given;
    tensors.emplace_back(device,
                         TensorSpec{.shape = {d[0], d[1], d[2], d[3]},
                                    .dtype = parse_data_type(dtype),
                                    .layout = row_major ? Layout::row_major : Layout::tile});
    to.emplace_back(tensors.back());
  };
  tensors.reserve(inputs.size() + outputs.size());
  for (const Given& input : inputs) {
    add(input, operands);
    const py::buffer& numbers = std::get<py::buffer>(input);
    if (tensors.back().spec().is_real()) {
      autograd::write_values(queue, tensors.back(), numbers_of<const float>(numbers));
    } else {
      write_array(queue, tensors.back(), numbers);
    }
  }
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (in_place.at(i) < 0) {
      places.push_back(tensors.size());
      add(outputs[i], results);
    } else {
      places.push_back(static_cast<std::size_t>(in_place[i]));
      results.push_back(operands.at(places.back()));
    }
  }
  queue.enqueue(workload::make_launch(kernel, parse_attributes(kernel, attributes),
                                      std::move(operands), std::move(results)));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const ops::Tensor& tensor = tensors[places[i]];
    const py::buffer& numbers = std::get<py::buffer>(outputs[i]);
    if (tensor.spec().dtype == DataType::float32) {
      queue.read_buffer(tensor.buffer(), std::as_writable_bytes(numbers_of<float>(numbers)));
    } else if (!tensor.spec().is_real()) {
      read_array(queue, tensor, numbers);
    } else {
      std::ranges::copy(autograd::read_values(queue, tensor), numbers_of<float>(numbers).begin());
    }
  }
}

}  // namespace

void bind_values(py::module_& module) {
  module.def("elementwise", &elementwise);
  module.def("compute", &compute);
  module.def("round", [](const py::buffer& values, std::string_view dtype, std::size_t width) {
    round_to(parse_data_type(dtype), numbers_of<float>(values), width);
  });
}

}  // namespace howard::python
