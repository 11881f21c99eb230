// SPDX-License-Identifier: Apache-2.0
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "engines/ops/catalogue.h"
#include "engines/ops/tensor.h"
#include "engines/program/fields.h"
#include "python/module_device.h"

namespace py = pybind11;

namespace howard::python {
namespace {

using Tensors = std::vector<PythonTensor>;

/// Returns the names of all ops: those of lists of ops, and those that lists do not have.
std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (const ops::OpEntry& entry : ops::op_catalogue()) names.push_back(entry.name);
  for (const Attributes& op : all_ops()) {
    if (ops::find_op(name_of(op)) == nullptr) names.emplace_back(name_of(op));
  }
  return names;
}

ops::OpCall parse_call(const std::string& text) {
  if (auto call = ops::parse_op_call(text)) return *std::move(call);
  const std::vector<std::string> names = op_names();
  throw Error({.attempted = "run the op '" + text + "'",
               .value = "there is none of that name",
               .accepted = join(names, ", "),
               .hint = closest(text, names).value_or("")});
}

py::list roles_of(std::span<const OperandRole> roles) {
  py::list all;
  for (const OperandRole& role : roles) {
    all.append(py::make_tuple(std::string(role.name), role.is_optional, role.repeats,
                              std::string(text_of(role.takes))));
  }
  return all;
}

/// Returns what the package makes the function of an op of.
py::dict describe(const std::string& name) {
  const ops::OpCall call = parse_call(name);
  py::dict op;
  py::list numbers;
  for (const ops::OpNumber& number : call.op->numbers) {
    numbers.append(py::make_tuple(std::string(number.name), number.otherwise));
  }
  std::span<const OperandRole> operands = input_roles(call.given);
  // An elementwise function has as many operands as it has values.
  std::size_t needed = call.op->tensors;
  const auto* const elementwise = std::get_if<EltwiseAttributes>(&call.given);
  if (elementwise != nullptr) {
    needed = static_cast<std::size_t>(arity_of(elementwise->function));
    operands = operands.first(needed);
  }
  op["meaning"] = call.op->meaning;
  op["ttnn"] = std::string(ttnn_name_of(call.given));
  op["operands"] = roles_of(operands);
  op["elementwise"] = elementwise != nullptr;
  op["needed"] = needed;
  op["results"] = roles_of(result_roles(call.given));
  op["numbers"] = numbers;
  op["fields"] = field_names(call.given);
  return op;
}

/// What a call says of its first result; absent parts follow from the operands.
struct Asked {
  std::optional<std::vector<std::int64_t>> shape;
  std::optional<std::string> dtype;
  std::optional<std::string> layout;
};

SpecList results_of_call(const ops::OpCall& call, Specs inputs, const Asked& asked) {
  SpecList results;
  if (asked.shape) {
    // As the last operand, which of indices and numbers is the numbers.
    const TensorSpec like = inputs.empty() ? TensorSpec{{1}} : inputs.back();
    results.push_back({shape_of(*asked.shape), like.dtype});
  } else {
    results = call.results(inputs);
  }
  if (asked.dtype) results.at(0).dtype = parse_data_type(*asked.dtype);
  if (asked.layout) results.at(0).layout = parse_layout(*asked.layout);
  return results;
}

PythonDevice& device_of(const std::string& text, const Tensors& tensors) {
  if (tensors.empty()) {
    throw Error({.attempted = "run the op '" + text + "'",
                 .value = "no tensor",
                 .accepted = "tensors of the device that is to run it"});
  }
  PythonDevice& device = *tensors.front().device;
  for (const PythonTensor& tensor : tensors) {
    if (tensor.device.get() == &device) continue;
    throw Error({.attempted = "run an op",
                 .value = "its tensors are on two devices",
                 .accepted = "tensors of one device"});
  }
  return device;
}

EltwiseAttributes& elementwise_op(const std::string& text, Attributes& op) {
  if (auto* const function = std::get_if<EltwiseAttributes>(&op)) return *function;
  throw Error({.attempted = "run the op '" + text + "'",
               .value = "a scalar",
               .accepted = "one of elementwise ops alone"});
}

/// Runs "silu", "clamp:0:6" or "add+relu" with further fields as JSON. The results are `out`, if
/// there are any.
Tensors run_op(const std::string& text, const Tensors& tensors, const std::string& fields,
               std::optional<float> scalar, const Asked& asked, Tensors out) {
  ops::OpCall call = parse_call(text);
  PythonDevice& device = device_of(text, tensors);
  static_cast<void>(device_of(text, out.empty() ? tensors : out));
  const JsonDocument document(
      fields, {.attempted = "read the arguments of " + text, .accepted = "fields of the op"});
  read_fields(call.given, document.root());
  // Not among the fields, because JSON has no infinite numbers.
  if (scalar) elementwise_op(text, call.given).scalar = scalar;
  std::vector<Operand> operands;
  for (const PythonTensor& tensor : tensors) operands.push_back(tensor.tensor.operand());
  device.charge_call();
  if (out.empty()) {
    for (const TensorSpec& spec : results_of_call(call, specs_of(operands), asked)) {
      out.push_back({tensors.front().device, device.calls().make(spec)});
    }
  }
  std::vector<Operand> results;
  for (const PythonTensor& tensor : out) results.push_back(tensor.tensor.operand());
  device.calls().run(call.program(std::move(operands), std::move(results)));
  return out;
}

constexpr const char* kFullLike =
    R"(A tensor with a's shape, data type and layout, every element `value`, filled on the device.

Raises Error when it does not fit into the device's memory.)";

constexpr const char* kReshape =
    R"(The elements of a, row by row, under another shape of one to four dimensions.

Moves data only where the elements do not stay in their places. Raises Error when the number of
elements differs, or for a dimension below 1.)";

}  // namespace

void bind_ops(py::module_& module) {
  module.def("op_names", &op_names,
             "The names of all ops that call() takes, and that are functions.");
  module.def("_describe_op", &describe);
  module.def("_run_op",
             [](const std::string& op, const Tensors& tensors, const std::string& fields,
                std::optional<float> scalar, std::optional<std::vector<std::int64_t>> shape,
                std::optional<std::string> dtype, std::optional<std::string> layout, Tensors out) {
               return run_op(op, tensors, fields, scalar,
                             {std::move(shape), std::move(dtype), std::move(layout)},
                             std::move(out));
             });
  module.def(
      "full_like",
      [](const PythonTensor& a, float value) -> PythonTensor {
        a.device->charge_call();
        return {a.device, a.device->calls().fill(value, a.tensor.spec())};
      },
      py::arg("a"), py::arg("value"), kFullLike);
  module.def(
      "reshape",
      [](const PythonTensor& a, const std::vector<std::int64_t>& shape) -> PythonTensor {
        a.device->charge_call();
        return {a.device, a.device->calls().as_shape(a.tensor, shape_of(shape))};
      },
      py::arg("a"), py::arg("shape"), kReshape);
}

}  // namespace howard::python
