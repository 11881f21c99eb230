// SPDX-License-Identifier: Apache-2.0
#include "engines/program/kinds/training.h"

#include <fmt/format.h>

#include <string>

#include "base/error.h"

namespace howard {
namespace {

/// Throws Error unless all tensors have the parameter's shape, and those that are kept are written.
void require_update(std::string_view op, Specs in, Specs out, std::size_t kept) {
  if (in.size() != kept + 1 || out.size() != kept) {
    refuse_operands(op, in,
                    std::to_string(kept + 1) + " operands and " + std::to_string(kept) +
                        " results, as the op's fields say");
  }
  for (const Specs specs : {in, out}) {
    for (const TensorSpec& spec : specs) {
      if (spec.shape == in[0].shape) continue;
      refuse_operands(op, {in[0], spec}, "a gradient and further tensors of the parameter's shape");
    }
  }
}

}  // namespace

SpecList DropoutAttributes::results(Specs in) const {
  if (!(probability >= 0 && probability < 1)) {
    throw Error({.attempted = "compute dropout",
                 .value = fmt::format("with probability {}", probability),
                 .accepted = "0 up to, and without, 1"});
  }
  return {in[0]};
}

void AdamWAttributes::check(Specs in, Specs out) const {
  require_update(kName, in, out, std::size_t{3} + (amsgrad ? 1U : 0U) + (kahan ? 1U : 0U));
  if (rounding_seed && in[0].dtype != DataType::bfloat16) {
    refuse_operands(kName, in.first(1), "a bfloat16 parameter to round by chance");
  }
  if (step >= 1) return;
  throw Error({.attempted = "run adamw",
               .value = "step " + std::to_string(step),
               .accepted = "1 and above: steps count from 1"});
}

void SgdAttributes::check(Specs in, Specs out) const {
  require_update(kName, in, out, momentum != 0 ? 2 : 1);
  for (const TensorSpec& spec : in) {
    if (spec.layout == in[0].layout) continue;
    refuse_operands(kName, {in[0], spec}, "a gradient and a buffer of the parameter's layout");
  }
}

}  // namespace howard
