// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/cross_entropy.h"

#include "engines/ops/check.h"

namespace howard::ops {

TensorSpec cross_entropy_output(const TensorSpec& logits, const TensorSpec& targets) {
  const Shape& positions = targets.shape;
  const bool indices = targets.dtype == DataType::uint32 && targets.layout == Layout::row_major &&
                       positions.batch() == 1;
  if (!indices || !is_real(logits) || logits.shape.batch() != positions.rows() ||
      logits.shape.rows() != positions.columns()) {
    refuse("cross_entropy", {logits, targets}, "logits [n, s, v] and uint32 row-major [n, s]");
  }
  return {logits.shape.with_columns(1), logits.dtype};
}

Program cross_entropy(const Tensor& logits, const Tensor& targets, const Tensor& out) {
  require_output("cross_entropy", out, cross_entropy_output(logits.spec(), targets.spec()));
  return {.name = "cross_entropy",
          .attributes = CrossEntropyAttributes{},
          .inputs = {logits.operand(), targets.operand()},
          .outputs = {out.operand()}};
}

Program cross_entropy_backward(const Tensor& logits, const Tensor& targets, float scale,
                               const Tensor& dlogits) {
  static_cast<void>(cross_entropy_output(logits.spec(), targets.spec()));
  require_output("cross_entropy_backward", dlogits, logits.spec());
  return {.name = "cross_entropy_backward",
          .attributes = CrossEntropyBackwardAttributes{.scale = scale},
          .inputs = {logits.operand(), targets.operand()},
          .outputs = {dlogits.operand()}};
}

}  // namespace howard::ops
