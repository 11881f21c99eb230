# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.models.nanogpt.flops."""

from .._flops import of_token


def calculate_flops_per_token(config, sequence_length=None):
    """Returns the operations of a token, forward and backward: 6 P + 12 L D S."""
    weights = (12 * config.n_embd**2 + 13 * config.n_embd) * config.n_layer
    weights += config.vocab_size * config.n_embd
    return of_token(weights, config.n_layer * config.n_embd, sequence_length or config.block_size)
