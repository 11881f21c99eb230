// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/functions/collective/divided_parameter.h"

namespace howard::autograd {
namespace {

using ops::Tensor;

constexpr int kRowDimension = 2;
constexpr int kColumnDimension = 3;

/// Shares of a parameter of one row are columns.
bool divides_columns(const Tensor& share) { return share.spec().shape.rows() == 1; }

struct GatheredParameter {
  Value share;
  Parameter* parameter;

  void backward(Tape& tape, Value whole) const {
    const Calls& calls = tape.calls();
    const DeviceGroup& group = *parameter->sharers;
    Tensor gradient = tape.gradient(whole);
    if (parameter->gradient) {
      const Tensor earlier = gathered(calls, *parameter->gradient, group);
      parameter->gradient.reset();
      gradient = calls.add(earlier, gradient);
    }
    const Tensor sum =
        reduce_scatter(calls, gradient, group,
                       divides_columns(tape.tensor(share)) ? Dimension::columns : Dimension::rows);
    tape.accumulate(share, calls.multiply(sum, 1 / static_cast<float>(group.devices())));
  }
};

}  // namespace

Shape share_of_parameter(const Shape& whole, int devices) {
  const auto divides = [&](std::int64_t size) { return size % (kTileSide * devices) == 0; };
  if (whole.rows() == 1) {
    return divides(whole.columns()) ? whole.with_columns(whole.columns() / devices) : whole;
  }
  return divides(whole.rows()) ? whole.with_rows(whole.rows() / devices) : whole;
}

Tensor gathered(const Calls& calls, const Tensor& share, const DeviceGroup& group) {
  return all_gather(calls, share, group, divides_columns(share) ? kColumnDimension : kRowDimension);
}

Value gathered_parameter(Tape& tape, Value share, Parameter& parameter) {
  return tape.record(gathered(tape.calls(), tape.tensor(share), *parameter.sharers), {share},
                     GatheredParameter{share, &parameter});
}

}  // namespace howard::autograd
