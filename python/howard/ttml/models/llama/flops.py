# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.models.llama.flops."""

from .._flops import of_token


def calculate_flops_per_token(config, sequence_length=None):
    """Returns the operations of a token, forward and backward."""
    width, keys = config.hidden_size, config.num_key_value_heads * config.head_dim
    inner = config.intermediate_size or (8 * width // 3 + 255) // 256 * 256
    block = 2 * width * width + 2 * width * keys + 3 * width * inner
    weights = config.num_hidden_layers * block + config.vocab_size * width
    return of_token(weights, config.num_hidden_layers * width,
                    sequence_length or config.max_position_embeddings)
