# SPDX-License-Identifier: Apache-2.0
"""Which kernel of the emulator runs a function of ttnn.

A "~" marks an analogy: the emulator has no kernel of that function's own, and takes the nearest that
it has: as many operands, and about as much arithmetic for a number. The summary of a run names them.
"""

_SIMPLE = """abs neg sign signbit relu6 relu_min relu_max leaky_relu prelu hardtanh clamp threshold
heaviside isfinite isinf isnan isposinf isneginf logical_not bitwise_not eqz nez ltz gez lez identity
floor ceil trunc frac round hardshrink softshrink hardsigmoid hardswish hardmish rad2deg deg2rad
bitcast alt_complex_rotate90 copy assign clone""".split()
_EXPONENTIAL = """exp2 expm1 sigmoid silu elu celu selu tanh cosh sinh log log2 log10 log1p softplus
log_sigmoid mish tanhshrink softsign gelu_approx logit swish""".split()
_HEAVY = """erfc erfinv sin cos tan asin acos atan asinh acosh atanh i0 i1 digamma lgamma multigammaln
polygamma cbrt pow""".split()
_TWO = """eq ne gt lt ge le logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor
bitwise_left_shift bitwise_right_shift logical_left_shift logical_right_shift maximum minimum ldexp
logaddexp logaddexp2 squared_difference bias_gelu gcd lcm remainder fmod xlogy hypot atan2 nextafter
div_no_nan floor_div trunc_div divide rdiv rpow rsub where lerp addcmul addcdiv mac isclose""".split()

KERNEL_OF = {
    "add": "add",
    "subtract": "subtract",
    "multiply": "multiply",
    "relu": "relu",
    "gtz": "gtz",
    "square": "square",
    "exp": "exp",
    "erf": "erf",
    "gelu": "gelu",
    "sqrt": "sqrt",
    "rsqrt": "rsqrt",
    "reciprocal": "reciprocal",
    "typecast": "cast",
    "fill": "fill",
    **{name: "~relu" for name in _SIMPLE},
    **{name: "~exp" for name in _EXPONENTIAL},
    **{name: "~erf" for name in _HEAVY},
    **{name: "~multiply" for name in _TWO},
}
