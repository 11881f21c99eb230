// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "engines/autograd/optimizer.h"
#include "engines/autograd/parameter.h"

namespace howard::autograd {

/// The calls that update one parameter.
enum class AdamWForm : std::uint8_t {
  composite,  ///< TTML's own: seventeen elementwise ones.
  fused,      ///< ttnn's MorehAdamW, one.
};

/// AdamW in TTML's order of operations (AdamWAttributes).
class AdamW final : public Optimizer {
 public:
  /// Allocates the moments and sets them to zero. `attributes`: its count of steps is that of the
  /// first step. `parameters` must outlive this.
  AdamW(const Calls& calls, std::vector<Parameter*> parameters, const AdamWAttributes& attributes,
        AdamWForm form = AdamWForm::composite);

  void step(const Calls& calls) override;

  /// For saving and restoring: in the order of the parameters.
  const std::vector<ops::Moments>& moments() const { return moments_; }
  std::int64_t next_step() const { return attributes_.step; }
  void set_next_step(std::int64_t step) { attributes_.step = step; }

 private:
  std::vector<Parameter*> parameters_;
  std::vector<ops::Moments> moments_;
  AdamWAttributes attributes_;
  AdamWForm form_;
};

}  // namespace howard::autograd
