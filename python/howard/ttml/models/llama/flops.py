# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.models.llama.flops."""

from .._flops import of_token
from .._transformer import checked_settings


def calculate_flops_per_token(config, sequence_length=None):
    """Returns the operations of a token, forward and backward."""
    width, keys = config.hidden_size, config.num_key_value_heads * config.head_dim
    inner = int(checked_settings(config.settings())["feed_forward"])
    block = 2 * width * width + 2 * width * keys + 3 * width * inner
    weights = config.num_hidden_layers * block + config.vocab_size * width
    return of_token(weights, config.num_hidden_layers * width,
                    sequence_length or config.max_position_embeddings)
