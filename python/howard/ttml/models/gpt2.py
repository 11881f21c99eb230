# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.models.gpt2: the GPT-2 that TTML has in C++, with the names of its parameters."""

from dataclasses import dataclass, field
from typing import Any

from .._mesh import mesh
from ..modules import ColumnParallelLinear, Embedding, LayerNormLayer, LinearLayer
from ._runner import RunnerType, WeightTyingType, of_kind, run_block
from ._transformer import Transformer
from .nanogpt import (GPTBlock, NanoGPTExperimentalConfig, PositionalEmbedding,
                      TrainablePositionalEmbedding)

__all__ = ["GPT2", "GPT2TransformerConfig", "create_gpt2_model"]

_LAYERS = {"ln1": "attention_norm", "ln2": "feed_forward_norm",
           "attention/qkv_linear": "query_key_value", "attention/out_linear": "output",
           "mlp/fc1": "expand", "mlp/fc2": "contract"}
_OUTER = {"tok_emb": "token_embedding", "pos_emb": "position_embedding", "ln_fc": "last_norm",
          "fc": "head"}


@dataclass
class GPT2TransformerConfig:
    num_heads: int = 6
    embedding_dim: int = 384
    dropout_prob: float = 0.2
    num_blocks: int = 6
    vocab_size: int = 256
    max_sequence_length: int = 256
    positional_embedding_type: str = "trainable"
    runner_type: Any = RunnerType.Default
    weight_tying: Any = WeightTyingType.Disabled
    experimental: NanoGPTExperimentalConfig = field(default_factory=NanoGPTExperimentalConfig)


class GPT2(Transformer):
    """Returns the logits [B, 1, S, V] of tokens [B, 1, 1, S], where S is max_sequence_length. With
    use_tp the devices of the axis "tp" divide its layers, and gather the logits."""

    def __init__(self, config, use_tp=False):
        super().__init__()
        self._require_divided(config, use_tp)
        if config.embedding_dim % config.num_heads or config.max_sequence_length % 32:
            raise RuntimeError(f"GPT2: {config}; accepted: heads that divide embedding_dim, and a "
                               "max_sequence_length of whole tiles (32)")
        self.create_name("transformer")
        self.config = config
        self._runner = of_kind(RunnerType, config.runner_type)
        self._tied = of_kind(WeightTyingType, config.weight_tying) is WeightTyingType.Enabled
        width, composite = config.embedding_dim, config.experimental.use_composite_layernorm
        self.fc = ColumnParallelLinear(width, config.vocab_size, False, gather_output=True) \
            if use_tp else LinearLayer(width, config.vocab_size, False)
        self.tok_emb = Embedding(config.vocab_size, width)
        if self._tied:
            self.tok_emb.weight = self.fc.weight
        fixed = config.positional_embedding_type == "fixed"
        self.pos_emb = (PositionalEmbedding if fixed else TrainablePositionalEmbedding)(
            config.max_sequence_length, width, config.dropout_prob)
        self.__dict__["_blocks"] = []
        for index in range(config.num_blocks):
            block = GPTBlock(width, config.num_heads, config.dropout_prob, True, composite,
                             use_tp)
            setattr(self, f"gpt_block_{index}", block)
            self._blocks.append(block)
        self.ln_fc = LayerNormLayer(width, composite)
        if not use_tp:  # those of divided layers are drawn for each device
            self.draw_values()

    def _require_divided(self, config, use_tp):
        devices = mesh().axis_size("tp") if use_tp else 1
        tied = of_kind(WeightTyingType, config.weight_tying) is WeightTyingType.Enabled
        if config.num_heads % devices or config.vocab_size % (32 * devices) and use_tp:
            raise ValueError(f"GPT2: {config.num_heads} heads and {config.vocab_size} tokens on "
                             f"{devices} devices; accepted: multiples of them, tokens in whole tiles")
        if use_tp and tied:
            raise ValueError("GPT2: weight_tying with divided layers; accepted: one of them")

    def settings(self):
        config = self.config
        return {"model_type": "gpt2", "num_heads": config.num_heads,
                "embedding_dim": config.embedding_dim, "num_blocks": config.num_blocks,
                "vocab_size": config.vocab_size,
                "max_sequence_length": config.max_sequence_length,
                "dropout_prob": config.dropout_prob,
                "weight_tying": "enabled" if self._tied else "disabled"}

    def native_name(self, name):
        """Returns "blocks.1.expand.weight" for "transformer/gpt_block_1/mlp/fc1/weight"."""
        _, first, *rest = name.split("/")
        if first.startswith("gpt_block_"):
            return ".".join(["blocks", first[10:], _LAYERS["/".join(rest[:-1])], rest[-1]])
        return ".".join(["token_embedding" if self._tied and first == "fc" else _OUTER[first],
                         rest[-1]])

    def forward(self, idx, mask=None):
        x = self.pos_emb(self.tok_emb(idx))
        for block in self._blocks:
            x = run_block(self._runner, block, x, mask)
        return self.fc(self.ln_fc(x))


def create_gpt2_model(config):
    return GPT2(config)
