# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.models.deepseek.mla: attention whose keys and values come from a latent row."""

from ... import ops
from ...modules import AbstractModuleBase, LinearLayer, RMSNormLayer
from .autograd_ops import autograd_concat, autograd_split, repeated_heads, split_heads


class MultiHeadLatentAttention(AbstractModuleBase):
    """A head has columns without positions, and columns that are turned; the latter are shared by
    all keys. With a q_lora_rank of 0 queries come from x directly."""

    def __init__(self, config, rope_params):
        super().__init__()
        self.config, self._rope = config, rope_params
        self.n_heads = heads = config.n_heads
        latent = config.kv_lora_rank
        wide = config.qk_nope_head_dim + config.qk_rope_head_dim
        if config.q_lora_rank == 0:
            self.wq = LinearLayer(config.dim, heads * wide, False)
        else:
            self.wq_a = LinearLayer(config.dim, config.q_lora_rank, False)
            self.q_norm = RMSNormLayer(config.q_lora_rank)
            self.wq_b = LinearLayer(config.q_lora_rank, heads * wide, False)
        self.wkv_a = LinearLayer(config.dim, latent + config.qk_rope_head_dim, False)
        self.kv_norm = RMSNormLayer(latent)
        self.wkv_b = LinearLayer(latent, heads * (config.qk_nope_head_dim + config.v_head_dim), False)
        self.wo = LinearLayer(heads * config.v_head_dim, config.dim, False)

    def forward(self, x, mask=None):
        config, heads = self.config, self.config.n_heads
        turned, plain = config.qk_rope_head_dim, config.qk_nope_head_dim
        direct = config.q_lora_rank == 0
        q = self.wq(x) if direct else self.wq_b(self.q_norm(self.wq_a(x)))
        q_plain, q_turned = autograd_split(split_heads(q, heads), [plain, turned], 3)
        q = autograd_concat([q_plain, ops.rope.rope(q_turned, self._rope)], 3)
        latent, k_turned = autograd_split(self.wkv_a(x), [config.kv_lora_rank, turned], 3)
        k_turned = repeated_heads(ops.rope.rope(k_turned, self._rope), heads)
        both = split_heads(self.wkv_b(self.kv_norm(latent)), heads)
        k_plain, v = autograd_split(both, [plain, config.v_head_dim], 3)
        k = autograd_concat([k_plain, k_turned], 3)
        attended = ops.attention.scaled_dot_product_attention(q, k, v, mask)
        return self.wo(ops.multi_head_utils.heads_fusion(attended))
