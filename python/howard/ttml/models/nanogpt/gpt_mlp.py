# SPDX-License-Identifier: Apache-2.0
"""Implements the feed-forward part of TTML's GPT-2."""

from ... import ops
from ...modules import AbstractModuleBase, DropoutLayer, LinearLayer


class GPTMLP(AbstractModuleBase):
    def __init__(self, embedding_dim, dropout=0.0):
        super().__init__()
        self.fc1 = LinearLayer(embedding_dim, 4 * embedding_dim)
        self.fc2 = LinearLayer(4 * embedding_dim, embedding_dim)
        self.dropout = DropoutLayer(dropout)

    def forward(self, x):
        return self.dropout(self.fc2(ops.unary.gelu(self.fc1(x))))
