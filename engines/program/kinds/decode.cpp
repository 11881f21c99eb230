// SPDX-License-Identifier: Apache-2.0
#include "engines/program/kinds/decode.h"

namespace howard {

SpecList SplitHeadsDecodeAttributes::results(Specs in) const {
  const TensorSpec& x = in[0];
  const std::int64_t all = heads + 2 * std::int64_t{groups};
  if (x.shape.batch() != 1 || x.shape.columns() % all != 0) {
    refuse_operands(kName, in, "[1, 1, b, (heads + 2 groups) d]");
  }
  const std::int64_t width = x.shape.columns() / all;
  const auto part = [&](std::int64_t count) {
    return TensorSpec{.shape = {1, x.shape.rows(), count, width}, .dtype = x.dtype};
  };
  return {part(heads), part(groups), part(groups)};
}

SpecList ConcatHeadsDecodeAttributes::results(Specs in) const {
  const TensorSpec& x = in[0];
  if (x.shape.outer() != 1 || x.shape.rows() < heads) {
    refuse_operands(kName, in, "[1, b, h, d] with as many heads as are kept");
  }
  return {{.shape = {1, 1, x.shape.heads(), heads * x.shape.columns()}, .dtype = x.dtype}};
}

SpecList PagedUpdateCacheAttributes::results(Specs in) const {
  const Shape& x = in[0].shape;
  const Shape& cache = in[1].shape;
  if (x.outer() != 1 || x.rows() < cache.heads() || x.columns() != cache.columns()) {
    refuse_operands(kName, in, "x [1, b, h, d] and a cache [pages, h, t, d]");
  }
  return {in[1]};
}

SpecList PagedFillCacheAttributes::results(Specs in) const {
  const Shape& x = in[0].shape;
  const Shape& cache = in[1].shape;
  if (x.outer() != 1 || x.heads() != cache.heads() || x.columns() != cache.columns()) {
    refuse_operands(kName, in, "x [1, h, s, d] and a cache [pages, h, t, d]");
  }
  return {in[1]};
}

}  // namespace howard
