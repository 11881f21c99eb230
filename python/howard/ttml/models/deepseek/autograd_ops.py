# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.models.deepseek.autograd_ops: calls of ttnn with a way back."""

import howard.ttnn as ttnn

from ..._graph import one_call
from ..._plans import planned
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
    return planned("sigmoid", [tensor])


def autograd_softmax(tensor, dim=-1):
    return softmax(tensor, dim % len(tensor.shape()))


@one_call
def split_heads(tensor, num_heads):
    """Turns [B, 1, S, heads d] into [B, heads, S, d]."""
    return planned("split_heads", [tensor], num_heads)


@one_call
def moe_routing_normalize(scores, mask, route_scale):
    """Divides the scores of the experts that a mask chooses by their sum, and multiplies them by
    route_scale."""
    return planned("moe_routing_normalize", [scores, mask], route_scale, fixed=(1,))


@one_call
def scaled_rows(tensor, weights, column):
    """Multiplies rows [B, 1, S, D] by a column of weights [B, 1, S, E]."""
    return planned("scaled_rows", [tensor, weights], column)


@one_call
def repeated_heads(tensor, count):
    """Repeats the one head of [B, 1, S, d]."""
    return planned("repeated_heads", [tensor], count)
