// SPDX-License-Identifier: Apache-2.0
#include "engines/reference/image_values.h"

#include <cmath>
#include <cstdint>

#include "engines/program/convolution_value.h"
#include "engines/program/eltwise_value.h"

namespace howard::reference {
namespace {

/// Gives the numbers of an operand in the order in which they lie.
struct InOrder {
  const Values& own;

  double operator()(std::int64_t at) const { return own[static_cast<std::size_t>(at)]; }
};

/// Returns the values of the result; `value` is called with the row, of all that are not columns,
/// and the column of each.
template <class Value>
Values each(const Program& program, const Value& value) {
  const Shape& shape = program.outputs[0].spec.shape;
  Values values;
  values.reserve(static_cast<std::size_t>(shape.elements()));
  for (std::int64_t row = 0; row < shape.batch() * shape.rows(); ++row) {
    for (std::int64_t column = 0; column < shape.columns(); ++column) {
      values.push_back(value(row, column));
    }
  }
  return values;
}

}  // namespace

Values image_values(const Conv2dAttributes& op, const Program& program, const ImageInputs& inputs) {
  const std::int64_t channels = program.inputs[0].spec.shape.columns();
  const std::int64_t results = program.outputs[0].spec.shape.columns();
  const InOrder x{*inputs[0]}, weights{*inputs[1]};
  return each(program, [&](std::int64_t stop, std::int64_t k) {
    double sum = inputs.size() > 2 ? InOrder{*inputs[2]}(k) : 0;
    for_each_seen(op.window, stop, [&](std::int64_t own, std::int64_t place) {
      for (std::int64_t c = 0; c < channels; ++c) {
        sum += x(place * channels + c) * weights((own * channels + c) * results + k);
      }
    });
    if (!op.activation) return sum;
    const auto [one, two] = op.activation->numbers;
    return eltwise_function<double>(op.activation->function)({sum, 0, 0, double{one}, double{two}});
  });
}

Values image_values(const Pool2dAttributes& op, const Program& program, const ImageInputs& inputs) {
  const std::int64_t channels = program.inputs[0].spec.shape.columns();
  return each(program, [&](std::int64_t stop, std::int64_t channel) {
    return pool_value<double>(op, channels, stop, channel, InOrder{*inputs[0]});
  });
}

Values image_values(const UpsampleAttributes& op, const Program& program,
                    const ImageInputs& inputs) {
  const Shape& from = program.inputs[0].spec.shape;
  const std::int64_t width = program.outputs[0].spec.shape.rows();
  return each(program, [&](std::int64_t place, std::int64_t channel) {
    return upsample_value<double>(op, from, place / width, place % width, channel,
                                  InOrder{*inputs[0]});
  });
}

Values image_values(const FoldAttributes& op, const Program& program, const ImageInputs& inputs) {
  const Shape& from = program.inputs[0].spec.shape;
  return each(program, [&](std::int64_t place, std::int64_t element) {
    return InOrder{*inputs[0]}(folded_from(op, from, place, element));
  });
}

Values image_values(const GroupNormAttributes& op, const Program& program,
                    const ImageInputs& inputs) {
  const Shape& shape = program.inputs[0].spec.shape;
  const InOrder x{*inputs[0]};
  return each(program, [&](std::int64_t row, std::int64_t channel) {
    const std::int64_t group = channel / (shape.columns() / op.groups);
    const auto [mean, scale] = group_moments<double>(op, shape, row / shape.rows(), group, x);
    double value = (x(row * shape.columns() + channel) - mean) * scale;
    if (inputs.size() > 1) value *= InOrder{*inputs[1]}(channel);
    if (inputs.size() > 2) value += InOrder{*inputs[2]}(channel);
    return value;
  });
}

Values image_values(const BatchNormAttributes& op, const Program& program,
                    const ImageInputs& inputs) {
  const Shape& shape = program.inputs[0].spec.shape;
  return each(program, [&](std::int64_t row, std::int64_t column) {
    const std::int64_t channel = row / shape.rows() % shape.heads();
    const auto number = [&](std::size_t i) { return InOrder{*inputs[i]}(channel); };
    double value = (InOrder{*inputs[0]}(row * shape.columns() + column) - number(1)) /
                   std::sqrt(number(2) + double{op.epsilon});
    if (inputs.size() > 3) value *= number(3);
    if (inputs.size() > 4) value += number(4);
    return value;
  });
}

}  // namespace howard::reference
