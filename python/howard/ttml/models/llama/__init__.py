# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.models.llama: TTML's Llama, with rotary positions and grouped heads."""

import math
from dataclasses import dataclass, field
from typing import Any, Optional

import howard.ttnn as ttnn

from ... import ops
from ..._graph import GradMode, context
from ..._mesh import mesh
from ...autograd import derived
from ...modules import (ColumnParallelLinear, Embedding, GroupedQueryAttention, LinearLayer,
                        LlamaBlock, LlamaMLP, ModuleList, NamedParameters, RMSNormLayer)
from .._runner import RunnerType, WeightTyingType, of_kind, run_block
from .._transformer import Transformer, checked_settings
from . import flops, gqattn, transformer

__all__ = ["CppLlama", "CppLlamaConfig", "GroupedQueryAttention", "Llama", "LlamaBlock", "LlamaConfig", "LlamaMLP",
           "LlamaRopeScalingConfig", "RMSNormLayer", "create_cpp_llama_model", "create_llama_model", "flops",
           "gqattn", "load_from_safetensors", "transformer"]


@dataclass(frozen=True)
class LlamaRopeScalingConfig:
    scaling_factor: float = 0.0
    high_freq_factor: float = 4.0
    low_freq_factor: float = 1.0
    original_context_length: int = 0


@dataclass(frozen=True)
class LlamaConfig:
    hidden_size: int = 384
    intermediate_size: Optional[int] = None
    num_hidden_layers: int = 6
    num_attention_heads: int = 6
    num_key_value_heads: int = 2
    vocab_size: int = 256
    max_position_embeddings: int = 256
    rope_theta: float = 10000.0
    attention_bias: bool = False
    attention_dropout: float = 0.0
    mlp_dropout: float = 0.0
    runner_type: Any = RunnerType.Default
    weight_tying: Any = WeightTyingType.Disabled
    rope_scaling: LlamaRopeScalingConfig = field(default_factory=LlamaRopeScalingConfig)
    use_tp: bool = False

    def __post_init__(self):
        def require(holds, words):
            if not holds:
                raise ValueError(f"LlamaConfig: {words}")

        require(self.hidden_size % 32 == 0, f"hidden_size {self.hidden_size}; accepted: a multiple "
                "of 32")
        require(self.max_position_embeddings % 32 == 0,
                f"max_position_embeddings {self.max_position_embeddings}; accepted: a multiple of 32")
        require(self.hidden_size % self.num_attention_heads == 0,
                f"num_attention_heads {self.num_attention_heads}; accepted: a divisor of the "
                f"hidden_size {self.hidden_size}")
        require(self.num_attention_heads % self.num_key_value_heads == 0,
                f"num_key_value_heads {self.num_key_value_heads}; accepted: a divisor of the "
                f"{self.num_attention_heads} heads")
        tied = of_kind(WeightTyingType, self.weight_tying) is WeightTyingType.Enabled
        require(not (self.use_tp and tied), "weight_tying with use_tp; accepted: one of them")

    @property
    def head_dim(self):
        return self.hidden_size // self.num_attention_heads

    def settings(self):
        given = {"model_type": "llama", "num_heads": self.num_attention_heads,
                 "num_groups": self.num_key_value_heads, "embedding_dim": self.hidden_size,
                 "num_blocks": self.num_hidden_layers, "vocab_size": self.vocab_size,
                 "max_sequence_length": self.max_position_embeddings, "theta": self.rope_theta,
                 "dropout_prob": self.mlp_dropout,
                 "weight_tying": of_kind(WeightTyingType, self.weight_tying).value}
        if self.intermediate_size:
            given["intermediate_dim"] = self.intermediate_size
        if self.rope_scaling and self.rope_scaling.scaling_factor:
            given["rope_scaling"] = dict(vars(self.rope_scaling))
        return given


def _cpp_name(name):
    """Returns "llama/llama_block_1/mlp/w1/weight" for "Llama/blocks/1/mlp/w1/weight"."""
    return name.replace("Llama/", "llama/", 1).replace("llama/blocks/", "llama/llama_block_", 1)


class Llama(Transformer):
    def __init__(self, config):
        super().__init__()
        found = checked_settings(config.settings())
        self.create_name("Llama")
        self.config = config
        self._runner = of_kind(RunnerType, config.runner_type)
        self._tied = of_kind(WeightTyingType, config.weight_tying) is WeightTyingType.Enabled
        width, devices = config.hidden_size, mesh().axis_size("tp") if config.use_tp else 1
        self._require_divided(config, devices)
        tiles = math.lcm(32, devices)
        self.padded_vocab_size = (config.vocab_size + tiles - 1) // tiles * tiles
        self.rope_params = ops.rope.build_rope_params(
            config.max_position_embeddings, config.head_dim, config.rope_theta,
            config.rope_scaling)
        head = ColumnParallelLinear if config.use_tp else LinearLayer
        self.fc = head(width, self.padded_vocab_size, False)
        self.tok_emb = Embedding(self.padded_vocab_size, width)
        if self._tied:
            self.tok_emb.weight = self.fc.weight
        self.blocks = ModuleList(
            LlamaBlock(width, config.num_attention_heads, config.num_key_value_heads,
                       int(found["feed_forward"]), config.mlp_dropout, self.rope_params,
                       use_tp=config.use_tp, attention_dropout=config.attention_dropout,
                       attention_bias=config.attention_bias)
            for _ in range(config.num_hidden_layers))
        self.ln_fc = RMSNormLayer(width)

    @staticmethod
    def _require_divided(config, devices):
        for name in ("num_attention_heads", "num_key_value_heads"):
            if getattr(config, name) % devices:
                raise ValueError(f"Llama: {name} {getattr(config, name)} on {devices} devices; "
                                 "accepted: a multiple of them")

    def settings(self):
        return self.config.settings()

    def native_name(self, name):
        return _cpp_name(name.replace("Llama/fc/", "Llama/tok_emb/") if self._tied else name)

    def forward(self, input, mask=None, kv_cache=None, new_tokens=None):
        """Returns the logits [B, 1, S, V] of tokens [B, 1, 1, S]. A mask [1, 1, S, S] is 1 where a
        place may look; without one it looks at itself and the places before it. With use_tp each
        device has its columns of the logits, for vocab_parallel_cross_entropy_loss. With a kv_cache
        the first new_tokens of the tokens (default: all) follow those that the cache has."""
        rows = input.shape()[-1]
        x = self.tok_emb(input)
        if kv_cache is not None:
            new_tokens = rows if new_tokens is None else new_tokens
            self._require_cache(kv_cache, input.shape(), new_tokens)
            for index, block in enumerate(self.blocks):
                x = block(x, mask, kv_cache, index, new_tokens)
        else:
            for block in self.blocks:
                x = run_block(self._runner, block, x, mask)
        return self._cut(self.fc(self.ln_fc(x)))

    def _cut(self, logits):
        """Leaves out the columns that pad the vocabulary to whole tiles."""
        vocabulary, padded = self.config.vocab_size, self.padded_vocab_size
        if vocabulary == padded or self.config.use_tp:
            return logits
        sides = logits.shape()
        return derived(
            ttnn.slice(logits.half(), [0, 0, 0, 0], sides[:3] + [vocabulary]), [logits],
            lambda g: [ttnn.pad(g, [(0, 0), (0, 0), (0, 0), (0, padded - vocabulary)], 0.0)])

    def _require_cache(self, kv_cache, shape, new_tokens):
        if context().get_gradient_mode() is not GradMode.DISABLED:
            raise RuntimeError("Llama: a kv_cache while gradients are recorded; accepted: "
                               "set_gradient_mode(GradMode.DISABLED)")
        config = self.config
        sides = (shape[0], config.num_key_value_heads, shape[-1], config.head_dim)
        kv_cache.require(config.num_hidden_layers, sides, new_tokens)
        if kv_cache.config.max_seq_len > config.max_position_embeddings:
            raise RuntimeError(f"Llama: a kv_cache of {kv_cache.config.max_seq_len} tokens; accepted: "
                               f"up to max_position_embeddings, {config.max_position_embeddings}")


def load_from_safetensors(model, folder, config=None):
    """Takes the values of a folder's files of Hugging Face's library."""
    model.load_from_safetensors(folder)


def create_llama_model(config):
    return Llama(config)


@dataclass
class CppLlamaConfig:
    num_heads: int = 6
    num_groups: int = 3
    embedding_dim: int = 384
    intermediate_dim: Optional[int] = None
    dropout_prob: float = 0.0
    theta: float = 10000.0
    num_blocks: int = 6
    vocab_size: int = 256
    max_sequence_length: int = 256
    runner_type: Any = RunnerType.Default
    weight_tying: Any = WeightTyingType.Disabled
    rope_scaling: LlamaRopeScalingConfig = field(default_factory=LlamaRopeScalingConfig)

    def of_python(self):
        """Returns the same settings under the names of the Llama in Python."""
        return LlamaConfig(
            hidden_size=self.embedding_dim, intermediate_size=self.intermediate_dim,
            num_hidden_layers=self.num_blocks, num_attention_heads=self.num_heads,
            num_key_value_heads=self.num_groups, vocab_size=self.vocab_size,
            max_position_embeddings=self.max_sequence_length, rope_theta=self.theta,
            attention_dropout=self.dropout_prob, mlp_dropout=self.dropout_prob,
            runner_type=self.runner_type, weight_tying=self.weight_tying,
            rope_scaling=self.rope_scaling)


class CppLlama(Llama):
    """Is the Llama that TTML has in C++, with the names of its parameters and its initial values."""

    def __init__(self, config):
        super().__init__(config.of_python())
        self.draw_values()

    def parameters(self):
        return NamedParameters((_cpp_name(name), tensor)
                               for name, tensor in super().parameters().items())

    def native_name(self, name):
        return name.replace("llama/fc/", "llama/tok_emb/") if self._tied else name


def create_cpp_llama_model(config):
    return CppLlama(config)
