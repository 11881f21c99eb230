// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/tensor.h"

#include <new>

#include "base/error.h"

namespace howard::ops {

Tensor::Held::~Held() {
  try {
    device.release(buffer);
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch)
    // Devices keep and report what is released, which takes memory. Where there is none, the next
    // allocation says so: mostly this destructor runs because one has.
  }
}

Tensor::Tensor(Device& device, const TensorSpec& spec) : spec_(spec) {
  require_legal_shards(spec);
  held_ = std::make_shared<const Held>(device, spec);
}

Tensor Tensor::view(const Shape& shape) const {
  const Shape& own = spec_.shape;
  const bool whole_tiles = own.rows() % kTileSide == 0 && shape.rows() % kTileSide == 0;
  const bool aligned =
      own.columns() == shape.columns() && (own.rows() == shape.rows() || whole_tiles);
  if (own.elements() != shape.elements() || (spec_.layout == Layout::tile && !aligned)) {
    throw Error({.attempted = "view a tensor " + layout_text(spec_),
                 .value = "as " + shape.text(),
                 .accepted = "as many elements, and in tile layout the same columns, and as many "
                             "rows or both multiples of 32",
                 .hint = "reshape"});
  }
  Tensor result = *this;
  result.spec_.shape = shape;
  return result;
}

std::vector<Operand> operands_of(std::span<const Tensor> tensors) {
  std::vector<Operand> operands;
  operands.reserve(tensors.size());
  for (const Tensor& tensor : tensors) operands.push_back(tensor.operand());
  return operands;
}

}  // namespace howard::ops
