# SPDX-License-Identifier: Apache-2.0
"""Implements the feed-forward part of TTML's GPT-2."""

from ... import ops
from ...modules import AbstractModuleBase, DropoutLayer
from ...modules._layers import layers_of


class GPTMLP(AbstractModuleBase):
    def __init__(self, embedding_dim, dropout=0.0, use_tp=False):
        super().__init__()
        columns, rows, _ = layers_of(use_tp)
        self.fc1 = columns(embedding_dim, 4 * embedding_dim, True)
        self.fc2 = rows(4 * embedding_dim, embedding_dim, True)
        self.dropout = DropoutLayer(dropout)

    def forward(self, x):
        return self.dropout(self.fc2(ops.unary.gelu(self.fc1(x))))
