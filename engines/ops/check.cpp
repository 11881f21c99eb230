// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/check.h"

#include <fmt/format.h>

#include "base/error.h"

namespace howard::ops {

std::string text(const TensorSpec& spec) {
  return fmt::format("{} {}", spec.shape.text(), name_of(spec.dtype));
}

void require_output(std::string_view op, const Tensor& out, const TensorSpec& expected) {
  if (out.spec() == expected) return;
  throw Error({.attempted = fmt::format("store the result of {}", op),
               .value = text(out.spec()),
               .accepted = text(expected),
               .hint = ""});
}

}  // namespace howard::ops
