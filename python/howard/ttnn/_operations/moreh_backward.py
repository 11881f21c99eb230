# SPDX-License-Identifier: Apache-2.0
"""Implements the gradients of the moreh ops that moreh.py has not, and moreh_fold."""

import enum
import math

from .. import _arrays as arrays
from .._arrays import apply, np
from .._launch import fail, make_output, program, require_device, values
from .data_movement import _axis, _moved
from .matmul import matmul
from .moreh import _both
from .reduction import cumsum

SoftmaxOp = enum.Enum("SoftmaxOp", "SOFTMAX SOFTMIN LOGSOFTMAX", start=0)
SoftmaxBackwardOp = enum.Enum("SoftmaxBackwardOp", "SOFTMAX SOFTMIN LOGSOFTMAX", start=0)
SoftmaxOpParallelizationStrategy = enum.Enum(
    "SoftmaxOpParallelizationStrategy", "NONE SMALL_W SMALL_H LARGE_W LARGE_H LARGE_C", start=0)
SoftmaxBackwardOpParallelizationStrategy = enum.Enum(
    "SoftmaxBackwardOpParallelizationStrategy", "NONE SMALL_W SMALL_H LARGE_W LARGE_H LARGE_C",
    start=0)


def _gradient(name, kernel, inputs, shape, compute, memory_config, output):
    """Launches one program that makes a gradient of a shape from several tensors."""
    require_device(name, *inputs)
    out = make_output(shape, inputs[0], None, None, memory_config, output)
    program(name, kernel, inputs[:1 if kernel == "move" else 2], [out], True)
    values(compute, inputs, [out])
    return out


def _softmax_gradient(name, gradient):
    @_both(name, unread="strategy compute_kernel_config")
    def call(output_tensor, output_grad_tensor, dim=-1, *, input_grad_tensor=None,
             memory_config=None):
        """Returns the gradient of what the softmax was computed of."""
        axis = _axis("moreh_" + name, output_tensor, dim)
        return _gradient("moreh_" + name, "softmax_backward", [output_tensor, output_grad_tensor],
                         output_tensor._shape, lambda y, g: gradient(y, g, axis), memory_config,
                         input_grad_tensor)

    return call


_softmax_gradient("softmin_backward", lambda y, g, dim: -y * (
    g - arrays.reduce("sum", y * g, [dim], True)))
_softmax_gradient("logsoftmax_backward", lambda y, g, dim: g - apply("exp", y) * arrays.reduce(
    "sum", g, [dim], True))


@_both("bmm_backward", unread="compute_kernel_config")
def moreh_bmm_backward(output_grad, input, mat2, *, are_required_outputs=(True, True),
                       input_grad=None, mat2_grad=None, input_grad_memory_config=None,
                       mat2_grad_memory_config=None):
    left, right = are_required_outputs
    return [
        matmul.function(output_grad, mat2, transpose_b=True, optional_output_tensor=input_grad,
                        memory_config=input_grad_memory_config) if left else None,
        matmul.function(input, output_grad, transpose_a=True, optional_output_tensor=mat2_grad,
                        memory_config=mat2_grad_memory_config) if right else None]


@_both("dot_backward")
def moreh_dot_backward(output_grad, input, other, *, input_grad=None, other_grad=None,
                       memory_config=None):
    """Returns the gradients of two vectors: each is the other one, times a number."""
    def times(tensor, output):
        return _gradient("moreh_dot_backward", "multiply", [tensor, output_grad], tensor._shape,
                         lambda x, g: x * g.reshape(-1)[0], memory_config, output)

    return [times(other, input_grad), times(input, other_grad)]


@_both("cumsum_backward", unread="compute_kernel_config")
def moreh_cumsum_backward(output_grad, dim, *, input_grad=None, memory_config=None):
    return cumsum.function(output_grad, dim, out=input_grad, reverse_order=True,
                           memory_config=memory_config)


def _norm_gradient(x, norm, g, p):
    size = np.abs(x)
    if p == 0:
        return np.zeros_like(x)
    if math.isinf(p):
        hit = size == norm
        return np.sign(x) * hit * g / hit.sum(tuple(
            i for i, (a, b) in enumerate(zip(x.shape, norm.shape)) if a != b), keepdims=True)
    return np.where(norm == 0, 0.0, np.sign(x) * size ** (p - 1) * g / norm ** (p - 1))


@_both("norm_backward", unread="keepdim compute_kernel_config")
def moreh_norm_backward(input, output, output_grad, p=2.0, *, dim=None, input_grad=None,
                        memory_config=None):
    """Returns the gradient of (sum of |x|^p)^(1/p)."""
    shape = list(input._shape)
    dims = range(len(shape)) if dim is None else [
        _axis("moreh_norm_backward", input, d) for d in ([dim] if isinstance(dim, int) else dim)]
    kept = [1 if i in dims else size for i, size in enumerate(shape)]
    if output._shape.volume() != math.prod(kept):
        fail("moreh_norm_backward", f"the norm {output._shape} is none of {shape} over {list(dims)}")
    require_device("moreh_norm_backward", input, output, output_grad)
    out = make_output(shape, input, None, None, memory_config, input_grad)
    program("moreh_norm_backward", "multiply", [input, output], [out], True, shapes=[None, kept])
    values(lambda x, n, g: _norm_gradient(x, n.reshape(kept), g.reshape(kept), float(p)),
           [input, output, output_grad], [out])
    return out


def _loss_gradient(name, target, grad, weight, input_grad, ignored, divisor, spread,
                   memory_config):
    """Returns -w[t] g at the class t of each target, and zeros elsewhere."""
    if input_grad is None and weight is None:
        fail(name, "the number of classes is known from weight_tensor or input_grad_tensor: give "
             "one of them")
    classes = weight._shape.volume() if input_grad is None else input_grad._shape[1]
    shape = [target._shape[0], classes, *list(target._shape)[1:]]
    extra = [one for one in (weight, divisor) if one is not None]
    is_scaled, is_divided = weight is not None, divisor is not None

    def compute(places, g, *rest):
        rest = list(rest)
        scale = rest.pop(0).reshape(-1) if is_scaled else np.ones(classes, np.float32)
        places = places.astype(np.int64)
        inside = (places >= 0) & (places < classes) & (places != ignored)
        chosen = np.clip(places, 0, classes - 1)
        g = np.full(places.shape, g.reshape(-1)[0], np.float32) if spread else g.reshape(places.shape)
        each = np.where(inside, -scale[chosen] * g, 0.0)
        if is_divided:
            each = each / rest.pop(0).reshape(-1)[0]
        made = np.zeros(shape, np.float32)
        np.put_along_axis(made, chosen[:, None], each[:, None].astype(np.float32), 1)
        return made

    inputs = [target, grad] + extra
    require_device(name, *inputs)
    out = input_grad if input_grad is not None else make_output(shape, grad, None, None, memory_config)
    program(name, "move", [grad], [out], True)
    values(compute, inputs, [out])
    return out


@_both("nll_loss_backward", unread="compute_kernel_config")
def moreh_nll_loss_backward(target_tensor, output_grad_tensor, reduction_mean=False, *,
                            weight_tensor=None, input_grad_tensor=None, divisor_tensor=None,
                            ignore_index=-100, memory_config=None):
    """Returns the gradient of the sum, or of the mean, for which the divisor is needed."""
    name = "moreh_nll_loss_backward"
    if reduction_mean in (True, "mean") and divisor_tensor is None:
        fail(name, "Divisor tensor must not be empty for the mean")
    return _loss_gradient(name, target_tensor, output_grad_tensor, weight_tensor, input_grad_tensor,
                          ignore_index,
                          divisor_tensor if reduction_mean in (True, "mean") else None, True,
                          memory_config)


@_both("nll_loss_unreduced_backward", unread="compute_kernel_config")
def moreh_nll_loss_unreduced_backward(target_tensor, output_grad_tensor, *, weight_tensor=None,
                                      input_grad_tensor=None, ignore_index=-100,
                                      memory_config=None):
    """Returns the gradient of the losses themselves."""
    return _loss_gradient("moreh_nll_loss_unreduced_backward", target_tensor, output_grad_tensor,
                          weight_tensor, input_grad_tensor, ignore_index, None, False,
                          memory_config)


@_both("group_norm_backward", unread="compute_kernel_config")
def moreh_group_norm_backward(output_grad, input, mean, rstd, num_groups, *,
                              are_required_outputs=(True, False, False), gamma=None,
                              input_grad=None, gamma_grad=None, beta_grad=None, memory_config=None,
                              input_grad_memory_config=None, gamma_grad_memory_config=None,
                              beta_grad_memory_config=None):
    """Returns dx of [n, c, h, w], and the gradients of gamma and beta where they are wanted."""
    name = "moreh_group_norm_backward"
    n, c, h, w = list(input._shape)
    flat = [n, num_groups, c // num_groups * h * w]

    def normal(x, m, r):
        return (x.reshape(flat) - m.reshape(n, num_groups, 1)) * r.reshape(n, num_groups, 1)

    def dx(g, x, m, r, *scale):
        y = normal(x, m, r)
        if scale:
            g = g * scale[0].reshape(1, c, 1, 1)
        g = g.reshape(flat)
        made = g - g.mean(-1, keepdims=True) - y * (g * y).mean(-1, keepdims=True)
        return (made * r.reshape(n, num_groups, 1)).reshape(n, c, h, w)

    def dgamma(g, x, m, r):
        return (g * normal(x, m, r).reshape(n, c, h, w)).sum((0, 2, 3))

    whole = [output_grad, input, mean, rstd]
    wanted = list(are_required_outputs)
    channels = [1, 1, 1, c]
    return [
        _gradient(name, "multiply", whole + ([gamma] if gamma is not None else []),
                  input._shape, dx, input_grad_memory_config or memory_config, input_grad)
        if wanted[0] else None,
        _gradient(name, "move", whole, channels, lambda *given: dgamma(*given).reshape(channels),
                  gamma_grad_memory_config or memory_config, gamma_grad) if wanted[1] else None,
        _gradient(name, "move", whole, channels,
                  lambda g, x, m, r: g.sum((0, 2, 3)).reshape(channels),
                  beta_grad_memory_config or memory_config, beta_grad) if wanted[2] else None]


def _two(value):
    return (value, value) if isinstance(value, int) else tuple(value)


@_both("fold")
def moreh_fold(input, output=None, output_size=None, kernel_size=None, dilation=(1, 1),
               padding=(0, 0), stride=(1, 1), *, memory_config=None):
    """Adds up the windows [n, c kh kw, l] to images [n, c, h, w]."""
    (height, width), (kh, kw) = _two(output_size), _two(kernel_size)
    dilation, padding, stride = _two(dilation), _two(padding), _two(stride)
    down, across = ((size + 2 * pad - gap * (kernel - 1) - 1) // step + 1 for size, pad, gap, kernel,
                    step in zip((height, width), padding, dilation, (kh, kw), stride))
    dims = list(input._shape)
    batch = dims[:-2]
    channels = dims[-2] // (kh * kw)
    if dims[-1] != down * across or dims[-2] % (kh * kw):
        fail("moreh_fold", f"{input._shape} are no windows of {kh}x{kw} for an image of "
             f"{height}x{width}: {down * across} places are expected")
    shape = batch + [channels, height, width]

    def compute(x):
        parts = x.reshape(-1, channels, kh, kw, down, across)
        made = np.zeros((parts.shape[0], channels, height + 2 * padding[0],
                         width + 2 * padding[1]), np.float32)
        for i in range(kh):
            for j in range(kw):
                top, left = i * dilation[0], j * dilation[1]
                made[:, :, top:top + (down - 1) * stride[0] + 1:stride[0],
                     left:left + (across - 1) * stride[1] + 1:stride[1]] += parts[:, :, i, j]
        return made[:, :, padding[0]:padding[0] + height,
                    padding[1]:padding[1] + width].reshape(shape)

    return _moved("moreh_fold", [input], shape, compute, memory_config, output)
