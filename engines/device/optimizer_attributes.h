// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>

namespace howard {

/// Updates p from p, g, m and v; the outputs p, m and v are written in place. With t = step, from
/// 1, in TTML's order:
/// p -= weight_decay lr p; m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2;
/// p -= lr m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + epsilon).
/// It is one program: ttnn's MorehAdamW, or with one of the three last members TTML's own AdamW of
/// 2026. `amsgrad` and `kahan` each take one more tensor of p's shape, in this order behind v,
/// which is written in place.
struct AdamWAttributes {
  float learning_rate = 1e-3F;
  float beta1 = 0.9F;
  float beta2 = 0.999F;
  float epsilon = 1e-8F;
  float weight_decay = 0.01F;
  std::int64_t step = 1;
  bool amsgrad = false;  ///< The root is of the largest v / (1 - b2^t) of all steps so far.
  bool kahan = false;    ///< What p's type rounds away is subtracted from the next update.
  /// If set, it seeds by what chance p is rounded to bfloat16, up or down, right on average.
  std::optional<std::uint32_t> rounding_seed{};

  friend auto operator<=>(const AdamWAttributes&, const AdamWAttributes&) = default;
};

/// Updates p from p and g, and with momentum from b, which is zero before the first step; the
/// outputs p and b are written in place. First, g += weight_decay p; then b = momentum b + (1 -
/// dampening) g, and g = b, or g + momentum b with nesterov; then p -= learning_rate g. It is one
/// program: TTML's SGD of 2026. The caller leaves the dampening out of the first step, as TTML and
/// PyTorch do.
struct SgdAttributes {
  float learning_rate = 1e-3F;
  float momentum = 0;
  float dampening = 0;
  float weight_decay = 0;
  bool nesterov = false;

  friend auto operator<=>(const SgdAttributes&, const SgdAttributes&) = default;
};

}  // namespace howard
