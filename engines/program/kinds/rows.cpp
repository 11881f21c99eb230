// SPDX-License-Identifier: Apache-2.0
#include "engines/program/kinds/rows.h"

namespace howard {
namespace {

/// Throws Error unless the operands from `first` on are rows as wide as x.
void require_rows(std::string_view op, Specs in, std::size_t first, std::size_t count) {
  for (std::size_t i = first; i < first + count && i < in.size(); ++i) {
    if (in[i].shape == Shape{in[0].shape.columns()}) continue;
    refuse_operands(op, {in[0], in[i]}, "gamma and beta of one row, as wide as x");
  }
}

/// Throws Error unless the operands from `first` on have a number for each row of x.
void require_numbers(std::string_view op, Specs in, std::size_t first, std::size_t count) {
  for (std::size_t i = first; i < first + count; ++i) {
    if (in[i].shape == in[0].shape.with_columns(1) && in[i].dtype == in[0].dtype) continue;
    refuse_operands(op, {in[0], in[i]}, "a number for each row of x, of its data type");
  }
}

void require_like_first(std::string_view op, Specs in, std::size_t i) {
  if (in[i].shape == in[0].shape && in[i].dtype == in[0].dtype && in[i].layout == in[0].layout) {
    return;
  }
  refuse_operands(op, {in[0], in[i]}, "equal operands");
}

void require_targets(std::string_view op, Specs in) {
  const Shape& logits = in[0].shape;
  const Shape& targets = in[1].shape;
  if (in[1].layout == Layout::row_major && targets.batch() == 1 &&
      logits.batch() == targets.rows() && logits.rows() == targets.columns()) {
    return;
  }
  refuse_operands(op, in, "logits [n, s, v] and uint32 row-major targets [n, s]");
}

}  // namespace

std::string_view ReduceAttributes::ttnn() const {
  if (moreh) return reduction == Reduction::mean ? "MorehMeanOperation" : "MorehSumOperation";
  return dimension == Dimension::batch ? "FastReduceNCDeviceOperation" : "Reduce";
}

std::vector<ReduceAttributes> ReduceAttributes::all() {
  return {
      {.reduction = Reduction::sum}, {.reduction = Reduction::mean}, {.reduction = Reduction::max}};
}

SpecList ReduceAttributes::results(Specs in) const {
  if (in[0].is_whole() && reduction == Reduction::mean) {
    refuse_operands(name(), in, "x: real numbers");
  }
  const Shape& shape = in[0].shape;
  switch (dimension) {
    case Dimension::columns:
      return {{shape.with_columns(1), in[0].dtype}};
    case Dimension::rows:
      return {{shape.with_rows(1), in[0].dtype}};
    case Dimension::batch:
      return {{{shape.rows(), shape.columns()}, in[0].dtype}};
    case Dimension::all:
      break;
  }
  return {{{1}, in[0].dtype}};
}

void ReduceAttributes::check(Specs in, Specs out) const {
  SpecList expected = results(in);
  if ((in[0].is_whole() || out[0].is_whole()) && in[0].dtype != out[0].dtype) {
    refuse_operands(name(), {in[0], out[0]}, "a result of x's data type, where one is whole");
  }
  const Shape& to = out[0].shape;
  if (dimension == Dimension::batch && to.outer() == in[0].shape.outer() && to.heads() == 1) {
    expected[0].shape = {to.outer(), 1, in[0].shape.rows(), in[0].shape.columns()};
  }
  require_results(name(), kResults, expected, out, {.dtype = true});
}

SpecList SoftmaxBackwardAttributes::results(Specs in) const {
  require_like_first(kName, in, 1);
  return {in[0]};
}

TensorSpec row_numbers(const TensorSpec& x) { return {x.shape.with_columns(1), x.dtype}; }

SpecList TtmlLayernormAttributes::results(Specs in) const {
  require_rows(kName, in, 1, 2);
  return {in[0], row_numbers(in[0]), row_numbers(in[0])};
}

SpecList LayernormBackwardAttributes::results(Specs in) const {
  require_rows(kName, in, 1, 1);
  require_numbers(kName, in, 2, 2);
  require_like_first(kName, in, 4);
  return {in[0], in[0], in[0]};
}

SpecList RmsNormAttributes::results(Specs in) const {
  require_rows(kName, in, 1, 1);
  return {in[0]};
}

SpecList TtmlRmsNormAttributes::results(Specs in) const {
  require_rows(kName, in, 1, 1);
  return {in[0], row_numbers(in[0])};
}

SpecList RmsNormBackwardAttributes::results(Specs in) const {
  require_rows(kName, in, 1, 1);
  require_numbers(kName, in, 2, 1);
  require_like_first(kName, in, 3);
  return {in[0], in[0]};
}

SpecList CrossEntropyAttributes::results(Specs in) const {
  require_targets(name(), in);
  return {{in[0].shape.with_columns(1), in[0].dtype}};
}

SpecList CrossEntropyBackwardAttributes::results(Specs in) const {
  require_targets(name(), in);
  return {in[0]};
}

}  // namespace howard
