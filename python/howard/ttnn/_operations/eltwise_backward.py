# SPDX-License-Identifier: Apache-2.0
"""Implements the backward ops: `<op>_bw(gradient, inputs...)` gives a list of gradients."""

import inspect
import math


from .. import _arrays as arrays
from .._arrays import apply, np
from .._device import SFPU_NAN
from .._launch import make_output, operation, program, require_device, values
from .._tensor import Tensor


def _between(x, low, high):
    return (x >= low) * (x <= high)


def _gelu(x):
    cdf = 0.5 * (1 + apply("erf", x / math.sqrt(2)))
    return cdf + x * apply("exp", -0.5 * x * x) / math.sqrt(2 * math.pi)


def _gelu_tanh(x):
    k = math.sqrt(2 / math.pi)
    t = apply("tanh", k * (x + 0.044715 * x * x * x))
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * k * (1 + 3 * 0.044715 * x * x)


def _sigmoid(x):
    s = apply("sigmoid", x)
    return s * (1 - s)


def _silu(x):
    s = apply("sigmoid", x)
    return s * (1 + x * (1 - s))


def _mish(x):
    t = apply("tanh", apply("softplus", x, numbers=[1, 30]))
    return t + x * apply("sigmoid", x) * (1 - t * t)


def _unrounded(mode, gradient):
    """Returns the gradient of a quotient: zeros, if it is rounded."""
    if mode not in (None, "trunc", "floor"):
        raise RuntimeError(f"TT_FATAL: Incorrect rounding mode: {mode!r}; accepted: None, 'trunc' and "
                           "'floor'")
    return gradient if mode is None else 0 * np.nan_to_num(gradient)


def _quotients(g, x, y, round_mode=None, rounding_mode=None):
    """Returns the gradients of a quotient. A divisor of -0 is 0: ttnn asks whether it is 0, and not
    for its sign."""
    mode = round_mode or rounding_mode
    return _unrounded(mode, g / np.where(y == 0, 0.0, y)), _unrounded(mode, -(g * x) / (y * y))


# The derivative of each function, whose parameters have ttnn's names, and how many programs ttnn's composite launches (December 2025).
_DERIVATIVES = {
    "abs": (lambda x: apply("sign", x), 2),
    "acos": (lambda x: -1 / apply("sqrt", 1 - x * x), 16),
    "acosh": (lambda x: 1 / apply("sqrt", x * x - 1), 19),
    "asin": (lambda x: 1 / apply("sqrt", 1 - x * x), 16),
    "asinh": (lambda x: 1 / apply("sqrt", x * x + 1), 2),
    "atan": (lambda x: 1 / (x * x + 1), 2),
    "atanh": (lambda x: 1 / (1 - x * x), 18),
    "ceil": (lambda x: 0 * x, 1),
    "floor": (lambda x: 0 * x, 1),
    "round": (lambda x: 0 * x, 1),
    "trunc": (lambda x: 0 * x, 1),
    "sign": (lambda x: 0 * x, 1),
    "frac": (lambda x: 0 * x + 1, 1),
    "cos": (lambda x: -(apply("sin", x)), 3),
    "cosh": (lambda x: apply("sinh", x), 14),
    "deg2rad": (lambda x: 0 * x + math.pi / 180, 1),
    "rad2deg": (lambda x: 0 * x + 180 / math.pi, 1),
    "digamma": (lambda x: apply("polygamma", x, numbers=[1]), 56),
    "lgamma": (lambda x: apply("digamma", x), 27),
    "erf": (lambda x: 2 / math.sqrt(math.pi) * apply("exp", -(x * x)), 5),
    "erfc": (lambda x: -2 / math.sqrt(math.pi) * apply("exp", -(x * x)), 5),
    "erfinv": (lambda x: math.sqrt(math.pi) / 2 * apply("exp", apply("erfinv", x) ** 2), 16),
    "exp": (lambda x: apply("exp", x), 2),
    "exp2": (lambda x: apply("exp2", x) * math.log(2), 3),
    "expm1": (lambda x: apply("exp", x), 3),
    "gelu": (lambda x, approximate="none": _approximated(approximate)(x), 11),
    "hardsigmoid": (lambda x: _between(x, -3, 3) / 6, 5),
    "hardswish": (lambda x: (x > 3) + _between(x, -3, 3) * (x / 3 + 0.5), 7),
    "i0": (lambda x: apply("i1", x), 2),
    "log": (lambda x: 1 / x, 8),
    "log10": (lambda x: 1 / (x * math.log(10)), 11),
    "log1p": (lambda x: 1 / (x + 1), 11),
    "log2": (lambda x: 1 / (x * math.log(2)), 11),
    "log_sigmoid": (lambda x: apply("sigmoid", -x), 13),
    "multigammaln": (lambda x: sum(apply("digamma", x - i / 2) for i in range(4)), 114),
    "neg": (lambda x: 0 * x - 1, 1),
    "reciprocal": (lambda x: -1 / (x * x), 11),
    "relu": (lambda x: x > 0, 2),
    "relu6": (lambda x: (x > 0) * (x < 6), 8),
    "rsqrt": (lambda x: -0.5 * apply("rsqrt", x) / x, 12),
    "selu": (lambda x: 1.0507009873554805 * np.where(
        x > 0, 1, 1.6732632423543772 * apply("exp", x)), 6),
    "sigmoid": (_sigmoid, 4),
    "silu": (_silu, 6),
    "sin": (lambda x: apply("cos", x), 2),
    "sinh": (lambda x: apply("cosh", x), 12),
    "softsign": (lambda x: 1 / (1 + apply("abs", x)) ** 2, 2),
    "sqrt": (lambda x: 0.5 / apply("sqrt", x), 14),
    "square": (lambda x: 2 * x, 2),
    "tan": (lambda x: 1 + apply("tan", x) ** 2, 4),
    "tanh": (lambda x: 1 - apply("tanh", x) ** 2, 4),
    "tanhshrink": (lambda x: apply("tanh", x) ** 2, 3),
    "mish": (_mish, 8),
    "elu": (lambda x, alpha=1.0: np.where(x > 0, 1, alpha * apply("exp", x)), 5),
    "celu": (lambda x, alpha=1.0: np.where(x > 0, 1, apply("exp", x / alpha)), 5),
    "leaky_relu": (lambda x, negative_slope=0.01: np.where(x > 0, 1, negative_slope), 3),
    "hardshrink": (lambda x, lambd=0.5: apply("abs", x) > lambd, 3),
    "softshrink": (lambda x, lambd=0.5: apply("abs", x) > lambd, 4),
    "hardtanh": (lambda x, min=-1.0, max=1.0: _between(x, min, max), 4),
    "clamp": (lambda x, min=-math.inf, max=math.inf: _between(x, min, max), 4),
    "clip": (lambda x, min=-math.inf, max=math.inf: _between(x, min, max), 4),
    "threshold": (lambda x, threshold, value=0.0: x > threshold, 3),
    "softplus": (lambda x, beta=1.0, threshold=20.0: np.where(
        x * beta > threshold, 1, apply("sigmoid", beta * x)), 9),
    "pow": (lambda x, exponent: exponent * x ** (exponent - 1), 5),
    "polygamma": (lambda x, n: apply("polygamma", x, numbers=[n + 1]), 56),
    "logit": (lambda x: 1 / (x * (1 - x)), 15),
    "logiteps": (lambda x, eps=0.0: np.where(_between(x, eps, 1 - eps) > 0, 1 / (x * (1 - x)), 0), 17),
    "fill": (lambda x, value=0.0: 0 * x, 1),
    "fill_zero": (lambda x: 0 * x, 1),
    "rpow": (lambda x, exponent: exponent * x ** (exponent - 1), 5),  # as ttnn has it
    "rdiv": (lambda x, scalar, round_mode=None: _unrounded(round_mode, -scalar / (x * x)), 23),
}

# These have two inputs, with a gradient for each.
_PAIRS = {
    "add": (lambda g, x, y: (g, g), 1),
    "sub": (lambda g, x, y: (g, -g), 2),
    "subtract": (lambda g, x, y: (g, -g), 2),
    "rsub": (lambda g, x, y: (-g, g), 2),
    "mul": (lambda g, x, y: (g * y, g * x), 2),
    "multiply": (lambda g, x, y: (g * y, g * x), 2),
    "div": (_quotients, 8),
    "divide": (_quotients, 8),
    "atan2": (lambda g, x, y: (g * y / (x * x + y * y), -(g * x) / (x * x + y * y)), 8),
    "hypot": (lambda g, x, y: (g * x / apply("hypot", x, y), g * y / apply("hypot", x, y)), 6),
    "ldexp": (lambda g, x, y: (g * apply("exp2", y), g * x * apply("exp2", y) * math.log(2)), 6),
    "logaddexp": (lambda g, x, y: (g * apply("sigmoid", x - y), g * apply("sigmoid", y - x)), 8),
    "logaddexp2": (lambda g, x, y: (g * apply("sigmoid", (x - y) * math.log(2)),
                                    g * apply("sigmoid", (y - x) * math.log(2))), 8),
    "max": (lambda g, x, y: (g * ((x > y) + 0.5 * (x == y)),
                             g * ((y > x) + 0.5 * (x == y))), 8),
    "min": (lambda g, x, y: (g * ((x < y) + 0.5 * (x == y)),
                             g * ((y < x) + 0.5 * (x == y))), 8),
    "squared_difference": (lambda g, x, y: (2 * g * (x - y), -2 * g * (x - y)), 4),
    "xlogy": (lambda g, x, y: (g * apply("log", y), g * x / y), 6),
    "bias_gelu": (lambda g, x, y, approximate="none": (
        g * _approximated(approximate)(x + y), g * _approximated(approximate)(x + y)), 12),
    "remainder": (lambda g, x, y: (g, -g * apply("floor", x / y)), 4),
    "fmod": (lambda g, x, y: (g, -g * apply("trunc", x / y)), 4),
    "addalpha": (lambda g, x, y, alpha=1.0: (g, alpha * g), 2),
    "subalpha": (lambda g, x, y, alpha=1.0: (g, -alpha * g), 2),
    "assign": (lambda g, x, y: (g, g), 2),
}


def _gradients(name, gradient, inputs, count, programs, compute, memory_config=None, given=()):
    """Returns `count` gradients by a composite of several programs."""
    tensors = [gradient] + inputs
    require_device(name, *tensors)
    like = [one if isinstance(one, Tensor) else gradient for one in inputs][:count]
    given = list(given) + [None] * count
    outs = [make_output(one._shape, one, None, None, memory_config, given[i])
            for i, one in enumerate(like)]
    for i in range(max(programs, count)):
        program(name, "multiply", [gradient, gradient], [outs[i % count]], True,
                out_shapes=[list(gradient._shape)])
    wanted = [list(o._shape) for o in outs]

    def run(*numbers):
        made = compute(*numbers)
        made = made if isinstance(made, (tuple, list)) else (made,)
        return [_summed(m, shape) for m, shape in zip(made, wanted)]

    values(run, tensors, outs)
    return outs


def _summed(array, shape):
    """Returns the gradient of an operand that was broadcast."""
    if list(array.shape) == shape:
        return array
    array = np.broadcast_to(array, np.broadcast_shapes(array.shape, tuple(shape)))
    extra = len(array.shape) - len(shape)
    dims = list(range(extra)) + [extra + i for i, d in enumerate(shape)
                                 if d == 1 and array.shape[extra + i] != 1]
    return (arrays.reduce("sum", array, dims, True) if dims else array).reshape(shape)


def _told(name, parameters, args, words):
    """Returns the parameters of a derivative by their names."""
    names = [*parameters][1:]
    given = {**dict(zip(names, args)), **words}
    unknown = [*args[len(names):], *sorted(set(given) - set(names))]
    if unknown:
        raise TypeError(f"ttnn.{name}(): incompatible function arguments: {unknown}; it takes "
                        f"{', '.join(names) or 'no parameters'}")
    return {word: value for word, value in given.items() if value is not None}


def _make_unary(name, derivative, programs):
    parameters = inspect.signature(derivative).parameters

    @operation(name + "_bw")
    def call(grad_tensor, input_tensor, *args, memory_config=None, input_grad=None,
             are_required_outputs=(True,), **words):
        """Returns the gradient of the input, in a list."""
        told = _told(name + "_bw", parameters, args, words)
        if not are_required_outputs[0]:
            return [None]

        def compute(g, x):
            made = g * derivative(x, **told)
            # Where acosh is no number, ttnn chooses what the device has for that.
            return np.where(np.isnan(made), SFPU_NAN, made) if name == "acosh" else made

        return _gradients(name + "_bw", grad_tensor, [input_tensor], 1, programs, compute,
                          memory_config, [input_grad])

    return call


def _approximated(approximate):
    """Returns the derivative of gelu, or of its approximation by tanh."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError(f"TT_FATAL: approximate={approximate!r}; accepted: 'none' and 'tanh'")
    return _gelu_tanh if approximate == "tanh" else _gelu


def _pair(name, gradient, a, b, extra, memory_config, given, required):
    compute, programs = _PAIRS[name]
    made = _gradients(name + "_bw", gradient, [a, b], 2, programs,
                      lambda g, x, y: compute(g, x, y, **extra), memory_config, given)
    return [m if keep else None for m, keep in zip(made, required)]


def _make_pair(name):
    compute, programs = _PAIRS[name]
    parameters = dict([*inspect.signature(compute).parameters.items()][2:])

    @operation(name + "_bw")
    def call(grad_tensor, input_tensor_a, other=None, *args, are_required_outputs=(True, True),
             memory_config=None, input_grad=None, other_grad=None, input_a_grad=None,
             input_b_grad=None, **words):
        """Returns the gradients of both inputs, in a list; only one where the other is a number."""
        told = _told(name + "_bw", parameters, args, words)
        first = input_grad if input_grad is not None else input_a_grad
        second = other_grad if other_grad is not None else input_b_grad
        if not isinstance(other, Tensor):
            number = np.float32(0 if other is None else other)
            made = _gradients(name + "_bw", grad_tensor, [input_tensor_a], 1, programs,
                              lambda g, x: compute(g, x, number, **told)[0], memory_config, [first])
            return made if are_required_outputs[0] else [None]
        return _pair(name, grad_tensor, input_tensor_a, other, told, memory_config, (first, second),
                     are_required_outputs)

    return call


for _name, (_derivative, _programs) in _DERIVATIVES.items():
    _make_unary(_name, _derivative, _programs)
for _name in _PAIRS:
    _make_pair(_name)


@operation("where_bw")
def where_bw(grad_tensor, condition, input_tensor, other, *, are_required_outputs=(True, True),
             memory_config=None, input_grad=None, other_grad=None):
    made = _gradients("where_bw", grad_tensor, [input_tensor, other, condition], 2, 2,
                      lambda g, x, y, c: (np.where(c, g, 0 * g), np.where(c, 0 * g, g)),
                      memory_config, [input_grad, other_grad])
    return [one if wanted else None for one, wanted in zip(made, are_required_outputs)]


@operation("lerp_bw")
def lerp_bw(grad_tensor, input_tensor, end, weight, *, memory_config=None):
    if isinstance(weight, Tensor):
        return _gradients("lerp_bw", grad_tensor, [input_tensor, end, weight], 3, 6,
                          lambda g, x, y, w: (g * (1 - w), g * w, g * (y - x)), memory_config)
    return _gradients("lerp_bw", grad_tensor, [input_tensor, end], 2, 4,
                      lambda g, x, y: (g * (1 - weight), g * weight), memory_config)


@operation("addcmul_bw")
def addcmul_bw(grad_tensor, input_tensor, tensor1, tensor2, value=1.0, *, memory_config=None):
    return _gradients("addcmul_bw", grad_tensor, [input_tensor, tensor1, tensor2], 3, 4,
                      lambda g, x, y, z: (g, value * g * z, value * g * y), memory_config)


@operation("addcdiv_bw")
def addcdiv_bw(grad_tensor, input_tensor, tensor1, tensor2, value=1.0, *, memory_config=None):
    return _gradients("addcdiv_bw", grad_tensor, [input_tensor, tensor1, tensor2], 3, 8,
                      lambda g, x, y, z: (g, value * g / z, -value * g * y / (z * z)),
                      memory_config)


@operation("prod_bw")
def prod_bw(grad_tensor, input_tensor, dim=None, *, memory_config=None):
    dims = list(range(len(input_tensor._shape))) if dim is None else [dim]

    def compute(g, x):
        return g * arrays.reduce("prod", x, dims, True) / x

    return _gradients("prod_bw", grad_tensor, [input_tensor], 1, 6, compute,
        memory_config)


@operation("concat_bw")
def concat_bw(grad_tensor, input_tensor_a, other, dim=0, *, are_required_outputs=(True, True),
              memory_config=None, input_a_grad=None, input_b_grad=None):
    axis = dim % len(grad_tensor._shape)
    cut = input_tensor_a._shape[axis]

    def compute(g, _x, _y):
        return tuple(np.split(g, [cut], axis))

    made = _gradients("concat_bw", grad_tensor, [input_tensor_a, other], 2, 2, compute,
                      memory_config, [input_a_grad, input_b_grad])
    return [one if wanted else None for one, wanted in zip(made, are_required_outputs)]


@operation("repeat_bw")
def repeat_bw(grad_tensor, input_tensor, shape, *, memory_config=None):
    wide = [n for t, d in zip(shape, input_tensor._shape) for n in (t, d)]

    def compute(g, _x):
        dims = list(range(0, len(wide), 2))
        return arrays.reduce("sum", g.reshape(wide), dims, False)

    return _gradients("repeat_bw", grad_tensor, [input_tensor], 1, 3, compute, memory_config)


@operation("experimental.gelu_bw")
def experimental_gelu_bw(grad_tensor, input_tensor, *, approximate="none", memory_config=None,
                         input_grad=None):
    """Returns the gradient of gelu, by one program of its own."""
    require_device("gelu_bw", grad_tensor, input_tensor)
    out = make_output(input_tensor._shape, input_tensor, None, None, memory_config, input_grad)
    program("gelu_bw", "gelu_backward", [input_tensor, grad_tensor], [out], fused=True)
    used = _approximated(approximate)
    values(lambda x, g: g * used(x), [input_tensor, grad_tensor], [out])
    return out


@operation()
def prelu_bw(grad, input, weight, *, memory_config=None):
    """Returns the gradients of the input and of the slope of each element."""
    require_device("prelu_bw", grad, input, weight)
    outs = [make_output(input._shape, input, None, None, memory_config) for _ in range(2)]
    for out in outs:
        program("prelu_bw", "multiply", [grad, input], [out])

    def compute(g, x, w):
        g, x, w = g, x, w
        above = x > 0
        return [g * (above + (x <= 0) * w), g * (x <= 0) * x]

    values(compute, [grad, input, weight], outs)
    return outs
