# SPDX-License-Identifier: Apache-2.0
"""Golden functions of one operand: most are PyTorch's function of the same name."""

import torch
import torch.nn.functional as F

# PyTorch has these under ttnn's own name.
_SAME = """abs atan cos erfinv exp2 expm1 floor ceil i0 isfinite isinf isnan isneginf isposinf log log10
log2 logical_not neg relu sigmoid sign signbit sin sqrt square tan tanh exp erf erfc rsqrt asinh cosh
deg2rad digamma lgamma log1p rad2deg sinh trunc frac selu bitwise_not reciprocal real imag angle conj
is_real is_imag polar""".split()
_FUNCTIONAL = {"silu": F.silu, "swish": F.silu, "relu6": F.relu6, "log_sigmoid": F.logsigmoid,
               "gelu": F.gelu, "softplus": F.softplus, "hardswish": F.hardswish,
               "hardsigmoid": F.hardsigmoid, "softsign": F.softsign, "tanhshrink": F.tanhshrink,
               "sigmoid_accurate": torch.sigmoid, "identity": torch.clone}
_WITH_ZERO = {"eqz": torch.eq, "gez": torch.ge, "gtz": torch.gt, "lez": torch.le, "ltz": torch.lt,
              "nez": torch.ne}


def of_operand(function):
    """Returns a golden function of one tensor, which takes no notice of what else it is given."""
    return lambda x, *args, **kwargs: function(x)


def hardmish(x):
    """Computes in float32; a bfloat16 is cut off and not rounded."""
    wide = x.float()
    made = wide * torch.clamp(wide + 2.8, 0.0, 5.0) / 5
    if x.dtype is not torch.bfloat16:
        return made
    return (made.view(torch.int32) & -65536).view(torch.float32).to(torch.bfloat16)


def multigammaln(x):
    shifted = [torch.lgamma(x - half) for half in (0.0, 0.5, 1.0, 1.5)]
    return sum(shifted[1:], shifted[0]) + 3.434189657547


def _infinite(function, beyond):
    """Makes a function infinite, where bfloat16 numbers are beyond what it is defined for."""
    def golden(x, *args, **kwargs):
        made = function(x)
        if x.dtype is torch.bfloat16:
            made = torch.where(beyond(x), torch.full_like(made, float("inf")), made)
        return made

    return golden


def _with_device(function):
    """asin and acos of ttnn's golden functions ask for a device, and for its numbers."""
    return lambda x, *args, device, **kwargs: function(x)


def _normalize_hw(x, **_):
    for outer in range(x.shape[0]):
        for inner in range(x.shape[1]):
            part = x[outer][inner]
            x[outer][inner] = (part - part.mean()) / part.std()
    return x


def _normalize_global(x, **_):
    return (x - x.mean([0, 1, 2, 3])) / x.std([0, 1, 2, 3])


def _halves(gate):
    def golden(x, dim=-1, *args, **kwargs):
        assert isinstance(dim, int), "dim must be an integer"
        assert dim in (-1, 3), "dim must be -1 or 3"
        a, b = torch.split(x, x.size(-1) // 2, dim)
        return a * gate(b)

    return golden


def _round(x, decimals=None, *args, **kwargs):
    return torch.round(x) if decimals is None else torch.round(x, decimals=decimals)


def _clamp(x, min=None, max=None, *args, **kwargs):
    return torch.clamp(x, min, max)


def _rotate90(x, *args, **kwargs):
    pairs = x.reshape(*x.shape[:-1], -1, 2)
    return torch.stack([-pairs[..., 1], pairs[..., 0]], -1).reshape(x.shape)


def _bitcast(x, *args, **kwargs):
    raise TypeError("the golden function of ttnn.bitcast knows no type, in ttnn either")


GOLDENS = {name: of_operand(getattr(torch, name)) for name in _SAME if hasattr(torch, name)}
GOLDENS.update({name: of_operand(function) for name, function in _FUNCTIONAL.items()})
GOLDENS.update({name: of_operand(lambda x, compare=compare: compare(x, 0))
                for name, compare in _WITH_ZERO.items()})
GOLDENS.update({name + "_": GOLDENS[name] for name in
                "exp relu sqrt rsqrt square reciprocal neg abs sigmoid silu gelu tanh".split()})
GOLDENS.update({
    "is_real": of_operand(torch.isreal), "is_imag": of_operand(lambda x: x.real == 0),
    "polar": lambda x, *args, **kwargs: torch.polar(x.real, x.imag),
    "logical_not_": lambda x, *args, **kwargs: x.logical_not_(),
    "cbrt": of_operand(lambda x: torch.sgn(x) * torch.pow(torch.abs(x), 1 / 3)),
    "mish": of_operand(lambda x: F.mish(x.float())),
    "hardmish": of_operand(hardmish), "multigammaln": of_operand(multigammaln),
    "asin": _with_device(torch.asin),
    "acos": _with_device(_infinite(torch.acos, lambda x: torch.abs(x) > 1)),
    "acosh": _infinite(torch.acosh, lambda x: x < 1),
    "atanh": _infinite(torch.atanh, lambda x: torch.abs(x) >= 1),
    "bitcast": _bitcast, "alt_complex_rotate90": _rotate90,
    "normalize_hw": _normalize_hw, "normalize_global": _normalize_global,
    "glu": lambda x, dim=-1, *args, **kwargs: F.glu(x, dim),
    "reglu": _halves(F.relu), "geglu": _halves(F.gelu), "swiglu": _halves(F.silu),
    "round": _round, "clamp": _clamp, "clip": _clamp,
    "pow": lambda x, exponent, *args, **kwargs: torch.pow(x, exponent),
    "rpow": lambda x, exponent, *args, **kwargs: torch.pow(exponent, x),
    "rdiv": lambda x, value, *args, round_mode=None, **kwargs: torch.div(
        torch.full_like(x, value), x, rounding_mode=round_mode),
    "elu": lambda x, *args, alpha=1.0, **kwargs: F.elu(x, alpha=alpha),
    "celu": lambda x, *args, alpha=1.0, **kwargs: F.celu(x, alpha=alpha),
    "hardtanh": lambda x, *args, min_val=-1.0, max_val=1.0, **kwargs: F.hardtanh(
        x, min_val, max_val),
    "leaky_relu": lambda x, *args, negative_slope=0.01, **kwargs: F.leaky_relu(x, negative_slope),
    "relu_min": lambda x, lower_limit, *args, **kwargs: torch.max(
        x, torch.tensor(lower_limit, dtype=x.dtype)),
    "relu_max": lambda x, upper_limit, *args, **kwargs: torch.relu(
        torch.min(x, torch.tensor(upper_limit, dtype=x.dtype))),
    "heaviside": lambda x, value, *args, **kwargs: torch.heaviside(
        x, torch.tensor(value, dtype=x.dtype)),
    "fill": lambda x, fill_value, *args, **kwargs: torch.full_like(x, fill_value),
    "polygamma": lambda x, k, *args, **kwargs: torch.special.polygamma(n=k, input=x),
    "threshold": lambda x, threshold, value, *args, **kwargs: F.threshold(x, threshold, value),
    "hardshrink": lambda x, *args, lambd=0.5, **kwargs: F.hardshrink(x, lambd),
    "softshrink": lambda x, *args, lambd=0.5, **kwargs: F.softshrink(x, lambd),
    "logit": lambda x, *args, eps=None, **kwargs: torch.special.logit(x, eps=eps),
    "tril": lambda x, diagonal=0, **kwargs: torch.tril(x, diagonal),
    "triu": lambda x, diagonal=0, **kwargs: torch.triu(x, diagonal),
})
