// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/check.h"

#include <fmt/format.h>

#include "base/error.h"

namespace howard::ops {

std::string text(const TensorSpec& spec) {
  return fmt::format("{} {}{}", spec.shape.text(), name_of(spec.dtype),
                     spec.layout == Layout::row_major ? " row-major" : "");
}

std::string text(std::initializer_list<TensorSpec> specs) {
  std::string all;
  for (const TensorSpec& spec : specs) all += (all.empty() ? "" : " and ") + text(spec);
  return all;
}

void refuse(std::string_view op, std::initializer_list<TensorSpec> specs,
            std::string_view accepted) {
  throw Error({.attempted = fmt::format("compute {}", op),
               .value = text(specs),
               .accepted = std::string(accepted)});
}

bool is_real(const TensorSpec& spec) { return spec.dtype != DataType::uint32; }

void require_output(std::string_view op, const Tensor& out, const TensorSpec& expected) {
  // The caller chooses where the result lies.
  const TensorSpec& spec = out.spec();
  if (spec.shape == expected.shape && spec.dtype == expected.dtype &&
      spec.layout == expected.layout) {
    return;
  }
  throw Error({.attempted = fmt::format("store the result of {}", op),
               .value = text(out.spec()),
               .accepted = text(expected)});
}

void require_position(std::string_view op, const Tensor& position) {
  const TensorSpec& spec = position.spec();
  if (spec.dtype == DataType::uint32 && spec.shape.elements() == 1) return;
  refuse(op, {spec}, "one uint32 as the position");
}

}  // namespace howard::ops
