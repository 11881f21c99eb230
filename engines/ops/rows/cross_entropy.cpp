// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/rows/cross_entropy.h"

#include "engines/ops/check.h"

namespace howard::ops {
namespace {

Program loss_program(const char* name, const CrossEntropyAttributes& attributes,
                     const Tensor& logits, const Tensor& targets, const Tensor& out) {
  require_output(name, out, cross_entropy_output(logits.spec(), targets.spec()));
  return {.name = name,
          .attributes = attributes,
          .inputs = {logits.operand(), targets.operand()},
          .outputs = {out.operand()}};
}

Program loss_backward_program(const char* name, const CrossEntropyBackwardAttributes& attributes,
                              const Tensor& logits, const Tensor& targets, const Tensor& dlogits) {
  static_cast<void>(cross_entropy_output(logits.spec(), targets.spec()));
  require_output(name, dlogits, logits.spec());
  return {.name = name,
          .attributes = attributes,
          .inputs = {logits.operand(), targets.operand()},
          .outputs = {dlogits.operand()}};
}

}  // namespace

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
  return loss_program("cross_entropy", CrossEntropyAttributes{}, logits, targets, out);
}

Program nll_loss(const Tensor& logarithms, const Tensor& targets, const Tensor& out) {
  return loss_program("nll_loss", CrossEntropyAttributes{.of_logarithms = true}, logarithms,
                      targets, out);
}

Program cross_entropy_backward(const Tensor& logits, const Tensor& targets, float scale,
                               const Tensor& dlogits) {
  return loss_backward_program("cross_entropy_backward",
                               CrossEntropyBackwardAttributes{.scale = scale}, logits, targets,
                               dlogits);
}

Program nll_loss_backward(const Tensor& logarithms, const Tensor& targets, float scale,
                          const Tensor& dlogarithms) {
  return loss_backward_program(
      "nll_loss_backward", CrossEntropyBackwardAttributes{.scale = scale, .of_logarithms = true},
      logarithms, targets, dlogarithms);
}

}  // namespace howard::ops
