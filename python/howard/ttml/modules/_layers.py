# SPDX-License-Identifier: Apache-2.0
"""Implements layers: modules that know their parameters."""

import math

from .. import init, ops
from .._mesh import mesh
from ..autograd import RunMode
from ._base import AbstractModuleBase, ModuleList, Parameter


class LinearLayer(AbstractModuleBase):
    """Computes x weight^T + bias. Both are drawn uniformly within 1 / sqrt(in), as [1, 1, out, in]
    and [1, 1, 1, out]."""

    def __init__(self, in_features, out_features, has_bias=True, weight_init=None, bias_init=None):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        bound = 1 / math.sqrt(in_features)
        uniform = init.uniform(-bound, bound)
        self.weight = Parameter((weight_init or uniform)([1, 1, out_features, in_features]))
        self.bias = Parameter((bias_init or uniform)([1, 1, 1, out_features])) if has_bias else None

    def get_weight(self):
        return self.weight.tensor

    def forward(self, x):
        return ops.linear.linear(x, self.weight.tensor, self.bias.tensor if self.bias else None)


class _ParallelLinear(AbstractModuleBase):
    """Has the part of a weight that a device keeps along an axis of the mesh."""

    def __init__(self, in_features, out_features, has_bias, weight_init, bias_init, axis_name, cut):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.axis_name, self._axis = axis_name, mesh().axis_index(axis_name)
        bound = 1 / math.sqrt(in_features)
        uniform = init.uniform(-bound, bound)
        self.weight = Parameter((weight_init or uniform)(
            [1, 1, out_features, in_features], mapper=mesh().axis_mapper(axis_name, cut)))
        mapper = mesh().axis_mapper(axis_name, 3) if cut == 2 else None
        self.bias = Parameter((bias_init or uniform)([1, 1, 1, out_features], mapper=mapper)) \
            if has_bias else None


class ColumnParallelLinear(_ParallelLinear):
    """Divides the outputs among the devices of an axis."""

    def __init__(self, in_features, out_features, has_bias=True, gather_output=False,
                 weight_init=None, bias_init=None, axis_name="tp"):
        super().__init__(in_features, out_features, has_bias, weight_init, bias_init, axis_name, 2)
        self._gathers = gather_output

    def forward(self, x):
        x = ops.distributed.broadcast(x, self._axis)
        y = ops.linear.linear(x, self.weight.tensor, self.bias.tensor if self.bias else None)
        return ops.distributed.all_gather(y, 3, self._axis) if self._gathers else y


class RowParallelLinear(_ParallelLinear):
    """Divides the inputs among the devices of an axis, and sums what they make of them."""

    def __init__(self, in_features, out_features, has_bias=True, input_is_parallel=False,
                 weight_init=None, bias_init=None, axis_name="tp"):
        super().__init__(in_features, out_features, has_bias, weight_init, bias_init, axis_name, 3)
        self._is_cut = input_is_parallel

    def forward(self, x):
        if not self._is_cut:
            x = ops.distributed.scatter(x, 3, self._axis)
        y = ops.distributed.all_reduce(ops.linear.linear(x, self.weight.tensor),
                                       self._is_cut, self._axis)
        return ops.binary.add(y, self.bias.tensor) if self.bias else y


def layers_of(use_tp):
    """Returns what makes the layers whose outputs, and those whose inputs, the devices of the axis
    "tp" divide, and how many they are."""
    if not use_tp:
        return LinearLayer, LinearLayer, 1

    def rows(in_features, out_features, has_bias):
        return RowParallelLinear(in_features, out_features, has_bias, input_is_parallel=True)

    return ColumnParallelLinear, rows, mesh().axis_size("tp")


class Embedding(AbstractModuleBase):
    """Looks up rows of a table [1, 1, tokens, width] of any size; its tiles are padded."""

    def __init__(self, num_embeddings, embedding_dim, weight_init=None):
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        make = weight_init or init.normal(0.0, 0.02)
        self.weight = Parameter(make([1, 1, num_embeddings, embedding_dim]))

    def forward(self, tokens):
        return ops.embedding.embedding(tokens, self.weight.tensor)


class LayerNormLayer(AbstractModuleBase):
    def __init__(self, features, use_composite_layernorm=False, bias=True):
        super().__init__()
        self.gamma = Parameter(init.ones()([1, 1, 1, features]))
        self.beta = Parameter(init.zeros()([1, 1, 1, features])) if bias else None
        self._composite = use_composite_layernorm

    def forward(self, x):
        norm = ops.layernorm.composite_layernorm if self._composite else ops.layernorm.layernorm
        return norm(x, self.gamma.tensor, self.beta.tensor if self.beta else None)


class RMSNormLayer(AbstractModuleBase):
    def __init__(self, features, epsilon=1e-5, use_composite=False):
        super().__init__()
        self.gamma = Parameter(init.ones()([1, 1, 1, features]))
        self._epsilon, self._composite = epsilon, use_composite

    def forward(self, x):
        norm = ops.rmsnorm.rmsnorm_composite if self._composite else ops.rmsnorm.rmsnorm
        return norm(x, self.gamma.tensor, self._epsilon)


class DropoutLayer(AbstractModuleBase):
    """Drops numbers in training and does nothing otherwise."""

    def __init__(self, probability):
        super().__init__()
        self._probability = probability

    def forward(self, x):
        if self.get_run_mode() == RunMode.EVAL or self._probability == 0:
            return x
        return ops.dropout.dropout(x, self._probability)


def _attended(q, k, v, mask, cached=False):
    if cached or q.shape()[2] != k.shape()[2]:
        return ops.attention.scaled_dot_product_attention_composite(q, k, v, mask)
    return ops.attention.scaled_dot_product_attention(q, k, v, mask)


class MultiHeadAttention(AbstractModuleBase):
    def __init__(self, embedding_dim, num_heads, dropout_prob=0.0, bias=True, use_tp=False,
                 dropout=None):
        super().__init__()
        dropout_prob = dropout_prob if dropout is None else dropout  # TTML's Python has this word.
        columns, rows, devices = layers_of(use_tp)
        self.qkv_linear = columns(embedding_dim, 3 * embedding_dim, bias)
        self.out_linear = rows(embedding_dim, embedding_dim, bias)
        self.dropout = DropoutLayer(dropout_prob)
        self._heads = num_heads // devices

    def forward(self, x, mask=None):
        q, k, v = ops.multi_head_utils.heads_creation(self.qkv_linear(x), self._heads)
        joined = ops.multi_head_utils.heads_fusion(_attended(q, k, v, mask))
        return self.dropout(self.out_linear(joined))


class MultiLayerPerceptron(AbstractModuleBase):
    """Applies linear layers with relu between them."""

    def __init__(self, input_features, hidden_features, output_features):
        super().__init__()
        sizes = [input_features, *hidden_features, output_features]
        self.layers = ModuleList(LinearLayer(a, b) for a, b in zip(sizes, sizes[1:]))

    def forward(self, x):
        for index, layer in enumerate(self.layers):
            x = layer(ops.unary.relu(x) if index > 0 else x)
        return x


class GroupedQueryAttention(AbstractModuleBase):
    """Attention whose heads share keys and values in groups, with rotary positions."""

    def __init__(self, embedding_dim, num_heads, num_groups, dropout_prob=0.0, rope_params=None,
                 bias=False, use_tp=False):
        super().__init__()
        width = embedding_dim // num_heads
        columns, rows, devices = layers_of(use_tp)
        self.q_linear = columns(embedding_dim, embedding_dim, bias)
        self.kv_linear = columns(embedding_dim, 2 * num_groups * width, bias)
        self.out_linear = rows(embedding_dim, embedding_dim, bias)
        self.dropout = DropoutLayer(dropout_prob)
        self._heads, self._groups, self._rope = num_heads // devices, num_groups // devices, rope_params

    def forward(self, x, mask=None, kv_cache=None, layer_idx=0, new_tokens=None):
        """With a kv_cache the first new_tokens rows of x follow what block layer_idx has kept."""
        q, k, v = ops.multi_head_utils.grouped_heads_creation(
            self.q_linear(x), self.kv_linear(x), self._heads, self._groups)
        place = kv_cache.get_cache_position() if kv_cache is not None else 0
        if self._rope is not None:
            q, k = ops.rope.rope(q, self._rope, place), ops.rope.rope(k, self._rope, place)
        if kv_cache is not None:
            k, v = kv_cache.update(layer_idx, k, v, new_tokens)
            mask = kv_cache.mask_for(q, k, mask, place)
        joined = ops.multi_head_utils.heads_fusion(_attended(q, k, v, mask, kv_cache is not None))
        return self.dropout(self.out_linear(joined))


class LlamaMLP(AbstractModuleBase):
    """Computes w2(silu(w1 x) w3 x), without biases (SwiGLU)."""

    def __init__(self, embedding_dim, intermediate_dim, dropout_prob=0.0, use_tp=False):
        super().__init__()
        columns, rows, _ = layers_of(use_tp)
        self.w1 = columns(embedding_dim, intermediate_dim, False)
        self.w2 = rows(intermediate_dim, embedding_dim, False)
        self.w3 = columns(embedding_dim, intermediate_dim, False)
        self._dropout, self._divided = dropout_prob, use_tp

    def forward(self, x):
        probability = 0.0 if self.get_run_mode() == RunMode.EVAL else self._dropout
        if self._divided:
            hidden = ops.binary.mul(ops.unary.silu(self.w1(x)), self.w3(x))
            return ops.dropout.dropout(self.w2(hidden), probability)
        weights = (layer.weight.tensor for layer in (self.w1, self.w2, self.w3))
        return ops.swiglu.swiglu(x, *weights, probability)


class LlamaBlock(AbstractModuleBase):
    def __init__(self, embedding_dim, num_heads, num_groups, intermediate_dim, dropout_prob=0.0,
                 rope_params=None, use_composite_rmsnorm=False, use_tp=False,
                 attention_dropout=0.0, attention_bias=False):
        super().__init__()
        self.attention_norm = RMSNormLayer(embedding_dim, use_composite=use_composite_rmsnorm)
        self.attention = GroupedQueryAttention(embedding_dim, num_heads, num_groups,
                                               attention_dropout, rope_params, attention_bias, use_tp)
        self.mlp_norm = RMSNormLayer(embedding_dim, use_composite=use_composite_rmsnorm)
        self.mlp = LlamaMLP(embedding_dim, intermediate_dim, dropout_prob, use_tp)

    def forward(self, x, mask=None, kv_cache=None, layer_idx=0, new_tokens=None):
        attended = self.attention(self.attention_norm(x), mask, kv_cache, layer_idx, new_tokens)
        h = ops.binary.add(x, attended)
        return ops.binary.add(h, self.mlp(self.mlp_norm(h)))
