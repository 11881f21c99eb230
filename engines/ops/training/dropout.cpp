// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/training/dropout.h"

#include <fmt/format.h>

#include "base/error.h"
#include "engines/ops/check.h"

namespace howard::ops {

Program dropout(const Tensor& x, float probability, std::uint32_t seed, const Tensor& out,
                const Tensor* offset) {
  if (!(probability >= 0 && probability < 1)) {
    throw Error({.attempted = "compute dropout",
                 .value = fmt::format("with probability {}", probability),
                 .accepted = "0 up to, and without, 1"});
  }
  if (!is_real(x.spec())) refuse("dropout", {x.spec()}, "real numbers");
  require_output("dropout", out, x.spec());
  Program program{.name = "dropout",
                  .attributes = DropoutAttributes{.probability = probability, .seed = seed},
                  .inputs = {x.operand()},
                  .outputs = {out.operand()}};
  if (offset != nullptr) {
    const TensorSpec& spec = offset->spec();
    if (spec.dtype != DataType::uint32 || spec.shape.elements() != 1) {
      refuse("dropout", {x.spec(), spec}, "one uint32 as the seed's offset");
    }
    program.inputs.push_back(offset->operand());
  }
  return program;
}

}  // namespace howard::ops
