// SPDX-License-Identifier: Apache-2.0
#include "engines/program/kinds/collective.h"

namespace howard {
namespace {

/// Throws Error unless the tensors differ in one dimension only, of which `part` is a share.
void require_share(std::string_view op, int along, const TensorSpec& part,
                   const TensorSpec& whole) {
  bool fits = part.dtype == whole.dtype && part.layout == whole.layout;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::int64_t of_part = part.shape.dimensions()[i];
    const std::int64_t of_whole = whole.shape.dimensions()[i];
    fits = fits && (static_cast<int>(i) == along ? of_whole % of_part == 0 : of_whole == of_part);
  }
  if (fits) return;
  refuse_operands(op, {part, whole},
                  "tensors that differ in one dimension, of which one is a share");
}

}  // namespace

void AllGatherAttributes::check(Specs in, Specs out) const {
  require_share(kName, dimension, in[0], out[0]);
}

void ReduceScatterAttributes::check(Specs in, Specs out) const {
  if (dimension != Dimension::rows && dimension != Dimension::columns) {
    refuse_operands(kName, in.first(1), "a share of the rows or of the columns");
  }
  require_share(kName, side(), out[0], in[0]);
}

}  // namespace howard
