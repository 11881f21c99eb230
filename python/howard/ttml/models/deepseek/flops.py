# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.models.deepseek.flops."""

from .._flops import of_token


def calculate_flops_per_token(config, sequence_length=None):
    """Returns the operations of a token, forward and backward, with the experts that it takes."""
    width, heads = config.dim, config.n_heads
    wide = config.qk_nope_head_dim + config.qk_rope_head_dim
    queries = config.q_lora_rank * (width + heads * wide) or width * heads * wide
    latent = config.kv_lora_rank
    attention = queries + width * (latent + config.qk_rope_head_dim) + heads * (
        latent * (config.qk_nope_head_dim + config.v_head_dim) + config.v_head_dim * width)
    dense, layers = config.n_dense_layers, config.n_layers
    experts = 3 * width * config.moe_inter_dim * (config.n_activated_experts + config.n_shared_experts)
    weights = layers * attention + dense * 3 * width * config.dense_width + (layers - dense) * (
        experts + width * config.n_routed_experts) + config.vocab_size * width
    return of_token(weights, layers * heads * (wide + config.v_head_dim) // 2,
                    sequence_length or config.max_seq_len)
