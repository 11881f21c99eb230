# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.ops: functions of tensors, in TTML's modules."""

import sys
import types

import howard.ttnn as ttnn
from howard.ttnn import DataType, Layout

from . import _arithmetic as _a
from . import _layers as _l
from .._graph import context, one_call
from ..autograd import Tensor, derived
from ._arithmetic import ReduceType


def _module(name, **entries):
    """Makes a module of ours, which scripts may import by its own name."""
    module = sys.modules[f"{__name__}.{name}"] = types.ModuleType(f"ttml.ops.{name}")
    module.__dict__.update(entries)
    return module


def _drawn(make):
    def op(shape, a=0.0, b=1.0, *, seed=None, dtype=DataType.BFLOAT16, layout=Layout.TILE,
           mesh_mapper=None, **named):
        a, b = named.get("mean", a), named.get("std", b)
        device = context().get_device()
        seed = context().next_seed() if seed is None else seed
        return Tensor(make([int(d) for d in shape], a, b, seed, dtype, layout, device), True)

    return op


def _randn(shape, mean, std, seed, dtype, layout, device):
    if std < 0:
        raise RuntimeError(f"randn with a std of {std}; accepted: 0 or more")
    return ttnn.randn(shape, device, dtype=dtype, layout=layout, mean=mean, std=std,
                      seed=int(seed))


rand = _drawn(lambda shape, a, b, seed, dtype, layout, device: ttnn.rand(
    shape, device, dtype=dtype, layout=layout, low=a, high=b, seed=int(seed)))
randn = _drawn(_randn)


def _collective(forward, backward):
    """Makes a collective; a mesh of one device has none to ask."""

    @one_call
    def op(tensor, *args, **kwargs):
        device = tensor.half().device()
        if device.get_num_devices() == 1:
            return tensor
        return derived(forward(tensor.half(), *args, **kwargs), [tensor],
                       lambda g: [backward(g, *args, **kwargs)])

    return op


def _axis(cluster_axis):
    return {} if cluster_axis is None else {"cluster_axis": cluster_axis}


def _count(tensor, cluster_axis):
    device = tensor.device()
    return device.get_num_devices() if cluster_axis is None else device.shape[cluster_axis]


def _sum(x, noop_backward=False, cluster_axis=None):
    return ttnn.all_reduce(x, **_axis(cluster_axis))


def _gather(x, dim, cluster_axis=None, grad_output_type=None):
    return ttnn.all_gather(x, dim, **_axis(cluster_axis))


def _scatter(x, dim, cluster_axis=None):
    return ttnn.reduce_scatter(x, dim, **_axis(cluster_axis))


def _gather_back(g, dim, cluster_axis=None, grad_output_type=None):
    made = _scatter(g, dim, cluster_axis)
    replicated = getattr(grad_output_type, "name", "") == "REPLICATED"
    return ttnn.multiply(made, 1.0 / _count(g, cluster_axis)) if replicated else made


class GradOutputType:
    """Says what the gradient of an all_gather is: of shards, or equal on all devices."""

    class _Kind:
        def __init__(self, name):
            self.name = name

    SHARDED, REPLICATED = _Kind("SHARDED"), _Kind("REPLICATED")


all_reduce = _collective(_sum, lambda g, noop_backward=False, cluster_axis=None:
                         g if noop_backward else _sum(g, cluster_axis=cluster_axis))
all_gather = _collective(_gather, _gather_back)
reduce_scatter = _collective(_scatter, lambda g, dim, cluster_axis=None:
                             _gather(g, dim, cluster_axis))
scatter = _collective(
    lambda x, dim, cluster_axis=None: ttnn.multiply(_scatter(x, dim, cluster_axis),
                                                    1.0 / _count(x, cluster_axis)),
    lambda g, dim, cluster_axis=None: _gather(g, dim, cluster_axis))
broadcast = _collective(lambda x, cluster_axis=None: x,
                        lambda g, cluster_axis=None: _sum(g, cluster_axis=cluster_axis))


def vocab_parallel_cross_entropy_loss(logits, targets, cluster_axis=None, reduce=ReduceType.MEAN):
    """Returns the loss of logits whose columns the devices divide."""
    if logits.half().device().get_num_devices() == 1:
        return _a.cross_entropy_loss(logits, targets, reduce)
    whole = all_gather(logits, 3, cluster_axis, GradOutputType.REPLICATED)
    return _a.cross_entropy_loss(whole, targets, reduce)


binary = _module("binary", add=_a.add, sub=_a.sub, mul=_a.mul, div=_a.div, min=_a.minimum,
                 max=_a.maximum)
unary = _module("unary", relu=_a.relu, gelu=_a.gelu, silu=_a.silu, exp=_a.exp, clip=_a.clip,
                mean=_a.mean, broadcast_batch=_a.broadcast_batch, log_softmax=_a.log_softmax,
                log_softmax_moreh=_a.log_softmax, polynorm3=_a.polynorm3)
matmul = _module("matmul", matmul_op=_a.matmul_op)
linear = _module("linear", linear=_a.linear, linear_op=_a.linear)
layernorm = _module("layernorm", layernorm=_l.layernorm, composite_layernorm=_l.composite_layernorm)
rmsnorm = _module("rmsnorm", rmsnorm=_l.rmsnorm, rmsnorm_composite=_l.rmsnorm_composite)
swiglu = _module("swiglu", swiglu=_l.swiglu)
rope = _module("rope", rope=_l.rope, build_rope_params=_l.build_rope_params, gen_freqs=_l.gen_freqs,
               RopeScalingParams=_l.RopeScalingParams,
               RotaryEmbeddingParams=_l.RotaryEmbeddingParams)
embedding = _module("embedding", embedding=_l.embedding, embedding_op=_l.embedding)
dropout = _module("dropout", dropout=_l.dropout)
reshape = _module("reshape", reshape=_a.reshape)
attention = _module("attention", scaled_dot_product_attention=_l.attention,
                    scaled_dot_product_attention_composite=_l.composite_attention)
multi_head_utils = _module("multi_head_utils", heads_creation=_l.heads_creation,
                           heads_fusion=_l.heads_fusion,
                           grouped_heads_creation=_l.grouped_heads_creation)
mla = _module("mla", qkv_assemble=_l.qkv_assemble)
loss = _module("loss", mse_loss=_a.mse_loss, cross_entropy_loss=_a.cross_entropy_loss,
               nll_loss=_a.nll_loss, ReduceType=ReduceType)
sample = _module("sample", sample_op=_l.sample_op)
distributed = _module(
    "distributed", all_reduce=all_reduce, all_gather=all_gather, reduce_scatter=reduce_scatter,
    scatter=scatter, broadcast=broadcast, GradOutputType=GradOutputType,
    vocab_parallel_cross_entropy_loss=vocab_parallel_cross_entropy_loss)

# The operators of tensors are these ops. TTML has no division of them but by the name __div__.
for _operator, _op in (("add", _a.add), ("sub", _a.sub), ("mul", _a.mul), ("rmul", _a.mul),
                       ("div", _a.div)):
    setattr(Tensor, f"__{_operator}__", _op)

__all__ = ["GradOutputType", "ReduceType", "attention", "binary", "distributed", "dropout",
           "embedding", "layernorm", "linear", "loss", "matmul", "mla", "multi_head_utils", "rand",
           "randn", "reshape", "rmsnorm", "rope", "sample", "swiglu", "unary"]
