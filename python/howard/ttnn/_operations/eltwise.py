# SPDX-License-Identifier: Apache-2.0
"""Implements every elementwise function of ttnn, by one mechanism: a program on the chip, a
function on the host."""

import math

from .. import _arrays as arrays
from .._arrays import apply, np
from .._configs import UnaryOpType, activation_of
from .._launch import OPERATIONS, fail, launch_function, make_output, operation, program
from .._launch import require_device, values, values_of
from .._session import session
from .._tensor import Tensor
from .._types import DataType, Layout, TensorMemoryLayout, broadcast_shape, chip_shape
from .data_movement import _moved, reshape, split
from .layout import to_layout


# These are the names and the defaults of what else they take, in their order.
_UNARY = {
    **{
        name: ()
        for name in """abs acos acosh asin asinh atan atanh sin cos tan sinh cosh tanh cbrt ceil floor
        trunc frac erf erfc erfinv exp exp2 expm1 log log2 log10 log1p sqrt rsqrt square reciprocal neg
        sign signbit relu relu6 gelu silu sigmoid log_sigmoid softsign mish hardmish hardsigmoid
        hardswish tanhshrink i0 i1 isfinite isinf isnan isposinf isneginf logical_not bitwise_not eqz
        nez gtz ltz gez lez identity rad2deg deg2rad digamma lgamma""".split()
    },
    "round": (("decimals", 0),),
    "relu_min": (("lower_limit", 0.0),),
    "relu_max": (("upper_limit", 0.0),),
    "leaky_relu": (("negative_slope", 0.01),),
    "elu": (("alpha", 1.0),),
    "celu": (("alpha", 1.0),),
    "selu": (),
    "softplus": (("beta", 1.0), ("threshold", 20.0)),
    "hardshrink": (("lambd", 0.5),),
    "softshrink": (("lambd", 0.5),),
    "hardtanh": (("min_val", -1.0), ("max_val", 1.0)),
    "threshold": (("threshold", 0.0), ("value", 0.0)),
    "heaviside": (("value", 0.0),),
    "multigammaln": (("p", 4),),
    "polygamma": (("k", 1),),
    "logit": (("eps", -1.0),),
    "fill": (("fill_value", 0.0),),
}
_BINARY = """add subtract multiply divide rsub eq ne gt lt ge le logical_and logical_or logical_xor
bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift logical_left_shift
logical_right_shift maximum minimum ldexp logaddexp logaddexp2 squared_difference bias_gelu gcd lcm
remainder fmod xlogy hypot atan2 nextafter""".split()
_IN_PLACE_UNARY = "exp relu sqrt rsqrt square reciprocal neg abs sigmoid silu gelu tanh logical_not".split()
FUNCTIONS = {}


def _unary(name, function, tensor, parameters, memory_config, output):
    require_device(name, tensor)
    out = make_output(tensor._shape, tensor, None, None, memory_config, output)
    if function == "fill":
        program(name, "fill", [], [out], scalar=1)
    else:
        launch_function(name, function, [tensor], out, 1)
    numbers = [float(p) for p in parameters]
    values(lambda a: apply(function, a, numbers=numbers), [tensor], [out])
    return out


# What ttnn's kernels take besides: how exactly they compute, which is exact here.
_HOW = "fast_and_approximate_mode vector_mode vec_mode mode"


def _make_unary(name, function, defaults, fast=None):
    """Makes the op of a function, which may have a fast one with a kernel of its own."""
    def call(input_tensor, *args, memory_config=None, output_tensor=None,
             fast_and_approximate_mode=False, **kwargs):
        chosen = fast if fast and fast_and_approximate_mode else function
        if not isinstance(input_tensor, Tensor):
            raise TypeError(
                f"ttnn.{name}(): incompatible function arguments: a {type(input_tensor).__name__} "
                "where a ttnn.Tensor is wanted"
            )
        parameters = []
        for i, (word, default) in enumerate(defaults):
            given = args[i] if i < len(args) else kwargs.pop(word, default)
            parameters.append(default if given is None else given)
        unknown = [*args[len(defaults):], *sorted(kwargs)]
        if unknown:
            raise TypeError(f"ttnn.{name}(): incompatible function arguments: {unknown}")
        return _unary(name, chosen, input_tensor, parameters, memory_config, output_tensor)

    call.__doc__ = f"The function {function} of each element: one program."
    return operation(name, unread=_HOW)(call)


def _activations(given):
    """Returns functions with their numbers, from what a caller gives as activations: a list, or
    one."""
    if given is None:
        return []
    if not isinstance(given, (list, tuple)) or (given and isinstance(given[0], UnaryOpType)):
        given = [given]
    return [found for found in map(activation_of, given) if found is not None]


def _with_activations(tensor, activations):
    for name, numbers in activations:
        tensor = apply(name, tensor, numbers=numbers)
    return tensor


def _broadcast_shapes(shape, *tensors):
    """Returns what the kernel sees of operands that it cannot broadcast once they are folded."""
    if len(shape) <= 4:
        return None
    out = chip_shape(shape)
    shapes = []
    for tensor in tensors:
        own = chip_shape(tensor._shape)
        fits = all(a in (1, b) for a, b in zip(own, out))
        shapes.append(None if fits else list(shape))
    return shapes


def _alike(name, tensors):
    """Returns operands of one layout: tiles, where there are rows and tiles."""
    require_device(name, *tensors)
    for one in tensors:
        if one._layout is not tensors[0]._layout:
            return [to_layout.function(one, Layout.TILE) for one in tensors]
    return tensors


_HALVES = (DataType.BFLOAT16, DataType.BFLOAT8_B, DataType.BFLOAT4_B)


def _binary(name, function, a, b, dtype, memory_config, output, activations, before_a, before_b):
    if not isinstance(a, Tensor):
        raise TypeError(f"ttnn.{name}(): incompatible function arguments: {type(a).__name__}")
    if isinstance(b, Tensor):
        inputs = a, b = _alike(name, [a, b])
        try:
            shape = a._shape if a._shape._dims == b._shape._dims else broadcast_shape(
                a._shape, b._shape)
        except ValueError:
            fail(name, f"shapes {a._shape} and {b._shape} cannot be broadcast: from the last "
                 "dimension, sizes must be equal or 1")
    else:
        require_device(name, a)
        b = a._dtype.number(b)
        if function not in ("pow", "rpow") and a._dtype in _HALVES and not (
                function == "add" and session.is_2026):
            b = float(arrays.rounded(b, "bfloat16"))  # The kernel gets a number as the tensor has them.
        shape, inputs = a._shape, [a]
    for one in inputs:
        if one._layout is Layout.ROW_MAJOR and \
                one._config.memory_layout is TensorMemoryLayout.WIDTH_SHARDED:
            fail(name, "row-major tensors in width shards are not supported: ttnn.to_layout(tensor, "
                 "ttnn.TILE_LAYOUT)")
    like = a if len(inputs) == 1 or a._config is b._config or not b._config.is_sharded() or \
        a._config.is_sharded() else b
    out = make_output(shape, like, dtype or (output._dtype if output is not None else a._dtype),
                      a._layout, memory_config, output)
    activations, before_a, before_b = map(_activations, (activations, before_a, before_b))
    launch_function(name, function, inputs, out, 2, shapes=_broadcast_shapes(shape, *inputs),
                    on_a=before_a, on_b=before_b, then=activations)
    number, kind = None if len(inputs) == 2 else b, out._dtype
    plain = not (activations or before_a or before_b)

    def compute(x, y=number):
        if function == "divide" and kind is DataType.FLOAT32:
            x = x.astype(np.float32)  # Of whole numbers too.
        if plain:
            made = apply(function, x, y)
            if kind is DataType.BFLOAT16 and function in ("divide", "remainder") and \
                    np.isnan(made).any():
                # What is packed to bfloat16 is infinite where float32 has no number.
                made = np.where(np.isnan(made) & ~np.isnan(x) & ~np.isnan(y), np.inf, made)
            return made
        x, y = _with_activations(x, before_a), _with_activations(y, before_b)
        return _with_activations(apply(function, x, y), activations)

    values(compute, inputs, [out])
    return out


_MODES = {None: "divide", "floor": "floor_div", "trunc": "trunc_div"}


def _quotient_of(name, function, mode):
    """Returns the function of a division that is rounded as the caller says."""
    if function not in ("divide", "rdiv") and mode is not None:
        raise TypeError(f"ttnn.{name}(): incompatible function arguments: a rounding mode of {function}")
    if mode not in _MODES:
        fail(name, f"Incorrect rounding mode: {mode!r}; accepted: None, 'trunc' and 'floor'")
    return function if mode is None else _MODES[mode]


def _make_binary(name, function):
    def call(input_tensor_a, input_tensor_b, *, dtype=None, memory_config=None, output_tensor=None,
             activations=None, input_tensor_a_activations=None, input_tensor_b_activations=None,
             lhs_activations=None, rhs_activations=None, activation=None, rounding_mode=None,
             round_mode=None):
        used = _quotient_of(name, function, rounding_mode or round_mode)
        after = activations or ([activation] if activation else None)
        before = [input_tensor_a_activations or lhs_activations,
                  input_tensor_b_activations or rhs_activations]
        if not isinstance(input_tensor_a, Tensor) and isinstance(input_tensor_b, Tensor):
            used = _SWAPPED.get(used, used)
            input_tensor_a, input_tensor_b = input_tensor_b, input_tensor_a
            before.reverse()
        elif used in ("floor_div", "trunc_div") and function == "rdiv":
            return _rounded_rdiv(name, used, input_tensor_a, input_tensor_b, memory_config,
                                 output_tensor)
        if used == "divide" and dtype is None and output_tensor is None and _both_whole(
                input_tensor_a, input_tensor_b):
            dtype = DataType.FLOAT32
        return _binary(name, used, input_tensor_a, input_tensor_b, dtype, memory_config,
                       output_tensor, after, *before)

    call.__doc__ = f"{function} of each pair of elements: one program."
    return operation(name, unread="accurate_mode fast_and_approximate_mode")(call)


# A number and a tensor are a tensor and a number, of another function.
_SWAPPED = {"subtract": "rsub", "divide": "rdiv", "rsub": "subtract", "rdiv": "divide", "gt": "lt",
            "lt": "gt", "ge": "le", "le": "ge"}


def _both_whole(a, b):
    """Says whether a quotient of int32s is wanted, which is a real number."""
    return isinstance(a, Tensor) and isinstance(b, Tensor) and \
        a._dtype is b._dtype is DataType.INT32


def _rounded_rdiv(name, function, tensor, number, memory_config, output):
    """Divides a number by a tensor, and rounds the quotient."""
    made = _binary(name, "rdiv", tensor, number, None, memory_config, output, None, None, None)
    step = "floor" if function == "floor_div" else "trunc"
    return _unary(name, step, made, [], None, made)


def _make_in_place(name, original):
    def call(tensor, *args, **kwargs):
        kwargs.setdefault("output_tensor", tensor)
        return original.function(tensor, *args, **kwargs)

    call.__doc__ = f"{original.name} in the place of its first operand."
    return operation(name, unread="accurate_mode fast_and_approximate_mode")(call)


for _name, _defaults in _UNARY.items():
    FUNCTIONS[_name] = _make_unary(_name, _name, _defaults)
FUNCTIONS["gelu"] = _make_unary("gelu", "gelu", (), "gelu_approx")
FUNCTIONS["swish"] = _make_unary("swish", "silu", ())
for _name in _BINARY:
    FUNCTIONS[_name] = _make_binary(_name, _name)
for _name, _function in (("sub", "subtract"), ("mul", "multiply"), ("div", "divide"),
                         ("div_no_nan", "div_no_nan"), ("floor_div", "floor_div"),
                         ("rdiv", "rdiv")):
    FUNCTIONS[_name] = _make_binary(_name, _function)
for _name in """add subtract multiply divide sub mul div rsub eq ne gt lt ge le logical_and logical_or
        logical_xor squared_difference bias_gelu ldexp logaddexp logaddexp2""".split():
    FUNCTIONS[_name + "_"] = _make_in_place(_name + "_", FUNCTIONS[_name])
for _name in _IN_PLACE_UNARY:
    FUNCTIONS[_name + "_"] = _make_in_place(_name + "_", FUNCTIONS[_name])


@operation("pow")
def _pow(input_tensor, exponent, *, dtype=None, memory_config=None, output_tensor=None):
    if not isinstance(input_tensor, Tensor):
        return _binary("pow", "rpow", exponent, input_tensor, dtype, memory_config, output_tensor,
                       None, None, None)
    return _binary("pow", "pow", input_tensor, exponent, dtype, memory_config, output_tensor, None,
                   None, None)


def _clamp(input_tensor, min=None, max=None, *, memory_config=None, output_tensor=None):
    if min is None and max is None:
        fail("clamp", "Please provide at least one value: min, max or both")
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        made = input_tensor
        if min is not None:
            made = FUNCTIONS["maximum"](made, min, memory_config=memory_config,
                                        output_tensor=output_tensor if max is None else None)
        if max is not None:
            made = FUNCTIONS["minimum"](made, max, memory_config=memory_config,
                                        output_tensor=output_tensor)
        return made
    low = -math.inf if min is None else min
    high = math.inf if max is None else max
    return _unary("clamp", "clamp", input_tensor, [low, high], memory_config, output_tensor)


@operation("prelu")
def _prelu(input_tensor, weight, *, memory_config=None, output_tensor=None):
    if isinstance(weight, (int, float, list, tuple)):
        slope = weight[0] if isinstance(weight, (list, tuple)) else weight
        return _unary("prelu", "leaky_relu", input_tensor, [slope], memory_config, output_tensor)
    if len(weight._shape) == 1 and len(input_tensor._shape) > 2:
        dims = [1] * len(input_tensor._shape)
        dims[1] = weight._shape[0]
        weight = reshape(weight, dims)
    return _binary("prelu", "prelu", input_tensor, weight, None, memory_config, output_tensor, None,
                   None, None)


@operation("typecast")
def _typecast(input_tensor, dtype, *args, memory_config=None, output_tensor=None):
    if isinstance(args[0] if args else None, DataType):
        dtype = args[0]
    require_device("typecast", input_tensor)
    out = make_output(input_tensor._shape, input_tensor, dtype, None, memory_config, output_tensor)
    program("typecast", "cast", [input_tensor], [out])
    kind = out._dtype.value
    values(lambda a: arrays.cast(a, kind), [input_tensor], [out])
    return out


@operation("where")
def _where(predicate, true_value, false_value, *, memory_config=None, output_tensor=None):
    inputs = [t for t in (predicate, true_value, false_value) if isinstance(t, Tensor)]
    inputs = _alike("where", inputs)
    shape = broadcast_shape(*[one._shape for one in inputs])
    out = make_output(shape, inputs[1 if len(inputs) > 1 else 0], None, None, memory_config, output_tensor)
    if len(inputs) == 1:
        program("where", "multiply", inputs, [out], True, scalar=1)
    else:
        program("where", "where", inputs, [out], shapes=_broadcast_shapes(shape, *inputs),
                **({"scalar": 1} if len(inputs) == 2 else {}))
    fixed = [None if isinstance(v, Tensor) else float(v)
             for v in (true_value, false_value)]

    def compute(condition, *rest):
        rest = list(rest)
        yes = fixed[0] if fixed[0] is not None else rest.pop(0)
        no = fixed[1] if fixed[1] is not None else rest.pop(0)
        return np.where(condition, yes, no)

    values(compute, inputs, [out])
    return out


def _composite(name, inputs, steps, compute, memory_config=None, output=None):
    """Makes a function of several programs, whose values are computed at once."""
    inputs = _alike(name, inputs)
    shape = broadcast_shape(*[one._shape for one in inputs])
    out = make_output(shape, inputs[0], None, None, memory_config, output)
    shapes = _broadcast_shapes(shape, *inputs)
    for kernel, count in steps:
        scalar = {"scalar": 1} if count < values_of(kernel) else {}
        used, seen = inputs[:count], shapes and shapes[:count]
        if broadcast_shape(*[one._shape for one in used]) != list(shape):
            used, seen = [*used[:-1], out], None  # What is computed so far is as large.
        program(name, kernel, used, [out], False, shapes=seen, **scalar)
    values(compute, inputs, [out])
    return out


@operation("addcmul")
def _addcmul(input_tensor_a, input_tensor_b, input_tensor_c, *, value=1.0, memory_config=None,
             output_tensor=None):
    return _composite("addcmul", [input_tensor_a, input_tensor_b, input_tensor_c], [("addcmul", 3)],
                      lambda x, y, z: x + value * (y * z), memory_config, output_tensor)


@operation("addcdiv")
def _addcdiv(input_tensor_a, input_tensor_b, input_tensor_c, *, value=1.0, memory_config=None,
             output_tensor=None):
    # ttnn of 2025 computes the quotient, with two choices for a division by zero, the product with
    # value, and a sum.
    steps = [("divide", 2), ("eqz", 1), ("where", 2), ("eqz", 1), ("where", 2), ("multiply", 1),
             ("add", 2)]
    return _composite("addcdiv", [input_tensor_a, input_tensor_b, input_tensor_c], steps,
                      lambda x, y, z: x + value * (y / z), memory_config, output_tensor)


@operation("mac")
def _mac(input_tensor_a, input_tensor_b, input_tensor_c, *, memory_config=None):
    if not isinstance(input_tensor_b, Tensor):
        made = FUNCTIONS["multiply"].function(input_tensor_a, input_tensor_b)
        return FUNCTIONS["add"].function(made, input_tensor_c, memory_config=memory_config)
    return _composite("mac", [input_tensor_a, input_tensor_b, input_tensor_c], [("multiply", 2), ("add", 2)],
                      lambda x, y, z: x * y + z, memory_config)


@operation("lerp")
def _lerp(input, end, weight, *, memory_config=None, output_tensor=None):
    inputs = [input, end] + ([weight] if isinstance(weight, Tensor) else [])

    def compute(x, y, w=weight):
        return apply("lerp", x, y, w)

    steps = [("subtract", 2), ("multiply", 2 if len(inputs) == 3 else 1), ("add", 2)]
    return _composite("lerp", inputs, steps, compute, memory_config, output_tensor)


@operation("isclose")
def _isclose(input_tensor_a, input_tensor_b, *, rtol=1e-05, atol=1e-08, equal_nan=False, memory_config=None):
    def compute(x, y):
        if not equal_nan:  # ttnn puts these in the place of NaN.
            x, y = np.where(np.isnan(x), 1.0, x), np.where(np.isnan(y), 0.0, y)
        return abs(x - y) <= atol + rtol * abs(y)

    return _composite("isclose", [input_tensor_a, input_tensor_b],
                      [("subtract", 2), ("abs", 1), ("abs", 1), ("multiply", 1), ("add", 1),
                       ("subtract", 2), ("lez", 1)], compute, memory_config)


@operation("addalpha")
def _addalpha(input_tensor_a, input_tensor_b, alpha=1.0, *, memory_config=None, output_tensor=None):
    return _composite("addalpha", [input_tensor_a, input_tensor_b], [("multiply", 1), ("add", 2)],
                      lambda x, y: x + y * alpha,
                      memory_config, output_tensor)


@operation("subalpha")
def _subalpha(input_tensor_a, input_tensor_b, alpha=1.0, *, memory_config=None, output_tensor=None):
    return _composite("subalpha", [input_tensor_a, input_tensor_b], [("multiply", 1), ("subtract", 2)],
                      lambda x, y: x - y * alpha,
                      memory_config, output_tensor)


@operation("unary_chain")
def _unary_chain(input_tensor, ops_chain=(), *, memory_config=None, output_tensor=None):
    require_device("unary_chain", input_tensor)
    out = make_output(input_tensor._shape, input_tensor, None, None, memory_config, output_tensor)
    chain = _activations(list(ops_chain))
    if not chain:
        fail("unary_chain", "the chain must have one function at least")
    launch_function("unary_chain", chain[0][0], [input_tensor], out, 1, then=chain[1:])
    values(lambda a: _with_activations(a, chain), [input_tensor], [out])
    return out


@operation("polyval")
def _polyval(input_tensor, coeffs=(), *, memory_config=None):
    def compute(x):
        made = np.full_like(x, coeffs[0])
        for coefficient in coeffs[1:]:
            made = made * x + coefficient
        return made

    return _composite("polyval", [input_tensor], [("multiply", 1), ("add", 1)] * (len(coeffs) - 1),
                      compute, memory_config)


@operation("alt_complex_rotate90")
def _rotate90(input_tensor, *, memory_config=None):
    shape = list(input_tensor._shape)

    def compute(x):
        pairs = x.reshape([x.size // 2, 2])
        return np.stack([-pairs[:, 1], pairs[:, 0]], 1).reshape(shape)

    return _composite("alt_complex_rotate90", [input_tensor], [("neg", 1)], compute, memory_config)


def _gated(name, function):
    @operation(name)
    def call(input_tensor, dim=-1, *, memory_config=None):
        """Returns one half of the tensor, gated by a function of the other."""
        a, b = split.function(input_tensor, input_tensor._shape[dim] // 2, dim)
        gate = b if function is None else FUNCTIONS[function].function(b)
        return FUNCTIONS["multiply"].function(a, gate, memory_config=memory_config)

    return call


for _name, _function in (("glu", "sigmoid"), ("reglu", "relu"), ("geglu", "gelu"),
                         ("swiglu", "silu")):
    FUNCTIONS[_name] = _gated(_name, _function)

clamp = FUNCTIONS["clamp"] = operation("clamp")(_clamp)
FUNCTIONS["clip"] = operation("clip")(_clamp)
for _name in """pow prelu typecast where addcmul addcdiv mac lerp isclose addalpha subalpha
        unary_chain polyval alt_complex_rotate90""".split():
    FUNCTIONS[_name] = OPERATIONS[_name]
FUNCTIONS["add_"].python_fully_qualified_name = "ttnn.add_"


@operation("bitcast")
def bitcast(input_tensor, dtype, *, memory_config=None, output_tensor=None):
    """Returns the same bits as another type of as many bytes."""
    is_half = input_tensor._dtype in (DataType.BFLOAT16, DataType.UINT16)

    def compute(x):
        if not is_half:
            return x.view(np.int32 if dtype.whole else np.float32)
        if dtype.whole:  # The upper half of a float32's bits.
            return (x.view(np.uint32) >> 16).astype(np.int32)
        return (x.astype(np.uint32) << 16).view(np.float32)

    return _moved("bitcast", [input_tensor], list(input_tensor._shape), compute, memory_config,
                  output_tensor, dtype=dtype, kernel="relu")
