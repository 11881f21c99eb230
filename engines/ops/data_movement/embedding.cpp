// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/data_movement/embedding.h"

#include "engines/ops/check.h"

namespace howard::ops {
namespace {

bool are_indices(const TensorSpec& spec) {
  return spec.dtype == DataType::uint32 && spec.shape.batch() == 1;
}

}  // namespace

TensorSpec embedding_output(const TensorSpec& indices, const TensorSpec& table) {
  if (!are_indices(indices) || table.layout != Layout::row_major || !is_real(table) ||
      table.shape.batch() != 1) {
    refuse("embedding", {indices, table}, "uint32 [n, s] and a row-major table [v, d]");
  }
  return {{indices.shape.rows(), indices.shape.columns(), table.shape.columns()}, table.dtype};
}

Program embedding(const Tensor& indices, const Tensor& table, const Tensor& out) {
  TensorSpec expected = embedding_output(indices.spec(), table.spec());
  // The result may have rows of the table as they are, or tiles made of them.
  expected.layout = out.spec().layout;
  require_output("embedding", out, expected);
  return {.name = "embedding",
          .attributes = EmbeddingAttributes{},
          .inputs = {indices.operand(), table.operand()},
          .outputs = {out.operand()}};
}

Program embedding_backward(const Tensor& indices, const Tensor& dy, const Tensor& dtable) {
  const Shape& positions = indices.spec().shape;
  const Shape& gradient = dtable.spec().shape;
  const TensorSpec expected{{positions.rows(), positions.columns(), gradient.columns()},
                            dtable.spec().dtype};
  if (!are_indices(indices.spec()) || dy.spec() != expected || gradient.batch() != 1) {
    refuse("embedding_backward", {indices.spec(), dy.spec(), dtable.spec()},
           "uint32 row-major [n, s], dy [n, s, d] and a gradient [v, d]");
  }
  return {.name = "embedding_backward",
          .attributes = EmbeddingBackwardAttributes{},
          .inputs = {indices.operand(), dy.operand()},
          .outputs = {dtable.operand()}};
}

}  // namespace howard::ops
