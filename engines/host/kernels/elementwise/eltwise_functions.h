// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "engines/host/instruction_set.h"
#include "engines/host/kernels/elementwise/float_math.h"

namespace howard::host {

// These are the functions of elementwise programs on one element, for loops of vectorised().

struct Add {
  HOWARD_INLINE float operator()(float x, float y) const { return x + y; }
};
struct Subtract {
  HOWARD_INLINE float operator()(float x, float y) const { return x - y; }
};
struct Multiply {
  HOWARD_INLINE float operator()(float x, float y) const { return x * y; }
};
struct Relu {
  HOWARD_INLINE float operator()(float x) const { return x < 0.0F ? 0.0F : x; }  // NaN stays NaN.
};
struct Gtz {
  HOWARD_INLINE float operator()(float x) const { return x > 0.0F ? 1.0F : 0.0F; }
};
struct Square {
  HOWARD_INLINE float operator()(float x) const { return x * x; }
};
struct Exp {
  HOWARD_INLINE float operator()(float x) const { return exp_of(x); }
};
struct Erf {
  HOWARD_INLINE float operator()(float x) const { return erf_of(x); }
};
struct Gelu {
  HOWARD_INLINE float operator()(float x) const { return gelu_of(x); }
};
struct Sqrt {
  HOWARD_INLINE float operator()(float x) const { return std::sqrt(x); }
};
struct Rsqrt {
  HOWARD_INLINE float operator()(float x) const { return 1.0F / std::sqrt(x); }
};
struct Reciprocal {
  HOWARD_INLINE float operator()(float x) const { return 1.0F / x; }
};
struct Sigmoid {
  HOWARD_INLINE float operator()(float x) const { return sigmoid_of(x); }
};
struct Silu {
  HOWARD_INLINE float operator()(float x) const { return silu_of(x); }
};
struct SiluBackward {
  HOWARD_INLINE float operator()(float x, float dy) const { return dy * silu_slope_of(x); }
};
struct Identity {
  HOWARD_INLINE float operator()(float x) const { return x; }
};
struct GeluBackward {
  HOWARD_INLINE float operator()(float x, float dy) const { return dy * gelu_slope_of(x); }
};

}  // namespace howard::host
