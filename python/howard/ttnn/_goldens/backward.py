# SPDX-License-Identifier: Apache-2.0
"""Golden functions of backward ops: PyTorch's own gradients, in a list as ttnn has them."""

import torch
import torch.nn.functional as F

_SAME = """atanh asin asinh sin sinh log10 log1p erfc ceil cosh sign log2 trunc acos atan cos deg2rad
digamma erf erfinv exp exp2 expm1 frac i0 lgamma neg rad2deg reciprocal relu rsqrt sigmoid sqrt tan tanh
floor log round selu square abs""".split()
_FUNCTIONAL = {"softsign": F.softsign, "gelu": F.gelu, "hardsigmoid": F.hardsigmoid,
               "log_sigmoid": F.logsigmoid, "logit": torch.logit, "hardswish": F.hardswish,
               "relu6": F.relu6, "silu": F.silu, "tanhshrink": F.tanhshrink, "mish": F.mish}
_OF_TWO = {"sub": torch.sub, "subtract": torch.sub, "add": torch.add, "mul": torch.mul,
           "multiply": torch.mul, "remainder": torch.remainder, "fmod": torch.fmod,
           "atan2": torch.atan2, "xlogy": torch.xlogy, "hypot": torch.hypot, "ldexp": torch.ldexp,
           "logaddexp": torch.logaddexp, "logaddexp2": torch.logaddexp2,
           "squared_difference": lambda a, b: torch.square(torch.sub(a, b)),
           "rsub": lambda a, b: torch.sub(b, a), "min": torch.min, "max": torch.max}


def _kept(operand):
    """Returns an operand that keeps its gradient; a number as it is."""
    if not isinstance(operand, torch.Tensor):
        return operand
    if not operand.requires_grad:
        operand = operand.detach().clone().requires_grad_(True)
    operand.retain_grad()
    return operand


def gradients(function, grad, *operands):
    """Returns the gradient of each operand that is a tensor."""
    operands = [_kept(one) for one in operands]
    made = function(*operands)
    if made.requires_grad:
        made.backward(gradient=grad.to(made.dtype))
    return [torch.zeros_like(one) if one.grad is None else one.grad for one in operands
            if isinstance(one, torch.Tensor)]


def _of_one(function):
    return lambda grad, x, *args, **kwargs: gradients(function, grad, x)


def _of_two(function):
    return lambda grad, a, b, *args, **kwargs: gradients(function, grad, a, b)


def _complex_parts(grad, x, *args, **kwargs):
    return [torch.cat((torch.real(grad), torch.imag(grad)), dim=-1)]


def _abs(grad, x, *args, **kwargs):
    (made,) = gradients(torch.abs, grad, x)
    return [torch.cat((made.real, made.imag), dim=-1)] if made.is_complex() else [made]


def _mul(grad, a, b, *args, **kwargs):
    made = gradients(torch.mul, grad, a, b)
    return [torch.cat((one.real, one.imag), dim=-1) if one.is_complex() else one for one in made]


def _polar(grad, x, *args, **kwargs):
    return gradients(lambda z: torch.polar(z.real, z.imag), grad, x)


def _pow(grad, x, exponent, *args, **kwargs):
    (made,) = gradients(lambda y: torch.pow(y, exponent), grad, x)
    if exponent != 0:
        made = torch.where(x < 0, torch.full_like(made, float("inf")), made)
    return [made]


def _div(grad, a, b, value=None, *args, round_mode=None, **kwargs):
    mode = value or round_mode
    return gradients(lambda x, y: torch.div(x, y, rounding_mode=mode), grad, a, b)


def _div_no_nan(grad, x, alpha, *args, **kwargs):
    (made,) = gradients(lambda y: torch.div(y, alpha), grad, x)
    return [torch.where(torch.isnan(made), torch.zeros_like(made), made)]


def _rdiv(grad, x, value=None, *args, round_mode=None, **kwargs):
    return gradients(lambda y: torch.div(torch.full_like(y, value), y, rounding_mode=round_mode),
                     grad, x)


def _acosh(grad, x, *args, device, **kwargs):
    (made,) = gradients(torch.acosh, grad, x)
    return [torch.nan_to_num(made, nan=device.sfpu_nan(), posinf=device.sfpu_inf(),
                             neginf=-device.sfpu_inf())]


def _bias_gelu(grad, a, b, value="none", *args, **kwargs):
    (made,) = gradients(lambda y: F.gelu(y, approximate=value), grad, torch.add(a, b).detach())
    return [made, made]


def _assign(grad, x, b=None, *args, **kwargs):
    (made,) = gradients(torch.clone, grad, x)
    return [made] if b is None else [made, made]


def _concat(grad, a, b, dim=0, *args, **kwargs):
    return gradients(lambda x, y: torch.concat((x, y), dim=dim), grad, a, b)


def _softplus(grad, x, *args, beta=None, threshold=None, **kwargs):
    beta, threshold = args[0] if args else beta, args[1] if len(args) > 1 else threshold
    given = {"beta": beta, "threshold": threshold}
    return gradients(lambda y: F.softplus(y, **{k: v for k, v in given.items() if v is not None}),
                     grad, x)


def _hardtanh(grad, x, min_val=None, max_val=None, *args, min=None, max=None, **kwargs):
    low = min_val if min_val is not None else min if min is not None else -1.0
    high = max_val if max_val is not None else max if max is not None else 1.0
    return gradients(lambda y: F.hardtanh(y, low, high), grad, x)


def _clamp(grad, x, a=None, b=None, *args, **kwargs):
    low, high = kwargs.get("min", a), kwargs.get("max", b)
    return gradients(lambda y: torch.clamp(y, low, high), grad, x)


def _where(grad, condition, x, other, *args, **kwargs):
    return gradients(lambda a, b: torch.where(condition.to(torch.bool), a, b), grad, x, other)


GOLDENS = {f"{name}_bw": _of_one(getattr(torch, name)) for name in _SAME}
GOLDENS.update({f"{name}_bw": _of_one(function) for name, function in _FUNCTIONAL.items()})
GOLDENS.update({f"{name}_bw": _of_two(function) for name, function in _OF_TWO.items()})
GOLDENS.update({f"{name}_bw": _complex_parts for name in ("real", "imag", "angle", "conj")})
GOLDENS.update({
    "abs_bw": _abs, "mul_bw": _mul, "multiply_bw": _mul, "polar_bw": _polar,
    "experimental.gelu_bw": lambda grad, x, *args, approximate="none", **kwargs: gradients(
        lambda y: F.gelu(y, approximate=approximate), grad, x),
    "gelu_bw": lambda grad, x, *args, approximate="none", **kwargs: gradients(
        lambda y: F.gelu(y, approximate=approximate), grad, x),
    "multigammaln_bw": _of_one(lambda y: torch.mvlgamma(y, 4)),
    "threshold_bw": lambda grad, x, *args, **kwargs: gradients(
        lambda y: F.threshold(y, *args, **kwargs), grad, x),
    "hardshrink_bw": lambda grad, x, alpha=0.5, *args, lambd=None, **kwargs: gradients(
        lambda y: F.hardshrink(y, alpha if lambd is None else lambd), grad, x),
    "softshrink_bw": lambda grad, x, alpha=0.5, *args, lambd=None, **kwargs: gradients(
        lambda y: F.softshrink(y, alpha if lambd is None else lambd), grad, x),
    "leaky_relu_bw": lambda grad, x, alpha=1e-2, *args, negative_slope=None, **kwargs: gradients(
        lambda y: F.leaky_relu(y, alpha if negative_slope is None else negative_slope), grad, x),
    "elu_bw": lambda grad, x, alpha=1.0, *args, **kwargs: gradients(
        lambda y: F.elu(y, alpha), grad, x),
    "celu_bw": lambda grad, x, alpha=1.0, *args, **kwargs: gradients(
        lambda y: F.celu(y, alpha), grad, x),
    "rpow_bw": lambda grad, x, alpha, *args, **kwargs: gradients(
        lambda y: torch.pow(y, alpha), grad, x),
    "logiteps_bw": lambda grad, x, alpha=None, *args, eps=None, **kwargs: gradients(
        lambda y: torch.special.logit(y, alpha if eps is None else eps), grad, x),
    "clamp_bw": _clamp, "clip_bw": _clamp, "hardtanh_bw": _hardtanh, "softplus_bw": _softplus,
    "pow_bw": _pow, "acosh_bw": _acosh, "div_bw": _div, "divide_bw": _div,
    "div_no_nan_bw": _div_no_nan, "rdiv_bw": _rdiv, "bias_gelu_bw": _bias_gelu,
    "polygamma_bw": lambda grad, x, n, *args, **kwargs: gradients(
        lambda y: torch.polygamma(n, y), grad, x),
    "repeat_bw": lambda grad, x, sizes, *args, **kwargs: gradients(
        lambda y: y.repeat(*sizes), grad, x),
    "fill_bw": lambda grad, x, *args, **kwargs: [torch.zeros_like(x)],
    "fill_zero_bw": lambda grad, x, *args, **kwargs: [torch.zeros_like(x)],
    "addalpha_bw": lambda grad, a, b, alpha=None, *args, **kwargs: gradients(
        lambda x, y: torch.add(x, y, alpha=1 if alpha is None else alpha), grad, a, b),
    "subalpha_bw": lambda grad, a, b, alpha=None, *args, **kwargs: gradients(
        lambda x, y: torch.sub(x, y, alpha=1 if alpha is None else alpha), grad, a, b),
    "assign_bw": _assign, "concat_bw": _concat, "where_bw": _where,
    "addcmul_bw": lambda grad, x, t1, t2, value=1.0, *args, **kwargs: gradients(
        lambda a, b, c: torch.addcmul(a, b, c, value=value), grad, x, t1, t2),
    "addcdiv_bw": lambda grad, x, t1, t2, value=1.0, *args, **kwargs: gradients(
        lambda a, b, c: torch.addcdiv(a, b, c, value=value), grad, x, t1, t2),
    "lerp_bw": lambda grad, x, end, weight, *args, **kwargs: gradients(
        torch.lerp, grad, x, end, weight),
    "prelu_bw": lambda grad, a, b, *args, **kwargs: gradients(
        lambda x, slope: torch.where(x < 0, slope * x, x), grad, a, b),
})
