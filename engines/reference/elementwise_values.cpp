// SPDX-License-Identifier: Apache-2.0
#include "engines/reference/elementwise_values.h"

#include <array>
#include <cstdint>

#include "engines/reference/operand_index.h"

namespace howard::reference {
namespace {

template <class Number>
Number value_at(const EltwiseAttributes& op, const Program& call,
                const std::vector<const Values*>& inputs, const Index& at) {
  std::array<Number, 3> values{};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    values.at(i) = static_cast<Number>(get(call.inputs[i], *inputs[i], at));
  }
  if (op.scalar) values.at(inputs.size()) = number_of<Number>(*op.scalar);
  for (const EltwiseStep& step : op.on_a) values[0] = applied(step, values[0]);
  for (const EltwiseStep& step : op.on_b) values[1] = applied(step, values[1]);
  Number result = eltwise_function<Number>(op.function)({values[0], values[1], values[2],
                                                         number_of<Number>(op.numbers[0]),
                                                         number_of<Number>(op.numbers[1])});
  for (const EltwiseStep& step : op.then) result = applied(step, result);
  return result;
}

}  // namespace

Values elementwise_values(const EltwiseAttributes& op, const Program& call,
                          const std::vector<const Values*>& inputs) {
  const SpecList in = specs_of(call.inputs);
  const TensorSpec& out = call.outputs[0].spec;
  const bool whole = op.is_whole(in);
  Values values(static_cast<std::size_t>(out.shape.elements()));
  const Index size = dimensions(out.shape);
  for_each(size, [&](const Index& at) {
    double& value = values[offset(size, at)];
    if (whole) {
      const std::int64_t own =
          wrapped(op.type_of(in), value_at<std::int64_t>(op, call, inputs, at));
      value = static_cast<double>(out.is_whole() ? typecast(out.dtype, own) : own);
    } else {
      value = value_at<double>(op, call, inputs, at);
      if (out.is_whole()) value = static_cast<double>(typecast(out.dtype, value));
    }
  });
  return values;
}

}  // namespace howard::reference
