# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.models.qwen3.flops."""

from .._flops import of_token


def calculate_flops_per_token(config, sequence_length=None):
    """Returns the operations of a token, forward and backward."""
    width, queries = config.hidden_size, config.num_attention_heads * config.head_dim
    keys = config.num_key_value_heads * config.head_dim
    block = 2 * width * queries + 2 * width * keys + 3 * width * config.intermediate_size
    weights = config.num_hidden_layers * block + config.vocab_size * width
    return of_token(weights, config.num_hidden_layers * queries,
                    sequence_length or config.max_position_embeddings)
