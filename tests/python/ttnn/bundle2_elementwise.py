# SPDX-License-Identifier: Apache-2.0
"""Bundle 2: every elementwise function, against Python's own."""

import math

import ttnn

device = ttnn.open_device(device_id=0)
SIZE = 1024
x_values = [(i - 500) / 128 for i in range(SIZE)]
y_values = [((i * 37) % 101 + 1) / 32 for i in range(SIZE)]


def tensor(values, dtype=ttnn.float32):
    return ttnn.Tensor(values, [32, 32], dtype, ttnn.TILE_LAYOUT, device)


def check(name, made, want):
    flat = ttnn.reshape(ttnn.from_device(made), [SIZE]).to_list()
    for i, (found, expected) in enumerate(zip(flat, want)):
        if math.isnan(expected) or math.isinf(expected):
            continue
        assert abs(found - expected) <= 1e-4 * max(1, abs(expected)), (name, i, found, expected)


def sigmoid(v):
    return 1 / (1 + math.exp(-v))


x, y = tensor(x_values), tensor(y_values)
UNARY = {
    "abs": abs, "exp": math.exp, "relu": lambda v: max(0, v), "neg": lambda v: -v,
    "sigmoid": sigmoid, "silu": lambda v: v * sigmoid(v), "tanh": math.tanh, "sin": math.sin,
    "cos": math.cos, "erf": math.erf, "square": lambda v: v * v, "floor": math.floor,
    "ceil": math.ceil, "gtz": lambda v: v > 0, "eqz": lambda v: v == 0, "ltz": lambda v: v < 0,
    "gelu": lambda v: v * 0.5 * (1 + math.erf(v / math.sqrt(2))), "expm1": math.expm1,
    "softsign": lambda v: v / (1 + abs(v)), "relu6": lambda v: min(6, max(0, v)),
    "hardsigmoid": lambda v: min(1, max(0, v / 6 + 0.5)), "sinh": math.sinh, "cosh": math.cosh,
    "atan": math.atan, "asinh": math.asinh, "sign": lambda v: (v > 0) - (v < 0),
    "mish": lambda v: v * math.tanh(math.log1p(math.exp(v))), "deg2rad": math.radians,
    "leaky_relu": lambda v: v if v > 0 else 0.01 * v, "logical_not": lambda v: v == 0,
}
for name, function in UNARY.items():
    check(name, getattr(ttnn, name)(x), [function(v) for v in x_values])
POSITIVE = {"log": math.log, "sqrt": math.sqrt, "log2": math.log2, "log10": math.log10,
            "rsqrt": lambda v: 1 / math.sqrt(v), "reciprocal": lambda v: 1 / v,
            "lgamma": math.lgamma, "log1p": math.log1p, "cbrt": lambda v: v ** (1 / 3)}
for name, function in POSITIVE.items():
    check(name, getattr(ttnn, name)(y), [function(v) for v in y_values])
BINARY = {
    "add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b, "maximum": max, "minimum": min, "gt": lambda a, b: a > b,
    "le": lambda a, b: a <= b, "hypot": math.hypot, "atan2": math.atan2,
    "squared_difference": lambda a, b: (a - b) ** 2, "rsub": lambda a, b: b - a,
    "logical_and": lambda a, b: a != 0 and b != 0, "fmod": math.fmod,
    "logaddexp": lambda a, b: math.log(math.exp(a) + math.exp(b)),
    "remainder": lambda a, b: a - b * math.floor(a / b), "ldexp": lambda a, b: a * 2 ** b,
}
for name, function in BINARY.items():
    check(name, getattr(ttnn, name)(x, y), [function(a, b) for a, b in zip(x_values, y_values)])
check("scalar", ttnn.multiply(x, 3), [3 * v for v in x_values])
check("operators", (1 + x * 2 - y) / 4, [(1 + v * 2 - w) / 4 for v, w in zip(x_values, y_values)])
check("reflected", 2 / y, [2 / w for w in y_values])
check("pow", ttnn.pow(x, 3), [v ** 3 for v in x_values])
check("clamp", ttnn.clamp(x, -1, 2), [min(2, max(-1, v)) for v in x_values])
check("where", ttnn.where(ttnn.gtz(x), x, y),
      [v if v > 0 else w for v, w in zip(x_values, y_values)])
check("addcmul", ttnn.addcmul(x, y, y, value=2), [v + 2 * w * w
                                                  for v, w in zip(x_values, y_values)])
check("activations", ttnn.add(x, y, activations=[ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)]),
      [max(0, v + w) for v, w in zip(x_values, y_values)])
check("div floor", ttnn.div(x, y, rounding_mode="floor"),
      [math.floor(v / w) for v, w in zip(x_values, y_values)])
row = ttnn.Tensor(x_values[:32], [1, 32], ttnn.float32, ttnn.TILE_LAYOUT, device)
check("broadcast", ttnn.add(y, row), [w + x_values[i % 32] for i, w in enumerate(y_values)])
z = tensor(x_values)
ttnn.add_(z, 1.0)
check("in place", z, [v + 1 for v in x_values])
whole = ttnn.Tensor(list(range(SIZE)), [32, 32], ttnn.int32, ttnn.TILE_LAYOUT, device)
check("bits", ttnn.bitwise_and(whole, 6), [i & 6 for i in range(SIZE)])
sixteen = ttnn.Tensor([1.005] * SIZE, [32, 32], ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
assert sixteen.to_list()[0][0] == 1.0078125
try:
    ttnn.add(x, ttnn.ones([3, 32], layout=ttnn.TILE_LAYOUT, device=device))
except RuntimeError as failure:
    assert "equal or 1" in str(failure), failure
else:
    raise AssertionError("shapes that do not fit were added")
ttnn.close_device(device)
