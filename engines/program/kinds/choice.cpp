// SPDX-License-Identifier: Apache-2.0
#include "engines/program/kinds/choice.h"

namespace howard {

SpecList ArgmaxAttributes::results(Specs in) const {
  return {{in[0].shape.with_columns(1), DataType::uint32, Layout::row_major}};
}

SpecList TopkAttributes::results(Specs in) const {
  const TensorSpec& x = in[0];
  if (k > x.shape.columns()) refuse_operands(kName, in, "rows of k numbers or more");
  return {{x.shape.with_columns(k), x.dtype}, {x.shape.with_columns(k), DataType::uint32}};
}

SpecList ScatterAttributes::results(Specs in) const {
  const Shape& x = in[0].shape;
  const Shape& places = in[1].shape;
  if (places.batch() != x.batch() || places.rows() != x.rows() || in[2].shape != places ||
      in[2].dtype != in[0].dtype) {
    refuse_operands(kName, in, "x, and places and a source of one shape with as many rows");
  }
  return {in[0]};
}

SpecList SamplingAttributes::results(Specs in) const {
  if (in[1].shape != in[0].shape || k > in[0].shape.columns()) {
    refuse_operands(kName, in, "values, and indices of their shape, k or more in a row");
  }
  const Shape& shape = in[0].shape;
  return {{{shape.batch() * shape.rows()}, DataType::uint32, Layout::row_major}};
}

}  // namespace howard
