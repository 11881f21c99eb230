# SPDX-License-Identifier: Apache-2.0
"""Implements how blocks are run, and which tensors a model shares."""

import enum

from .._graph import GradMode, context
from ..autograd import Tensor, get_links


class _Named(enum.Enum):
    @classmethod
    def from_string(cls, text):
        for one in cls:
            if one.value == text:
                return one
        raise RuntimeError(f"{cls.__name__}: '{text}'; accepted: "
                           f"{', '.join(one.value for one in cls)}")


class RunnerType(_Named):
    Default = "default"
    MemoryEfficient = "memory_efficient"


class WeightTyingType(_Named):
    Disabled = "disabled"
    Enabled = "enabled"


def of_kind(kind, value):
    """Returns a member of an enum of its name, its member, or a bool."""
    if isinstance(value, bool):
        return WeightTyingType.Enabled if value else WeightTyingType.Disabled
    return value if isinstance(value, kind) else kind.from_string(value)


def memory_efficient_runner(forward_impl, input, mask=None, *args, **kwargs):
    """Runs a block and keeps its input and output alone; its backward pass runs it once more."""
    ctx = context()
    if ctx.get_gradient_mode() is GradMode.DISABLED:
        return forward_impl(input, mask, *args, **kwargs)
    drawn = ctx.drawn()
    ctx.set_gradient_mode(GradMode.DISABLED)
    try:
        out = forward_impl(input, mask, *args, **kwargs)
    finally:
        ctx.set_gradient_mode(GradMode.ENABLED)
    result = Tensor(out.own(), True)

    def backward():
        if not result.is_grad_initialized():
            return
        before, own = ctx.drawn(), Tensor(input.own(), True)
        ctx.set_drawn(drawn)
        again = forward_impl(own, mask, *args, **kwargs)
        ctx.set_drawn(before)
        again.set_grad(result.get_grad())
        if again.get_node() is not None:
            again.get_node().get_graph().run_backward(again.get_node(), False)
        if own.is_grad_initialized():
            input.add_grad(own.get_grad())

    result.set_node(ctx.add_backward_node(backward, get_links([input])))
    return result


def run_block(runner, block, x, mask):
    if runner is RunnerType.MemoryEfficient:
        return memory_efficient_runner(block, x, mask)
    return block(x, mask)
