# SPDX-License-Identifier: Apache-2.0
"""Golden functions of two and three operands."""

import torch
import torch.nn.functional as F

from .activations import apply_all

_SAME = """eq ne gt ge lt le logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor
logaddexp logaddexp2 xlogy hypot maximum minimum atan2 nextafter gcd lcm bitwise_left_shift
bitwise_right_shift""".split()
_IN_PLACE = "eq ne gt ge lt le logical_and logical_or logical_xor".split()
_PLAIN = {"add": torch.add, "subtract": torch.sub, "sub": torch.sub, "multiply": torch.mul,
          "mul": torch.mul, "divide": torch.div}


def of_two(function):
    """Returns a golden function of two operands, which takes no notice of what else it is given."""
    return lambda a, b, *args, **kwargs: function(a, b)


def _with_activations(function):
    def golden(a, b, *args, activations=None, **kwargs):
        return apply_all(function(a, b), activations)

    return golden


def _in_place(name):
    def golden(a, b, *args, **kwargs):
        return getattr(a, name + "_")(b)

    return golden


def _logical_right_shift(a, shift_amt, *args, **kwargs):
    return ((a.to(torch.int64) & 0xFFFFFFFF) >> shift_amt).to(torch.int32)


def _remainder_of(function):
    """ttnn's golden functions of remainders ask for a device. A number divides a bfloat16 in
    float32."""
    def golden(a, b, *args, device, **kwargs):
        if not isinstance(b, torch.Tensor) and a.dtype is torch.bfloat16:
            return function(a.float(), b).to(torch.bfloat16)
        return function(a, b)

    return golden


def _div(a, b, round_mode=None, *args, **kwargs):
    return torch.div(a, b, rounding_mode=round_mode)


def _div_no_nan(a, b, *args, **kwargs):
    if not isinstance(b, torch.Tensor):
        return torch.zeros_like(a) if b == 0 else a / b
    return torch.where(b == 0, torch.zeros_like(a), a / b)


def _prelu(a, b, *args, **kwargs):
    if not isinstance(b, torch.Tensor):
        b = torch.tensor(b, dtype=a.dtype)
    return F.prelu(a, b.reshape(-1) if b.dim() else b.reshape(1))


def _polyval(a, coeffs, *args, **kwargs):
    made = torch.zeros_like(a)
    for coefficient in coeffs:
        made = made * a + coefficient
    return made


def _outer(a, b, *args, **kwargs):
    return torch.outer(a.squeeze(), b.squeeze())


def _isclose(a, b, *args, rtol=1e-05, atol=1e-08, equal_nan=False, **kwargs):
    return torch.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)


def _where(condition, a, b, *args, **kwargs):
    return torch.where(condition.to(torch.bool), a, b)


GOLDENS = {name: of_two(getattr(torch, name)) for name in _SAME}
GOLDENS.update({name: of_two(function) for name, function in _PLAIN.items()})
GOLDENS.update({name + "_": _with_activations(function) for name, function in _PLAIN.items()})
GOLDENS.update({name: _with_activations(lambda a, b: torch.sub(b, a)) for name in ("rsub", "rsub_")})
GOLDENS.update({name + "_": _in_place(name) for name in _IN_PLACE})
GOLDENS.update({name: of_two(function) for base, function in {
    "ldexp": torch.ldexp, "logaddexp": torch.logaddexp, "logaddexp2": torch.logaddexp2,
    "squared_difference": lambda a, b: torch.square(torch.sub(a, b)),
    "bias_gelu": lambda a, b: F.gelu(torch.add(a, b))}.items() for name in (base, base + "_")})
GOLDENS.update({
    "divide_": of_two(torch.div), "div_": of_two(torch.div), "div": _div,
    "div_no_nan": _div_no_nan, "floor_div": of_two(torch.floor_divide),
    "logical_left_shift": of_two(torch.bitwise_left_shift),
    "logical_right_shift": _logical_right_shift,
    "remainder": _remainder_of(torch.remainder), "fmod": _remainder_of(torch.fmod),
    "addalpha": lambda a, b, alpha, *args, **kwargs: torch.add(a, b, alpha=alpha),
    "subalpha": lambda a, b, alpha, *args, **kwargs: torch.sub(a, b, alpha=alpha),
    "isclose": _isclose, "outer": _outer, "polyval": _polyval, "prelu": _prelu,
    "addcmul": lambda a, b, c, *args, value=1, **kwargs: torch.addcmul(a, b, c, value=value),
    "addcdiv": lambda a, b, c, *args, value=1, **kwargs: torch.addcdiv(a, b, c, value=value),
    "lerp": lambda a, b, c, *args, **kwargs: torch.lerp(a, b, c),
    "mac": lambda a, b, c, *args, **kwargs: torch.add(torch.mul(a, b), c),
    "where": _where,
})
