# SPDX-License-Identifier: Apache-2.0
"""Implements the moreh ops: reductions, products and optimizers of their own kernels."""

import math


from .. import _arrays as arrays
from .._arrays import apply, np
from .._launch import fail, make_output, operation, program, require_device, values
from .._tensor import device_tensor
from .._types import Layout
from .core import copy_host_to_device_tensor
from .creation import _filled, _like, arange
from .data_movement import _axis, _moved, reshape
from .eltwise import FUNCTIONS
from .eltwise_backward import _gradients
from .matmul import _multiply, linear, matmul
from .normalization import _softmax
from .reduction import cumsum, max as max_, mean, min as min_, sum as sum_


def _both(name, **apart):
    """Registers as ttnn.moreh_NAME and ttnn.operations.moreh.NAME."""

    def register(function):
        operation("moreh." + name, **apart)(function)
        return operation("moreh_" + name, **apart)(function)

    return register


def _reduction(name, original):
    @_both(name, unread="compute_kernel_config")
    def call(input, dim=None, *, keepdim=False, output=None, memory_config=None, divisor=None):
        """Reduces along one dimension after the other, accumulated in float32."""
        if divisor is not None:
            fail("moreh_" + name, "divisor not supported yet")
        return original.function(input, dim, keepdim, memory_config=memory_config,
                                 output_tensor=output)

    return call


_reduction("sum", sum_)
_reduction("mean", mean)


def _in_batches(name, kernel, inputs, outputs, shapes, out_shapes, **attributes):
    """Launches a product, each of whose batches may be one for several of the other's."""
    batch = list(out_shapes[0])[:-2]
    wide = [shape if list(shape)[:-2] == batch else [*batch, *list(shape)[-2:]] for shape in shapes[:2]]
    plain = wide == list(shapes[:2]) or math.prod(list(shapes[1])[:-2]) == 1
    program(name, kernel, inputs, outputs, not plain, shapes=shapes if plain else [*wide, *shapes[2:]],
            out_shapes=out_shapes, **attributes)


def _product(input, other, transpose_input, transpose_other, output, bias, memory_config):
    return _multiply("moreh_matmul", input, other, bias, transpose_input, transpose_other, memory_config,
                     None, None, None, None, None, output, _in_batches)


@_both("matmul", unread="compute_kernel_config")
def moreh_matmul(input, other, *, transpose_input=False, transpose_other=False, output=None,
                 bias=None, memory_config=None):
    """Computes a product, whose batches are broadcast as in torch."""
    return _product(input, other, transpose_input, transpose_other, output, bias, memory_config)


@_both("linear", unread="compute_kernel_config")
def moreh_linear(input, weight, *, bias=None, output=None, memory_config=None):
    return linear.function(input, weight, bias=bias, transpose_b=True, memory_config=memory_config,
                           optional_output_tensor=output)


@_both("bmm", unread="compute_kernel_config")
def moreh_bmm(input, mat2, *, output=None, memory_config=None):
    return matmul.function(input, mat2, memory_config=memory_config, optional_output_tensor=output)


@_both("dot", unread="compute_kernel_config")
def moreh_dot(input_a, input_b, *, dtype=None, output=None, memory_config=None):
    return matmul.function(input_a, input_b, transpose_b=True, memory_config=memory_config,
                           dtype=dtype, optional_output_tensor=output)


_HOW = "op strategy compute_kernel_config"


@_both("softmax", unread=_HOW)
def moreh_softmax(input_tensor, dim=-1, *, output_tensor=None, memory_config=None):
    return _softmax("moreh_softmax", input_tensor, dim, memory_config, output_tensor)


def _of_softmax(name, function):
    @_both(name, unread=_HOW)
    def call(input_tensor, dim=-1, *, output_tensor=None, memory_config=None):
        """Computes a softmax, and a function of it or of its input."""
        require_device("moreh_" + name, input_tensor)
        out = make_output(input_tensor._shape, input_tensor, None, None, memory_config,
                          output_tensor)
        program("moreh_" + name, "softmax", [input_tensor], [out], True)
        values(lambda x: function(x, dim), [input_tensor], [out])
        return out

    return call


_of_softmax("softmin", lambda x, dim: arrays.softmax(apply("neg", x), dim))
_of_softmax("logsoftmax", lambda x, dim: apply("log", arrays.softmax(x, dim)))


@_both("softmax_backward", unread=_HOW)
def moreh_softmax_backward(output_tensor, output_grad_tensor, dim=-1, *, input_grad_tensor=None,
                           memory_config=None):
    require_device("moreh_softmax_backward", output_tensor, output_grad_tensor)
    out = make_output(output_tensor._shape, output_tensor, None, None, memory_config,
                      input_grad_tensor)
    program("moreh_softmax_backward", "softmax_backward", [output_tensor, output_grad_tensor], [out])

    def compute(y, g):
        return y * (g - arrays.reduce("sum", y * g, [dim], True))

    values(compute, [output_tensor, output_grad_tensor], [out])
    return out


def _normalized_size(name, tensor, normalized_dims):
    """Returns how many numbers the last dimensions have, so many as are normalised together."""
    rank = len(tensor._shape)
    if not 1 <= normalized_dims <= rank:
        fail(name, f"normalized_dims={normalized_dims} must be 1 to {rank}, the rank of "
             f"{tensor._shape}")
    return math.prod(list(tensor._shape)[rank - normalized_dims:])


@_both("layer_norm", unread="compute_kernel_config")
def moreh_layer_norm(input, normalized_dims=1, eps=1e-5, gamma=None, beta=None, *, output=None,
                     mean=None, rstd=None, memory_config=None):
    """Returns the result, and the mean and 1 / the deviation of the last dimensions where tensors for
    them are given."""
    size = _normalized_size("moreh_layer_norm", input, normalized_dims)
    given = [gamma is not None, beta is not None]
    extra = [t for t in (gamma, beta) if t is not None]
    require_device("moreh_layer_norm", input, *extra)
    outs = [make_output(input._shape, input, None, None, memory_config, output)]
    rows = [input._shape.volume() // size, 1]
    whole = [make_output(rows, input) if one is None else one for one in (mean, rstd)]
    shapes = [one._shape for one in whole]
    program("moreh_layer_norm", "ttml_layernorm", [input], outs + whole,
            shapes=[[rows[0], size]], out_shapes=[[rows[0], size], rows, rows])

    def compute(x, *rest):
        flat, rest = x.reshape([-1, size]), list(rest)
        made = arrays.normalized(flat, float(eps), False)
        for function, one in zip(("multiply", "add"), given):
            if one:
                made = apply(function, made, rest.pop(0).reshape([1, size]))
        centre, variance = (arrays.reduce(kind, flat, [-1], True) for kind in ("mean", "var0"))
        statistics = (centre, apply("rsqrt", variance + eps))
        return [made.reshape(x.shape), *(one.reshape(shape) for one, shape in zip(statistics, shapes))]

    values(compute, [input] + extra, outs + whole)
    return outs + [mean, rstd]


@_both("full")
def moreh_full(shape, fill_value, mesh_device=None, *, device=None, dtype=None, layout=None,
               memory_config=None):
    return _filled(shape, fill_value, dtype, layout or Layout.TILE, device or mesh_device,
                   memory_config)


@_both("full_like")
def moreh_full_like(input, fill_value, *, dtype=None, layout=None, memory_config=None):
    return _like("moreh_full_like", input, fill_value, dtype, layout, None, memory_config, None)


@_both("arange")
def moreh_arange(start=0, end=None, step=1, mesh_device=None, *, output=None,
                 untilize_out=False, dtype=None, memory_config=None):
    if output is not None:
        made = arange.function(start, end, step, output._dtype, None, None, output._layout)
        copy_host_to_device_tensor.function(made, output)
        return output
    layout = Layout.ROW_MAJOR if untilize_out else Layout.TILE
    return arange.function(start, end, step, dtype, mesh_device, memory_config, layout)


@_both("cumsum", unread="compute_kernel_config")
def moreh_cumsum(input, dim, *, output=None, memory_config=None):
    return cumsum.function(input, dim, out=output, memory_config=memory_config)


@_both("norm", unread="compute_kernel_config")
def moreh_norm(input, p=2.0, dim=None, keepdim=False, *, output=None, memory_config=None):
    """Computes (sum of |x|^p)^(1/p) in three steps; the largest or least |x| of infinite p, and how
    many are not 0 of p=0."""
    if p in (math.inf, -math.inf):
        reduce = max_ if p > 0 else min_
        return reduce.function(FUNCTIONS["abs"].function(input), dim, keepdim,
                               memory_config=memory_config, output_tensor=output)
    if p == 0:
        return sum_.function(FUNCTIONS["nez"].function(input), dim, keepdim,
                             memory_config=memory_config, output_tensor=output)
    powers = FUNCTIONS["pow"].function(FUNCTIONS["abs"].function(input), p)
    total = sum_.function(powers, dim, keepdim, memory_config=memory_config)
    return FUNCTIONS["pow"].function(total, 1 / p, output_tensor=output)


@_both("abs_pow", unread="compute_kernel_config")
def moreh_abs_pow(input, p, *, output=None, memory_config=None):
    return FUNCTIONS["pow"].function(FUNCTIONS["abs"].function(input), p,
                                     memory_config=memory_config, output_tensor=output)


def _spread_gradient(name, mean):
    @_both(name, unread="compute_kernel_config")
    def call(output_grad, input=None, dim=None, *, keepdim=False, input_grad=None,
             input_grad_shape=None, memory_config=None):
        """Returns the gradient of each element that was summed."""
        like = input if input is not None else input_grad
        if like is None and input_grad_shape is None and not keepdim:
            fail("moreh_" + name, "the shape of the result must be known: give input_grad, "
                 "input_grad_shape or keepdim=True")
        known = output_grad._shape if like is None else like._shape
        shape = list(known if input_grad_shape is None else input_grad_shape)
        dims = list(range(len(shape))) if dim is None else [
            d % len(shape) for d in ([dim] if isinstance(dim, int) else dim)]
        kept = [1 if i in dims else d for i, d in enumerate(shape)]
        count = math.prod(shape[i] for i in dims) if mean else 1

        def compute(g):
            return np.broadcast_to(g.reshape(kept) / count, shape)

        return _moved("moreh_" + name, [output_grad], shape, compute, memory_config, input_grad,
                      kernel="move")

    return call


_spread_gradient("sum_backward", False)
_spread_gradient("mean_backward", True)


@_both("matmul_backward", unread="compute_kernel_config")
def moreh_matmul_backward(output_grad, input, other, *, are_required_outputs=(True, True),
                          input_grad=None, other_grad=None, input_a_grad=None, input_b_grad=None,
                          memory_config=None):
    """Returns the gradients of both operands: of one that was broadcast, the sum over its batches."""
    def gradient(a, b, operand, output, transpose_a, transpose_b):
        lead = len(output_grad._shape) - len(operand._shape)
        whole = [1] * lead + list(operand._shape)
        dims = [i for i, size in enumerate(list(output_grad._shape)[:-2]) if size != whole[i]]
        made = _product(a, b, transpose_a, transpose_b, None if dims else output, None, memory_config)
        if not dims:
            return made
        made = sum_.function(made, dims, True, output_tensor=None if lead else output)
        return reshape.function(made, operand._shape) if lead else made

    left, right = are_required_outputs
    first, second = (a if a is not None else b for a, b in ((input_grad, input_a_grad), (other_grad, input_b_grad)))
    return [gradient(output_grad, other, input, first, False, True) if left else None,
            gradient(input, output_grad, other, second, True, False) if right else None]


@_both("linear_backward", unread="compute_kernel_config")
def moreh_linear_backward(output_grad, input, weight, *, are_required_outputs=(True, True, True),
                          bias=None, input_grad=None, weight_grad=None, bias_grad=None,
                          input_grad_memory_config=None, weight_grad_memory_config=None,
                          bias_grad_memory_config=None):
    wanted = list(are_required_outputs)
    made = [None] * 3
    if wanted[0]:
        made[0] = matmul.function(output_grad, weight, memory_config=input_grad_memory_config,
                                  optional_output_tensor=input_grad)
    if wanted[1]:
        made[1] = matmul.function(output_grad, input, transpose_a=True,
                                  memory_config=weight_grad_memory_config,
                                  optional_output_tensor=weight_grad)
        while len(made[1]._shape) > 2 and weight_grad is None:
            made[1] = sum_.function(made[1], 0, memory_config=weight_grad_memory_config)
    if wanted[2] and bias is not None:
        rank = len(output_grad._shape)
        made[2] = sum_.function(output_grad, list(range(rank - 1)), True,
                                memory_config=bias_grad_memory_config, output_tensor=bias_grad)
    return made


@_both("layer_norm_backward", unread="compute_kernel_config")
def moreh_layer_norm_backward(output_grad, input, mean, rstd, normalized_dims=1, *, gamma=None,
                              input_grad=None, gamma_grad=None, beta_grad=None, memory_config=None):
    """Returns dx, and the gradients of gamma and beta where tensors for them are given."""
    name = "moreh_layer_norm_backward"
    size, shape = _normalized_size(name, input, normalized_dims), input._shape

    def rows(*numbers):
        return [one.reshape([-1, 1 if one.size * size == numbers[0].size else size])
                for one in numbers]

    def compute(g, x, m, r, *rest):
        g, x, m, r = rows(g, x, m, r)
        normal = (x - m) * r
        scaled = g if not rest else g * rest[0].reshape([1, size])

        def row_mean(v):
            return arrays.reduce("mean", v, [-1], True)

        made = r * (scaled - row_mean(scaled) - normal * row_mean(scaled * normal))
        return made.reshape(shape)

    extra = [mean, rstd] + ([gamma] if gamma is not None else [])
    made = _gradients(name, output_grad, [input] + extra, 1, 2, compute, memory_config, [input_grad])

    def of_gamma(g, x, m, r):
        g, x, m, r = rows(g, x, m, r)
        return (g * (x - m) * r).sum(0).reshape(gamma_shape)

    gamma_shape, beta_shape = (one if one is None else one._shape for one in (gamma_grad, beta_grad))
    if gamma_grad is not None:
        values(of_gamma, [output_grad, input, mean, rstd], [gamma_grad])
    if beta_grad is not None:
        values(lambda g: g.reshape([-1, size]).sum(0).reshape(beta_shape), [output_grad], [beta_grad])
    for one in (gamma_grad, beta_grad):
        if one is not None:
            program(name, "move", [output_grad], [one], True)
    return made + [gamma_grad, beta_grad]


@_both("nll_loss", unread="compute_kernel_config")
def moreh_nll_loss(input_tensor, target_tensor, reduction="mean", *, weight_tensor=None,
                   divisor_tensor=None, output_tensor=None, ignore_index=-100, memory_config=None):
    """Returns the loss of log-probabilities [n, c, ...] at the classes [n, ...] of a target."""
    name = "moreh_nll_loss"
    if reduction == "mean" and divisor_tensor is None:
        fail(name, "Divisor tensor must not be empty with the reduction mean")
    extra = [weight_tensor] if weight_tensor is not None else []
    require_device(name, input_tensor, target_tensor, *extra)
    whole = reduction != "none"
    out = make_output([1] if whole else list(target_tensor._shape), input_tensor, None, None,
                      memory_config, output_tensor)
    parts = device_tensor(target_tensor._shape, input_tensor._dtype, Layout.TILE, None,
                          input_tensor._device)
    program(name, "move", [input_tensor], [parts], True)
    if whole:
        program("moreh_sum", "sum", [parts], [out], True, out_shapes=[[1]], dimension="all")
    divisors = [divisor_tensor] if reduction == "mean" else []
    classes, shapes = input_tensor._shape[1], [one._shape for one in (out, *divisors)]

    def compute(x, target, weight=None):
        kept = target != float(ignore_index)
        inside = apply("clamp", target, numbers=[0.0, float(classes - 1)])
        index = inside.reshape([target.shape[0], 1, *target.shape[1:]])
        chosen = arrays.gathered(x, 1, index).reshape(list(target.shape))
        scale = kept
        if weight is not None:
            row = arrays.gathered(weight.reshape([weight.size]), 0, inside.reshape([target.size]))
            scale = scale * row.reshape(list(target.shape))
        losses = -(chosen * scale)
        if not whole:
            return losses
        dims = list(range(len(target.shape)))
        total = arrays.reduce("sum", losses, dims, False).reshape([1])
        if reduction == "sum":
            return total.reshape(shapes[0])
        divisor = arrays.reduce("sum", scale, dims, False)
        return [(total / divisor).reshape(shapes[0]), divisor.reshape(shapes[1])]

    values(compute, [input_tensor, target_tensor] + extra, [out] + divisors)
    return out


@_both("getitem")
def moreh_getitem(input, index_tensors, index_dims, *, output=None, memory_config=None):
    """Returns the elements at the places of the indices of all dimensions that are named,
    together."""
    indices, dims = list(index_tensors), [_axis("moreh_getitem", input, d) for d in index_dims]
    if dims != list(range(dims[0], dims[0] + len(dims))):
        fail("moreh_getitem", f"the dimensions {dims} must follow each other")
    shape, count = list(input._shape), indices[0]._shape.volume()
    size = math.prod(shape[d] for d in dims)
    merged = shape[:dims[0]] + [size] + shape[dims[-1] + 1:]
    out_shape = shape[:dims[0]] + [count] + shape[dims[-1] + 1:]

    def compute(x, *places):
        flat = None
        for d, place in zip(dims, places):
            place = place.reshape([count])
            flat = place if flat is None else flat * shape[d] + place
        rest = [1] * len(merged)
        rest[dims[0]] = count
        wide = np.broadcast_to(flat.reshape(rest), out_shape)
        return arrays.gathered(x.reshape(merged), dims[0], wide)

    return _moved("moreh_getitem", [input] + indices, out_shape, compute, memory_config, output)


@_both("group_norm", unread="compute_kernel_config mean_memory_config rstd_memory_config")
def moreh_group_norm(input, num_groups, eps=1e-5, gamma=None, beta=None, *,
                     are_required_outputs=(True, False, False), output=None, mean=None, rstd=None,
                     memory_config=None):
    """Returns [n, c, h, w] normalised by groups of channels, and the mean and 1 / the deviation of
    each."""
    n, c, h, w = list(input._shape)
    if c % num_groups:
        fail("moreh_group_norm", f"{c} channels cannot be divided into {num_groups} groups")
    extra = [t for t in (gamma, beta) if t is not None]
    require_device("moreh_group_norm", input, *extra)
    rows = [1, 1, n, num_groups]
    outs = [make_output(input._shape, input, None, None, memory_config, output),
            make_output(rows, input, None, None, memory_config, mean),
            make_output(rows, input, None, None, memory_config, rstd)]
    program("moreh_group_norm", "layernorm", [input], [outs[0]], True)

    def compute(x, *rest):
        flat = x.reshape([n, num_groups, c // num_groups * h * w])
        made = arrays.normalized(flat, float(eps), False).reshape([n, c, h, w])
        rest = list(rest)
        if gamma is not None:
            made = made * rest.pop(0).reshape([1, c, 1, 1])
        if beta is not None:
            made = made + rest.pop(0).reshape([1, c, 1, 1])
        variance = arrays.reduce("var0", flat, [-1], True)
        return [made, arrays.reduce("mean", flat, [-1], True).reshape(rows),
                apply("rsqrt", variance + eps).reshape(rows)]

    values(compute, [input] + extra, outs)
    return [one if wanted else None for one, wanted in zip(outs, are_required_outputs)]
