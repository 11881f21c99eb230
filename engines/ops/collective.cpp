// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/collective.h"

namespace howard::ops {
namespace {

/// Returns the spec with one of its sides multiplied and divided.
TensorSpec scaled(TensorSpec spec, int dimension, std::int64_t times, std::int64_t parts) {
  Sides sides = spec.shape.dimensions();
  std::int64_t& side = sides.at(static_cast<std::size_t>(dimension));
  if (side * times % parts != 0) {
    refuse_operands(ReduceScatterAttributes::kName, {spec},
                    "rows or columns that the devices divide");
  }
  side = side * times / parts;
  spec.shape = {sides[0], sides[1], sides[2], sides[3]};
  return spec;
}

}  // namespace

TensorSpec all_gather_output(const TensorSpec& part, int devices, int dimension) {
  return scaled(part, dimension, devices, 1);
}

TensorSpec reduce_scatter_output(const TensorSpec& whole, int devices, Dimension dimension) {
  const ReduceScatterAttributes op{.dimension = dimension};
  return scaled(whole, op.side(), 1, devices);
}

}  // namespace howard::ops
