// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

/// The weights of a gated feed-forward part, stored as those of linear layers are: `gate` and `up`
/// are [f, d], and `down` is [d, f]. TTML calls them w1, w3 and w2.
struct SwigluWeights {
  Tensor gate, down, up;
};

/// Makes the program that computes out = (silu(x gate^T) * (x up^T)) down^T. Throws Error when the
/// four do not fit together.
Program swiglu(const Tensor& x, const SwigluWeights& weights, const Tensor& out);

}  // namespace howard::ops
