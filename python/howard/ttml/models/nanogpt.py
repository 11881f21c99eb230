# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.models.nanogpt: TTML's GPT-2, with learned positions."""

from dataclasses import dataclass

import numpy

from .. import ops
from ..autograd import Tensor
from ..modules import (AbstractModuleBase, Buffer, DropoutLayer, Embedding, LayerNormLayer,
                       LinearLayer, ModuleList, MultiHeadAttention, Parameter)
from ._transformer import Transformer

_NATIVE_LAYERS = {
    "tok_emb": "token_embedding", "pos_emb": "position_embedding", "ln_fc": "last_norm",
    "fc": "head", "ln1": "attention_norm", "ln2": "feed_forward_norm",
    "attention/qkv_linear": "query_key_value", "attention/out_linear": "output",
    "mlp/fc1": "expand", "mlp/fc2": "contract"}


@dataclass
class NanoGPTConfig:
    vocab_size: int = 96
    block_size: int = 256
    n_embd: int = 384
    n_layer: int = 6
    n_head: int = 6
    dropout: float = 0.2
    bias: bool = True
    weight_tying: bool = False
    fixed_positions: bool = False
    use_composite_layernorm: bool = False
    use_fused_attention: bool = False


class GPTMLP(AbstractModuleBase):
    def __init__(self, embedding_dim, dropout=0.0):
        super().__init__()
        self.fc1 = LinearLayer(embedding_dim, 4 * embedding_dim)
        self.fc2 = LinearLayer(4 * embedding_dim, embedding_dim)
        self.dropout = DropoutLayer(dropout)

    def forward(self, x):
        return self.dropout(self.fc2(ops.unary.gelu(self.fc1(x))))


class GPTBlock(AbstractModuleBase):
    def __init__(self, config):
        super().__init__()
        self.ln1 = LayerNormLayer(config.n_embd, config.use_composite_layernorm)
        self.attention = MultiHeadAttention(config.n_embd, config.n_head, config.dropout,
                                            use_fused_attention=config.use_fused_attention)
        self.ln2 = LayerNormLayer(config.n_embd, config.use_composite_layernorm)
        self.mlp = GPTMLP(config.n_embd, config.dropout)

    def forward(self, x, mask):
        x = ops.binary.add(x, self.attention(self.ln1(x), mask))
        return ops.binary.add(x, self.mlp(self.ln2(x)))


def _sinusoids(sequence, width):
    """Returns fixed positions [1, 1, S, D]: sines in even columns, cosines in odd ones."""
    angles = numpy.arange(sequence)[:, None] * 10000.0**(-numpy.arange(0, width, 2) / width)
    table = numpy.stack([numpy.sin(angles), numpy.cos(angles)], axis=-1)
    return table.reshape(1, 1, sequence, width).astype(numpy.float32)


class NanoGPT(Transformer):
    def __init__(self, config):
        super().__init__()
        if config.n_embd % config.n_head != 0 or config.block_size % 32 != 0:
            raise RuntimeError(f"NanoGPT: {config}; accepted: heads that divide n_embd, and a "
                               "block_size of whole tiles (32)")
        self.create_name("NanoGPT")
        self.config = config
        self.tok_emb = Embedding(config.vocab_size, config.n_embd)
        size = (1, 1, config.block_size, config.n_embd)
        self.pos_emb = (
            Buffer(Tensor.from_numpy(_sinusoids(config.block_size, config.n_embd)))
            if config.fixed_positions
            else Parameter(Tensor.from_numpy(numpy.zeros(size, dtype=numpy.float32))))
        self.dropout = DropoutLayer(config.dropout)
        self.blocks = ModuleList(GPTBlock(config) for _ in range(config.n_layer))
        self.ln_fc = LayerNormLayer(config.n_embd, config.use_composite_layernorm)
        self.fc = LinearLayer(config.n_embd, config.vocab_size, False)
        self.needs_mask = not config.use_fused_attention
        if config.weight_tying:
            self.fc.weight = self.tok_emb.weight
        self.draw_values()

    def settings(self):
        config = self.config
        return {"model_type": "gpt2", "num_heads": config.n_head, "embedding_dim": config.n_embd,
                "num_blocks": config.n_layer, "vocab_size": config.vocab_size,
                "max_sequence_length": config.block_size, "dropout_prob": config.dropout,
                "weight_tying": "enabled" if config.weight_tying else "disabled"}

    def native_name(self, name):
        """Returns "blocks.1.expand.weight" for "NanoGPT/blocks/1/mlp/fc1/weight"."""
        _, *parts = name.split("/")
        if parts[0] == "blocks":
            layer = _NATIVE_LAYERS["/".join(parts[2:-1])]
            return ".".join(["blocks", parts[1], layer, parts[-1]])
        if parts[0] == "fc" and self.config.weight_tying:
            return "token_embedding.weight"
        return ".".join([_NATIVE_LAYERS[parts[0]], parts[-1] if parts[1:] else "weight"])

    def forward(self, tokens, mask=None):
        """Returns the logits [B, 1, S, V] of tokens [B, 1, 1, S], where S is the block_size."""
        x = self.tok_emb(tokens)
        x = self.dropout(ops.binary.add(x, self.pos_emb.tensor))
        for block in self.blocks:
            x = block(x, mask)
        return self.fc(self.ln_fc(x))


def create_nanogpt(config):
    return NanoGPT(config)
