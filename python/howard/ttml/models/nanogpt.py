# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.models.nanogpt: TTML's GPT-2, with learned positions."""

from dataclasses import dataclass

import numpy

from .. import ops
from ..autograd import AutoContext, Tensor
from ..modules import (AbstractModuleBase, DropoutLayer, Embedding, LayerNormLayer, LinearLayer,
                       ModuleList, MultiHeadAttention, Parameter)


@dataclass
class NanoGPTConfig:
    vocab_size: int = 96
    block_size: int = 256
    n_embd: int = 384
    n_layer: int = 6
    n_head: int = 6
    dropout: float = 0.2
    bias: bool = True


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
        self.ln1 = LayerNormLayer(config.n_embd)
        self.attention = MultiHeadAttention(config.n_embd, config.n_head, config.dropout)
        self.ln2 = LayerNormLayer(config.n_embd)
        self.mlp = GPTMLP(config.n_embd, config.dropout)

    def forward(self, x, mask):
        x = ops.binary.add(x, self.attention(self.ln1(x), mask))
        return ops.binary.add(x, self.mlp(self.ln2(x)))


class NanoGPT(AbstractModuleBase):
    def __init__(self, config):
        super().__init__()
        if config.n_embd % config.n_head != 0 or config.block_size % 32 != 0:
            raise RuntimeError(f"NanoGPT: {config}; accepted: heads that divide n_embd, and a "
                               "block_size of whole tiles (32)")
        self.create_name("NanoGPT")
        self.config = config
        self.tok_emb = Embedding(config.vocab_size, config.n_embd)
        self.pos_emb = Parameter(Tensor.from_numpy(
            numpy.zeros((1, 1, config.block_size, config.n_embd), dtype=numpy.float32)))
        self.dropout = DropoutLayer(config.dropout)
        self.blocks = ModuleList(GPTBlock(config) for _ in range(config.n_layer))
        self.ln_fc = LayerNormLayer(config.n_embd)
        self.fc = LinearLayer(config.n_embd, config.vocab_size, False)
        self._draw()

    def _draw(self):
        """Draws TTML's initial values: a normal distribution of 0.02 for weights, 0 for biases."""
        random = AutoContext.get_instance().random
        for name, tensor in self.parameters().items():
            if name.endswith(("weight", "pos_emb")):
                tensor.set_value(Tensor.from_numpy(random.normal(0, 0.02, tensor.shape())))
            elif name.endswith("bias"):
                tensor.set_value(Tensor.from_numpy(numpy.zeros(tensor.shape())))

    def forward(self, tokens, mask):
        """Returns the logits [B, 1, S, V] of tokens [B, 1, 1, S]."""
        x = self.tok_emb(tokens)
        x = self.dropout(ops.binary.add(x, self.pos_emb.tensor))
        for block in self.blocks:
            x = block(x, mask)
        return self.fc(self.ln_fc(x))


def create_nanogpt(config):
    return NanoGPT(config)
