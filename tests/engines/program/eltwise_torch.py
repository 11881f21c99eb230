# SPDX-License-Identifier: Apache-2.0
"""Writes eltwise_torch.json: what PyTorch makes of elementwise functions at special points, in
float64. It runs wherever torch is installed: python3 eltwise_torch.py

Where torch has no function of that name, the expression is ttnn's golden function of that name. The
functions of whole numbers are taken at whole numbers.
"""

import json
import math
import pathlib

import torch
import torch.nn.functional as F

FILE = pathlib.Path(__file__).with_name("eltwise_torch.json")
POINTS = [-math.inf, -1.0, -0.0, 0.0, 0.5, 1 - 1e-12, 1.0, math.inf, math.nan]
FEW_POINTS = [-math.inf, 0.0, 0.5, 1.0, math.nan]
WHOLE = [-7, -1, 0, 1, 2, 12]


def silu_backward(x, dy):
    x = x.clone().requires_grad_()
    return torch.autograd.grad(F.silu(x), x, dy)[0]


def logical_right_shift(x, y):
    return torch.bitwise_right_shift(x & 0xFFFFFFFF, y).to(torch.int32)


ONE = {name: (getattr(torch, name), []) for name in """relu square abs neg sign signbit logical_not
       isfinite isinf isnan isposinf isneginf ceil floor trunc round frac rad2deg deg2rad exp erf sqrt
       rsqrt reciprocal exp2 expm1 log log2 log10 log1p sigmoid tanh selu erfc erfinv sin cos tan asin
       acos atan sinh cosh asinh acosh atanh i0 digamma lgamma""".split()}
ONE.update({name: (getattr(F, name), []) for name in """gelu silu mish tanhshrink relu6 hardsigmoid
            hardswish softsign""".split()})
ONE.update({
    "log_sigmoid": (F.logsigmoid, []),
    "gtz": (lambda x: x > 0, []), "eqz": (lambda x: x == 0, []), "nez": (lambda x: x != 0, []),
    "ltz": (lambda x: x < 0, []), "lez": (lambda x: x <= 0, []), "gez": (lambda x: x >= 0, []),
    "cast": (torch.clone, []), "identity": (torch.clone, []),
    "relu_max": (lambda x, limit: torch.relu(x.clamp(max=limit)), [0.75, -1.0]),
    "relu_min": (lambda x, limit: torch.maximum(x, torch.full_like(x, limit)), [0.75, -1.0]),
    "leaky_relu": (F.leaky_relu, [0.25]),
    "clamp": (torch.clamp, [(-0.5, 0.75)]),
    "hardtanh": (F.hardtanh, [(-0.5, 0.75)]),
    "threshold": (F.threshold, [(0.5, 9.0), (-2.0, 9.0)]),
    "hardshrink": (F.hardshrink, [0.5]),
    "softshrink": (F.softshrink, [0.5]),
    "hardmish": (lambda x: x * torch.clamp(x + 2.8, 0, 5) / 5, []),
    "heaviside": (lambda x, value: torch.heaviside(x, torch.full_like(x, value)), [0.25]),
    "rdiv": (lambda x, value: torch.div(torch.full_like(x, value), x), [2.0]),
    "round": (lambda x, decimals: torch.round(x, decimals=int(decimals)), [0.0, 1.0]),
    "softplus": (F.softplus, [(1.0, 20.0), (0.5, 0.25)]),
    "elu": (F.elu, [2.0]), "celu": (F.celu, [2.0]),
    "logit": (lambda x, eps: torch.logit(x, None if eps < 0 else eps), [-1.0, 0.0, 0.25]),
    "cbrt": (lambda x: torch.sgn(x) * torch.pow(torch.abs(x), 1 / 3), []),
    "i1": (torch.special.i1, []),
    "power": (torch.pow, [2.0, 1.5]),
    "rpow": (lambda x, base: torch.pow(base, x), [2.0]),
    "gelu_approx": (lambda x: F.gelu(x, approximate="tanh"), []),
    "polygamma": (lambda x, k: torch.polygamma(int(k), x), [1.0, 2.0]),
    "multigammaln": (lambda x, _: sum(torch.lgamma(x - i / 2) for i in range(4)) +
                     3 * math.log(math.pi), [4.0]),
})

TWO = {name: (getattr(torch, name), []) for name in """add subtract multiply divide eq ne lt le gt ge
       logical_and logical_or logical_xor maximum minimum pow remainder fmod hypot xlogy atan2 ldexp
       logaddexp logaddexp2""".split()}
TWO.update({
    "rsub": (torch.rsub, []),
    "squared_difference": (lambda x, y: torch.square(x - y), []),
    "bias_gelu": (lambda x, y: F.gelu(x + y), []),
    "addalpha": (lambda x, y, alpha: torch.add(x, y, alpha=alpha), [3.0]),
    "subalpha": (lambda x, y, alpha: torch.sub(x, y, alpha=alpha), [3.0]),
    "silu_backward": (silu_backward, []),
    "div_no_nan": (lambda x, y: torch.where(y == 0, torch.zeros_like(x), x / y), []),
    "floor_div": (torch.floor_divide, []),
    "trunc_div": (lambda x, y: torch.div(x, y, rounding_mode="trunc"), []),
    "prelu": (lambda x, y: torch.where(x > 0, x, x * y), []),
    "nextafter": (lambda x, y: torch.nextafter(x.float(), y.float()), []),
})
THREE = {
    "where": (lambda x, y, z: torch.where(x != 0, y, z), []),
    "addcmul": (lambda x, y, z, value: torch.addcmul(x, y, z, value=value), [2.0]),
    "addcdiv": (lambda x, y, z, value: torch.addcdiv(x, y, z, value=value), [2.0]),
    "lerp": (torch.lerp, []),
}
OF_WHOLE = {
    "bitwise_not": (torch.bitwise_not, 1),
    "bitwise_and": (torch.bitwise_and, 2), "bitwise_or": (torch.bitwise_or, 2),
    "bitwise_xor": (torch.bitwise_xor, 2),
    "gcd": (torch.gcd, 2), "lcm": (torch.lcm, 2),
}
SHIFTS = {"bitwise_left_shift": torch.bitwise_left_shift,
          "bitwise_right_shift": torch.bitwise_right_shift,
          "logical_left_shift": torch.bitwise_left_shift,
          "logical_right_shift": logical_right_shift}


def grid(axes, dtype=torch.float64):
    """Returns the operands at all combinations of the points of the axes."""
    made = torch.meshgrid(*[torch.tensor(points, dtype=dtype) for points in axes], indexing="ij")
    return [one.flatten() for one in made]


GRIDS = {"one": [POINTS], "two": [POINTS] * 2, "three": [FEW_POINTS] * 3, "whole": [WHOLE],
         "wholes": [WHOLE] * 2, "shifts": [WHOLE, [0, 1, 5]]}


def text(value):
    """Returns a number as JSON can have it."""
    return float(value) if math.isfinite(value) else str(float(value))


def rows():
    """Returns the grid, the name, the numbers and the values of each row."""
    for grid_name, functions in (("one", ONE), ("two", TWO), ("three", THREE)):
        for name, (function, choices) in functions.items():
            for given in choices or [()]:
                numbers = given if isinstance(given, tuple) else (given,)
                yield grid_name, name, numbers, function(*grid(GRIDS[grid_name]), *numbers)
    for name, (function, count) in OF_WHOLE.items():
        axes = "whole" if count == 1 else "wholes"
        yield axes, name, (), function(*grid(GRIDS[axes], torch.int32))
    for name, function in SHIFTS.items():
        yield "shifts", name, (), function(*grid(GRIDS["shifts"], torch.int64))


def main():
    axes = {name: [[text(v) for v in points] for points in one] for name, one in GRIDS.items()}
    lines = [json.dumps({"grid": grid_name, "function": name, "numbers": numbers,
                         "values": [text(v) for v in made.double().tolist()]})
             for grid_name, name, numbers, made in rows()]
    source = f"PyTorch {torch.__version__.split('+')[0]}, float64, by eltwise_torch.py"
    FILE.write_text('{"source": %s,\n "grids": %s,\n "rows": [\n  %s\n]}\n' % (
        json.dumps(source), json.dumps(axes), ",\n  ".join(lines)), encoding="utf-8")


main()
