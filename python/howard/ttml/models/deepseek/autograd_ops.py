# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.models.deepseek.autograd_ops: calls of ttnn with a way back."""

import howard.ttnn as ttnn

from ... import _kernels as kernels
from ..._graph import one_call
from ...autograd import derived
from ...ops._arithmetic import softmax
from ...ops._layers import concat_along


@one_call
def autograd_slice(tensor, start, end):
    """Returns the elements from `start` up to `end`, a place for each dimension."""
    x = tensor.half()
    around = [(first, size - last) for first, last, size in zip(start, end, x.shape)]
    return derived(ttnn.slice(x, list(start), list(end)), [tensor],
                   lambda g: [ttnn.pad(g, around, 0.0)])


def autograd_concat(tensors, dim):
    return concat_along(tensors, dim)


def autograd_split(tensor, sizes, dim):
    """Returns parts of these sizes along a dimension."""
    shape, place, parts = tensor.shape(), 0, []
    for size in sizes:
        start, end = [0] * len(shape), list(shape)
        start[dim], end[dim] = place, place + size
        parts.append(autograd_slice(tensor, start, end))
        place += size
    return tuple(parts)


@one_call
def autograd_sigmoid(tensor):
    y = ttnn.sigmoid(tensor.half())

    def backward(g):
        return [ttnn.multiply(g, ttnn.multiply(y, ttnn.rsub(y, 1.0)))]

    return derived(y, [tensor], backward)


def autograd_softmax(tensor, dim=-1):
    return softmax(tensor, dim % len(tensor.shape()))


@one_call
def split_heads(tensor, num_heads):
    """Turns [B, 1, S, heads d] into [B, heads, S, d]."""
    batch, _, rows, wide = tensor.shape()
    width = wide // num_heads

    def backward(g):
        return [ttnn.reshape(ttnn.transpose(g, 1, 2), [batch, 1, rows, wide])]

    heads = ttnn.transpose(ttnn.reshape(tensor.half(), [batch, rows, num_heads, width]), 1, 2)
    return derived(heads, [tensor], backward)


@one_call
def moe_routing_normalize(scores, mask, route_scale):
    """Divides the scores of the experts that a mask chooses by their sum, and multiplies them by
    route_scale."""
    chosen = ttnn.multiply(scores.half(), mask)
    total = ttnn.add(ttnn.sum(chosen, 3, True), 1e-20)
    shares = ttnn.divide(chosen, total)

    def backward(g):
        along = ttnn.sum(ttnn.multiply(g, shares), 3, True)
        inner = ttnn.divide(ttnn.subtract(g, along), total)
        return [ttnn.multiply(ttnn.multiply(inner, mask), route_scale)]

    return derived(ttnn.multiply(shares, route_scale), [scores], backward)


@one_call
def scaled_rows(tensor, weights, column):
    """Multiplies rows [B, 1, S, D] by a column of weights [B, 1, S, E]."""
    x, all_weights = tensor.half(), weights.half()
    batch, _, rows, experts = all_weights.shape
    weight = ttnn.slice(all_weights, [0, 0, 0, column], [batch, 1, rows, column + 1])
    around = [(0, 0), (0, 0), (0, 0), (column, experts - column - 1)]

    def backward(g):
        return [ttnn.multiply(g, weight),
                ttnn.pad(ttnn.sum(ttnn.multiply(g, x), 3, True), around, 0.0)]

    return derived(ttnn.multiply(x, weight), [tensor, weights], backward)


@one_call
def repeated_heads(tensor, count):
    """Repeats the one head of [B, 1, S, d]."""
    shape = tensor.shape()
    x = tensor.half()
    return derived(ttnn.concat([x] * count, 1), [tensor],
                   lambda g: [kernels.reduced_to(g, shape)])
