# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.modules: layers that know their parameters."""

import math

import numpy

from . import ops
from .autograd import AutoContext, RunMode, Tensor, graph


class Parameter:
    """Holds a tensor that is trained."""

    def __init__(self, tensor):
        self.tensor = Tensor(graph().parameter(tensor._variable, ""), tensor.shape())


class Buffer:
    """Holds a tensor that belongs to a module and is not trained."""

    def __init__(self, tensor):
        self.tensor = tensor


class AbstractModuleBase:
    """Represents a module: parameters and other modules that are assigned to it become parts of
    it."""

    def __init__(self):
        self.__dict__["_parts"] = {}
        self._mode = RunMode.TRAIN

    def __setattr__(self, name, value):
        if "_parts" not in self.__dict__:
            raise AttributeError("a module calls super().__init__() before it has parts")
        if isinstance(value, (Parameter, AbstractModuleBase)):
            self._parts[name] = value
        else:
            self._parts.pop(name, None)
        object.__setattr__(self, name, value)

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)

    def forward(self, *args, **kwargs):
        raise NotImplementedError(f"{type(self).__name__} has no forward()")

    def create_name(self, name):
        self._name = name

    def get_name(self):
        return self.__dict__.get("_name", type(self).__name__)

    def register_module(self, module, name):
        setattr(self, name, module)

    def parameters(self):
        """Returns the tensors by their names, "Model/layer/weight", in the order of the names, each
        once."""
        found, seen = {}, set()
        for name, tensor in sorted(self._named(self.get_name())):
            if id(tensor) not in seen:
                seen.add(id(tensor))
                found[name] = tensor
        return found

    def _named(self, prefix):
        for name, part in self._parts.items():
            if isinstance(part, Parameter):
                yield f"{prefix}/{name}", part.tensor
            else:
                yield from part._named(f"{prefix}/{name}")

    def set_run_mode(self, mode):
        self._mode = mode
        for part in self._parts.values():
            if isinstance(part, AbstractModuleBase):
                part.set_run_mode(mode)

    def get_run_mode(self):
        return self._mode

    def train(self):
        self.set_run_mode(RunMode.TRAIN)

    def eval(self):
        self.set_run_mode(RunMode.EVAL)


ModuleBase = AbstractModuleBase


class ModuleList(AbstractModuleBase):
    """Holds modules in their order."""

    def __init__(self, modules=()):
        super().__init__()
        self._list = []
        for module in modules:
            self.append(module)

    def append(self, module):
        setattr(self, str(len(self._list)), module)
        self._list.append(module)

    def __iter__(self):
        return iter(self._list)

    def __len__(self):
        return len(self._list)

    def __getitem__(self, index):
        return self._list[index]


def _parameter(array):
    return Parameter(Tensor.from_numpy(array.astype(numpy.float32)))


def _uniform(shape, bound):
    return _parameter(AutoContext.get_instance().random.uniform(-bound, bound, shape))


class LinearLayer(AbstractModuleBase):
    """Computes x weight^T + bias. Both are drawn uniformly within 1 / sqrt(in), as [1, 1, out, in]
    and [1, 1, 1, out]."""

    def __init__(self, in_features, out_features, has_bias=True):
        super().__init__()
        bound = 1 / math.sqrt(in_features)
        self.weight = _uniform((1, 1, out_features, in_features), bound)
        self.bias = _uniform((1, 1, 1, out_features), bound) if has_bias else None

    def forward(self, x):
        return ops.linear.linear(x, self.weight.tensor, self.bias.tensor if self.bias else None)


class Embedding(AbstractModuleBase):
    """Looks up rows of a table [1, 1, tokens, width]; the tokens are a multiple of 32."""

    def __init__(self, num_embeddings, embedding_dim):
        super().__init__()
        if num_embeddings % 32 != 0 or embedding_dim % 32 != 0:
            raise RuntimeError(f"Embedding: {num_embeddings} x {embedding_dim}; accepted: multiples "
                               "of 32, the side of a tile")
        random = AutoContext.get_instance().random
        self.weight = _parameter(random.normal(0, 1, (1, 1, num_embeddings, embedding_dim)))

    def forward(self, tokens):
        return ops.embedding.embedding(tokens, self.weight.tensor)


class LayerNormLayer(AbstractModuleBase):
    def __init__(self, features, use_composite_layernorm=False):
        super().__init__()
        self.gamma = _parameter(numpy.ones((1, 1, 1, features)))
        self.beta = _parameter(numpy.zeros((1, 1, 1, features)))
        self._composite = use_composite_layernorm

    def forward(self, x):
        norm = ops.layernorm.composite_layernorm if self._composite else ops.layernorm.layernorm
        return norm(x, self.gamma.tensor, self.beta.tensor)


class RMSNormLayer(AbstractModuleBase):
    def __init__(self, features, epsilon=1e-5, use_composite=False):
        super().__init__()
        self.gamma = _parameter(numpy.ones((1, 1, 1, features)))
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


class MultiHeadAttention(AbstractModuleBase):
    def __init__(self, embedding_dim, num_heads, dropout_prob=0.0, bias=True,
                 use_fused_attention=False):
        super().__init__()
        self.qkv_linear = LinearLayer(embedding_dim, 3 * embedding_dim, bias)
        self.out_linear = LinearLayer(embedding_dim, embedding_dim, bias)
        self.dropout = DropoutLayer(dropout_prob)
        self._heads, self._fused = num_heads, use_fused_attention

    def forward(self, x, mask):
        q, k, v = ops.multi_head_utils.heads_creation(self.qkv_linear(x), self._heads)
        attended = ops.attention.scaled_dot_product_attention(q, k, v, mask, self._fused)
        joined = ops.multi_head_utils.heads_fusion(attended)
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
    """Attention whose heads share keys and values in groups, with rotary positions and without
    biases."""

    def __init__(self, embedding_dim, num_heads, num_groups, dropout_prob=0.0, rope_params=None,
                 use_fused_attention=False):
        super().__init__()
        width = embedding_dim // num_heads
        self.q_linear = LinearLayer(embedding_dim, embedding_dim, False)
        self.kv_linear = LinearLayer(embedding_dim, 2 * num_groups * width, False)
        self.out_linear = LinearLayer(embedding_dim, embedding_dim, False)
        self.dropout = DropoutLayer(dropout_prob)
        self._heads, self._groups, self._rope = num_heads, num_groups, rope_params
        self._fused = use_fused_attention

    def forward(self, x, mask, kv_cache=None, layer_idx=0, new_tokens=None):
        """With a kv_cache the first new_tokens rows of x follow what block layer_idx has kept."""
        heads = ops.multi_head_utils.grouped_heads_creation(
            self.q_linear(x), self.kv_linear(x), self._heads, self._groups)
        q, k, v = heads
        place = kv_cache.get_cache_position() if kv_cache is not None else 0
        if self._rope is not None:
            q, k = ops.rope.rope(q, self._rope, place), ops.rope.rope(k, self._rope, place)
        if kv_cache is not None:
            k, v = kv_cache.update(layer_idx, k, v, new_tokens)
        attended = ops.attention.scaled_dot_product_attention(
            q, k, v, mask, self._fused and kv_cache is None)
        joined = ops.multi_head_utils.heads_fusion(attended)
        return self.dropout(self.out_linear(joined))


class LlamaMLP(AbstractModuleBase):
    """Computes w2(silu(w1 x) w3 x), without biases (SwiGLU)."""

    def __init__(self, embedding_dim, intermediate_dim, dropout_prob=0.0, use_fused_swiglu=False):
        super().__init__()
        self.w1 = LinearLayer(embedding_dim, intermediate_dim, False)
        self.w2 = LinearLayer(intermediate_dim, embedding_dim, False)
        self.w3 = LinearLayer(embedding_dim, intermediate_dim, False)
        self.dropout = DropoutLayer(dropout_prob)
        self._fused = use_fused_swiglu

    def forward(self, x):
        if self._fused:
            weights = (layer.weight.tensor for layer in (self.w1, self.w2, self.w3))
            return self.dropout(ops.swiglu.swiglu(x, *weights))
        gated = ops.binary.mul(ops.unary.silu(self.w1(x)), self.w3(x))
        return self.dropout(self.w2(gated))


class LlamaBlock(AbstractModuleBase):
    def __init__(self, embedding_dim, num_heads, num_groups, intermediate_dim, dropout_prob=0.0,
                 rope_params=None, use_composite_rmsnorm=False, use_fused_swiglu=False,
                 use_fused_attention=False):
        super().__init__()
        self.attention_norm = RMSNormLayer(embedding_dim, use_composite=use_composite_rmsnorm)
        self.attention = GroupedQueryAttention(embedding_dim, num_heads, num_groups, dropout_prob,
                                               rope_params, use_fused_attention)
        self.mlp_norm = RMSNormLayer(embedding_dim, use_composite=use_composite_rmsnorm)
        self.mlp = LlamaMLP(embedding_dim, intermediate_dim, dropout_prob, use_fused_swiglu)

    def forward(self, x, mask, kv_cache=None, layer_idx=0, new_tokens=None):
        attended = self.attention(self.attention_norm(x), mask, kv_cache, layer_idx, new_tokens)
        h = ops.binary.add(x, attended)
        return ops.binary.add(h, self.mlp(self.mlp_norm(h)))


# Scripts use both names of these.
Linear, LayerNorm = LinearLayer, LayerNormLayer
