// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "engines/program/operands.h"

namespace howard {

/// Computes x / (1 - probability), or 0 with that probability. The same seed drops the same
/// elements. The offset is added to the seed when the program runs, so that a replayed trace need
/// not drop the same elements each time.
struct DropoutAttributes {
  static constexpr std::string_view kName = "dropout";
  static constexpr std::string_view kTtnn = "DropoutDeviceOperation";
  static constexpr std::array kInputs{role::reals("x"), role::maybe(role::one("offset"))};
  static constexpr std::array kResults{role::reals("y")};

  float probability = 0;
  std::uint32_t seed = 0;

  static void fields(auto& self, auto&& visit) {
    visit({"probability", "prob"}, self.probability);
    visit("seed", self.seed, Whole{0, UINT32_MAX});
  }
  SpecList results(Specs in) const;

  friend auto operator<=>(const DropoutAttributes&, const DropoutAttributes&) = default;
};

/// Updates p from p, g, m and v; the outputs p, m and v are written in place. With t = step, from
/// 1, in TTML's order:
/// p -= weight_decay lr p; m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2;
/// p -= lr m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + epsilon).
/// It is one program: ttnn's MorehAdamW, or with one of the three last members TTML's own AdamW of
/// 2026. `amsgrad` and `kahan` each take one more tensor of p's shape, in this order after v, which
/// is written in place.
struct AdamWAttributes {
  static constexpr std::string_view kName = "adamw";
  static constexpr std::string_view kTtnn = "MorehAdamWDeviceOperation";
  static constexpr std::array kInputs{
      role::reals("parameter"),
      role::reals("gradient"),
      role::reals("first moment"),
      role::reals("second moment"),
      role::maybe(role::reals("largest second moment, or compensation")),
      role::maybe(role::reals("compensation"))};
  static constexpr std::array kResults{
      role::reals("parameter"), role::reals("first moment"), role::reals("second moment"),
      role::maybe(role::reals("largest second moment, or compensation")),
      role::maybe(role::reals("compensation"))};

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

  static void fields(auto& self, auto&& visit) {
    visit({"learning_rate", "lr"}, self.learning_rate);
    visit("beta1", self.beta1);
    visit("beta2", self.beta2);
    visit(field::kEpsilon, self.epsilon);
    visit("weight_decay", self.weight_decay);
    visit("step", self.step, Whole{1, std::int64_t{1} << 40});
    visit("amsgrad", self.amsgrad);
    visit({"kahan", ""}, self.kahan);
    visit({"rounding_seed", ""}, self.rounding_seed, Whole{0, UINT32_MAX});
  }
  void check(Specs in, Specs out) const;

  friend auto operator<=>(const AdamWAttributes&, const AdamWAttributes&) = default;
};

/// Updates p from p and g, and with momentum from b, which is zero before the first step; the
/// outputs p and b are written in place. First, g += weight_decay p; then b = momentum b + (1 -
/// dampening) g, and g = b, or g + momentum b with nesterov; then p -= learning_rate g. It is one
/// program: TTML's SGD of 2026. The caller leaves the dampening out of the first step, as TTML and
/// PyTorch do.
struct SgdAttributes {
  static constexpr std::string_view kName = "sgd";
  static constexpr std::string_view kTtnn = "SGDFusedDeviceOperation";
  static constexpr std::array kInputs{role::reals("parameter"), role::reals("gradient"),
                                      role::maybe(role::reals("buffer"))};
  static constexpr std::array kResults{role::reals("parameter"),
                                       role::maybe(role::reals("buffer"))};

  float learning_rate = 1e-3F;
  float momentum = 0;
  float dampening = 0;
  float weight_decay = 0;
  bool nesterov = false;

  static void fields(auto& self, auto&& visit) {
    visit({"learning_rate", "lr"}, self.learning_rate);
    visit("momentum", self.momentum);
    visit("dampening", self.dampening);
    visit("weight_decay", self.weight_decay);
    visit("nesterov", self.nesterov);
  }
  void check(Specs in, Specs out) const;

  friend auto operator<=>(const SgdAttributes&, const SgdAttributes&) = default;
};

}  // namespace howard
