# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.models.nanogpt: TTML's GPT-2."""

from dataclasses import dataclass, field
from typing import Any

import numpy

from ... import init, ops
from ...autograd import Tensor
from ...modules import (AbstractModuleBase, Buffer, DropoutLayer, Embedding, LayerNormLayer,
                        LinearLayer, ModuleList, MultiHeadAttention, Parameter)
from .._runner import RunnerType, WeightTyingType, of_kind, run_block
from .._transformer import Transformer
from . import flops, gpt_mlp, multi_head_attention
from .flops import calculate_flops_per_token
from .gpt_mlp import GPTMLP

__all__ = ["GPTBlock", "GPTMLP", "MultiHeadAttention", "NanoGPT", "NanoGPTConfig",
           "NanoGPTExperimentalConfig", "PositionalEmbedding", "TrainablePositionalEmbedding",
           "calculate_flops_per_token", "create_nanogpt", "flops", "gpt_mlp", "multi_head_attention"]

_NATIVE_LAYERS = {
    "tok_emb": "token_embedding", "pos_emb": "position_embedding", "ln_f": "last_norm",
    "fc": "head", "ln1": "attention_norm", "ln2": "feed_forward_norm",
    "attention/qkv_linear": "query_key_value", "attention/out_linear": "output",
    "mlp/fc1": "expand", "mlp/fc2": "contract"}


@dataclass
class NanoGPTExperimentalConfig:
    use_composite_layernorm: bool = False


@dataclass
class NanoGPTConfig:
    vocab_size: int = 50304
    block_size: int = 1024
    n_embd: int = 768
    n_layer: int = 12
    n_head: int = 12
    dropout: float = 0.2
    bias: bool = True
    runner_type: Any = RunnerType.Default
    weight_tying: Any = WeightTyingType.Disabled
    positional_embedding_type: str = "trainable"
    experimental: NanoGPTExperimentalConfig = field(default_factory=NanoGPTExperimentalConfig)


class GPTBlock(AbstractModuleBase):
    def __init__(self, embedding_dim, num_heads, dropout=0.0, bias=True,
                 use_composite_layernorm=False, use_tp=False):
        super().__init__()
        self.ln1 = LayerNormLayer(embedding_dim, use_composite_layernorm, bias)
        self.attention = MultiHeadAttention(embedding_dim, num_heads, dropout, use_tp=use_tp)
        self.ln2 = LayerNormLayer(embedding_dim, use_composite_layernorm, bias)
        self.mlp = GPTMLP(embedding_dim, dropout, use_tp)

    def forward(self, x, mask=None):
        x = ops.binary.add(x, self.attention(self.ln1(x), mask))
        return ops.binary.add(x, self.mlp(self.ln2(x)))


class TrainablePositionalEmbedding(AbstractModuleBase):
    """Adds a row for each place of a sequence, which is as long as the table."""

    def __init__(self, sequence_length, embedding_dim, dropout=0.0):
        super().__init__()
        self.weight = Parameter(init.normal(0.0, 0.02)([1, 1, sequence_length, embedding_dim]))
        self.dropout = DropoutLayer(dropout)

    def forward(self, x):
        return self.dropout(ops.binary.add(x, self.weight.tensor))


class PositionalEmbedding(AbstractModuleBase):
    """Adds fixed positions [1, 1, S, D]: sines in even columns, cosines in odd ones."""

    def __init__(self, sequence_length, embedding_dim, dropout=0.0):
        super().__init__()
        angles = numpy.arange(sequence_length)[:, None] * 10000.0**(
            -numpy.arange(0, embedding_dim, 2) / embedding_dim)
        table = numpy.stack([numpy.sin(angles), numpy.cos(angles)], axis=-1)
        self.table = Buffer(Tensor.from_numpy(table.reshape(
            1, 1, sequence_length, embedding_dim).astype(numpy.float32)))
        self.table.tensor.set_requires_grad(False)
        self.dropout = DropoutLayer(dropout)

    def forward(self, x):
        return self.dropout(ops.binary.add(x, self.table.tensor))


class NanoGPT(Transformer):
    def __init__(self, config):
        super().__init__()
        if config.n_embd % config.n_head != 0 or config.block_size % 32 != 0:
            raise RuntimeError(f"NanoGPT: {config}; accepted: heads that divide n_embd, and a "
                               "block_size of whole tiles (32)")
        self.create_name("NanoGPT")
        self.config = config
        self._runner = of_kind(RunnerType, config.runner_type)
        self._tied = of_kind(WeightTyingType, config.weight_tying) is WeightTyingType.Enabled
        composite = config.experimental.use_composite_layernorm
        self.fc = LinearLayer(config.n_embd, config.vocab_size, False)
        self.tok_emb = Embedding(config.vocab_size, config.n_embd)
        if self._tied:
            self.tok_emb.weight = self.fc.weight
        fixed = config.positional_embedding_type == "fixed"
        self.pos_emb = (PositionalEmbedding if fixed else TrainablePositionalEmbedding)(
            config.block_size, config.n_embd, config.dropout)
        self.blocks = ModuleList(
            GPTBlock(config.n_embd, config.n_head, config.dropout, config.bias, composite)
            for _ in range(config.n_layer))
        self.ln_f_gamma = Parameter(init.ones()([1, 1, 1, config.n_embd]))
        self.ln_f_beta = Parameter(init.zeros()([1, 1, 1, config.n_embd])) if config.bias else None
        self.__dict__["_composite"] = composite
        self.draw_values()

    def settings(self):
        config = self.config
        return {"model_type": "gpt2", "num_heads": config.n_head, "embedding_dim": config.n_embd,
                "num_blocks": config.n_layer, "vocab_size": config.vocab_size,
                "max_sequence_length": config.block_size, "dropout_prob": config.dropout,
                "weight_tying": "enabled" if self._tied else "disabled"}

    def native_name(self, name):
        """Returns "blocks.1.expand.weight" for "NanoGPT/blocks/1/mlp/fc1/weight"."""
        _, *parts = name.split("/")
        if parts[0].startswith("ln_f_"):
            return "last_norm." + parts[0][5:]
        if parts[0] == "blocks":
            layer = _NATIVE_LAYERS["/".join(parts[2:-1])]
            return ".".join(["blocks", parts[1], layer, parts[-1]])
        if parts[0] == "fc" and self._tied:
            return "token_embedding.weight"
        return ".".join([_NATIVE_LAYERS[parts[0]], parts[-1]])

    def forward(self, idx, mask=None):
        """Returns the logits [B, 1, S, V] of tokens [B, 1, 1, S], where S is the block_size."""
        x = self.pos_emb(self.tok_emb(idx))
        for block in self.blocks:
            x = run_block(self._runner, block, x, mask)
        norm = ops.layernorm.composite_layernorm if self._composite else ops.layernorm.layernorm
        beta = self.ln_f_beta.tensor if self.ln_f_beta else None
        return self.fc(norm(x, self.ln_f_gamma.tensor, beta))


def create_nanogpt(config):
    return NanoGPT(config)
