// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/collective/collective.h"

#include <array>

#include "engines/device/collective.h"
#include "engines/ops/check.h"

namespace howard::ops {
namespace {

TensorSpec with_side(TensorSpec spec, int dimension, std::int64_t size) {
  std::array<std::int64_t, 4> sides = spec.shape.dimensions();
  sides[static_cast<std::size_t>(dimension)] = size;
  spec.shape = {sides[0], sides[1], sides[2], sides[3]};
  return spec;
}

std::int64_t side(const TensorSpec& spec, int dimension) {
  return spec.shape.dimensions()[static_cast<std::size_t>(dimension)];
}

void require_group(std::string_view op, const Tensor& tensor, const Tensor& group) {
  if (group.spec().dtype == DataType::uint32 && is_real(tensor.spec())) return;
  refuse(op, {tensor.spec(), group.spec()}, "real numbers and the handle of a group of devices");
}

}  // namespace

TensorSpec all_gather_output(const TensorSpec& part, int devices, int dimension) {
  return with_side(part, dimension, devices * side(part, dimension));
}

Program all_gather(const Tensor& part, const Tensor& group, int dimension, const Tensor& whole) {
  require_group(kAllGather, part, group);
  const std::int64_t devices = whole.spec().shape.elements() / part.spec().shape.elements();
  require_output(kAllGather, whole,
                 all_gather_output(part.spec(), static_cast<int>(devices), dimension));
  return {.name = kAllGather,
          .attributes = ConcatAttributes{.dimension = dimension},
          .inputs = {part.operand(), group.operand()},
          .outputs = {whole.operand()}};
}

TensorSpec reduce_scatter_output(const TensorSpec& whole, int devices, Dimension dimension) {
  const int index = dimension == Dimension::rows ? 2 : 3;
  if (side(whole, index) % devices != 0 ||
      (dimension != Dimension::rows && dimension != Dimension::columns)) {
    refuse(kReduceScatter, {whole}, "rows or columns that the devices divide");
  }
  return with_side(whole, index, side(whole, index) / devices);
}

Program reduce_scatter(const Tensor& whole, const Tensor& group, Dimension dimension,
                       const Tensor& part) {
  require_group(kReduceScatter, whole, group);
  const std::int64_t devices = whole.spec().shape.elements() / part.spec().shape.elements();
  require_output(kReduceScatter, part,
                 reduce_scatter_output(whole.spec(), static_cast<int>(devices), dimension));
  return {.name = kReduceScatter,
          .attributes = ReduceAttributes{.reduction = Reduction::sum, .dimension = dimension},
          .inputs = {whole.operand(), group.operand()},
          .outputs = {part.operand()}};
}

}  // namespace howard::ops
