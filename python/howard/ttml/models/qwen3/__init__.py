# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.models.qwen3: heads of their own width, whose queries and keys are normalized."""

from dataclasses import dataclass
from typing import Any, Optional

from ... import init, ops
from ..._plans import planned
from ...modules import AbstractModuleBase, DropoutLayer, Embedding, LinearLayer, ModuleList, Parameter
from ...ops._layers import concat_along
from .._runner import RunnerType, WeightTyingType, of_kind, run_block
from ..llama import LlamaRopeScalingConfig
from . import flops


class Qwen3RopeScalingConfig(LlamaRopeScalingConfig):
    """Has the fields of Llama's, with the same defaults."""


@dataclass(frozen=True)
class Qwen3Config:
    hidden_size: int = 1024
    intermediate_size: int = 3072
    num_hidden_layers: int = 28
    num_attention_heads: int = 16
    num_key_value_heads: int = 8
    head_dim: int = 128
    vocab_size: int = 256
    max_position_embeddings: int = 512
    rms_norm_eps: float = 1e-6
    attention_bias: bool = False
    attention_dropout: float = 0.0
    rope_theta: float = 1e6
    runner_type: Any = RunnerType.Default
    weight_tying: Any = WeightTyingType.Disabled
    rope_scaling: Optional[Any] = None

    def __post_init__(self):
        if self.num_attention_heads % self.num_key_value_heads:
            raise ValueError(f"Qwen3Config: {self.num_key_value_heads} groups of "
                             f"{self.num_attention_heads} heads; accepted: a divisor of the heads")


def create_qwen3_config_from_hf(hf, max_sequence_length, runner_type=RunnerType.Default):
    """Returns the settings of a configuration of Hugging Face's library."""
    tied = getattr(hf, "tie_word_embeddings", False)
    names = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
             "num_key_value_heads", "head_dim", "vocab_size", "rms_norm_eps", "attention_bias",
             "rope_theta")
    given = {name: getattr(hf, name) for name in names if getattr(hf, name, None) is not None}
    return Qwen3Config(max_position_embeddings=max_sequence_length, runner_type=runner_type,
                       weight_tying=WeightTyingType.Enabled if tied else WeightTyingType.Disabled,
                       **given)


class ConcatLastDim:
    """Puts tensors beside each other."""

    @staticmethod
    def apply(*tensors):
        return concat_along(tensors, len(tensors[0].shape()) - 1)


class RMSNormFunction:
    """Computes weight x / sqrt(mean x^2 + epsilon) by single calls of ttnn."""

    @staticmethod
    def apply(x, weight, epsilon):
        return planned("rmsnorm_scaled", [x, weight], epsilon)


class Qwen3RMSNorm(AbstractModuleBase):
    """Is a norm with a weight for each column."""

    def __init__(self, hidden_size, eps=1e-6):
        super().__init__()
        self.weight = Parameter(init.ones()([1, 1, 1, hidden_size]))
        self._epsilon = eps

    def forward(self, x):
        return RMSNormFunction.apply(x, self.weight.tensor, self._epsilon)


class Qwen3Attention(AbstractModuleBase):
    def __init__(self, config, rope_params):
        super().__init__()
        width, bias = config.hidden_size, config.attention_bias
        queries = config.num_attention_heads * config.head_dim
        keys = config.num_key_value_heads * config.head_dim
        self.q_proj, self.o_proj = LinearLayer(width, queries, bias), LinearLayer(queries, width, bias)
        self.k_proj, self.v_proj = LinearLayer(width, keys, bias), LinearLayer(width, keys, bias)
        self.q_norm = Qwen3RMSNorm(config.head_dim, config.rms_norm_eps)
        self.k_norm = Qwen3RMSNorm(config.head_dim, config.rms_norm_eps)
        self._heads, self._groups = config.num_attention_heads, config.num_key_value_heads
        self._rope = rope_params
        self.dropout = DropoutLayer(config.attention_dropout)

    def forward(self, x, mask=None, past_key_values=None, layer_idx=0, new_tokens=None):
        both = ConcatLastDim.apply(self.k_proj(x), self.v_proj(x))
        q, k, v = ops.multi_head_utils.grouped_heads_creation(self.q_proj(x), both, self._heads,
                                                              self._groups)
        place = past_key_values.get_cache_position() if past_key_values is not None else 0
        q = ops.rope.rope(self.q_norm(q), self._rope, place)
        k = ops.rope.rope(self.k_norm(k), self._rope, place)
        attend = ops.attention.scaled_dot_product_attention
        if past_key_values is not None:
            k, v = past_key_values.update(layer_idx, k, v, new_tokens)
            mask = past_key_values.mask_for(q, k, mask, place)
            attend = ops.attention.scaled_dot_product_attention_composite
        joined = ops.multi_head_utils.heads_fusion(attend(q, k, v, mask))
        return self.dropout(self.o_proj(joined))


class Qwen3MLP(AbstractModuleBase):
    def __init__(self, config):
        super().__init__()
        self.gate_proj = LinearLayer(config.hidden_size, config.intermediate_size, False)
        self.up_proj = LinearLayer(config.hidden_size, config.intermediate_size, False)
        self.down_proj = LinearLayer(config.intermediate_size, config.hidden_size, False)

    def forward(self, x):
        gate, down, up = (layer.weight.tensor for layer in (self.gate_proj, self.down_proj,
                                                            self.up_proj))
        return ops.swiglu.swiglu(x, gate, down, up)


class Qwen3Block(AbstractModuleBase):
    def __init__(self, config, rope_params):
        super().__init__()
        self.input_layernorm = Qwen3RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.self_attn = Qwen3Attention(config, rope_params)
        self.post_attention_layernorm = Qwen3RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.mlp = Qwen3MLP(config)

    def forward(self, x, mask=None, past_key_values=None, layer_idx=0, new_tokens=None):
        h = ops.binary.add(x, self.self_attn(self.input_layernorm(x), mask, past_key_values,
                                             layer_idx, new_tokens))
        return ops.binary.add(h, self.mlp(self.post_attention_layernorm(h)))


class Qwen3(AbstractModuleBase):
    """Returns logits of tokens [B, 1, 1, S]; the table alone is padded to whole tiles."""

    def __init__(self, config, track_memory=0):
        super().__init__()
        self.create_name("Qwen3")
        self.config = config
        self._runner = of_kind(RunnerType, config.runner_type)
        rope_params = ops.rope.build_rope_params(config.max_position_embeddings, config.head_dim,
                                                 config.rope_theta, config.rope_scaling)
        padded = (config.vocab_size + 31) // 32 * 32
        normal = init.normal(0.0, 0.02)
        self.fc = LinearLayer(config.hidden_size, config.vocab_size, False, normal)
        self.tok_emb = Embedding(padded, config.hidden_size)
        if of_kind(WeightTyingType, config.weight_tying) is WeightTyingType.Enabled:
            self.tok_emb.weight = self.fc.weight
        self.blocks = ModuleList(Qwen3Block(config, rope_params)
                                 for _ in range(config.num_hidden_layers))
        self.ln_fc = Qwen3RMSNorm(config.hidden_size, config.rms_norm_eps)

    def forward(self, input, mask=None, past_key_values=None, new_tokens=None):
        x = self.tok_emb(input)
        if past_key_values is not None:
            new_tokens = input.shape()[-1] if new_tokens is None else new_tokens
            for index, block in enumerate(self.blocks):
                x = block(x, mask, past_key_values, index, new_tokens)
        else:
            for block in self.blocks:
                x = run_block(self._runner, block, x, mask)
        return self.fc(self.ln_fc(x))
