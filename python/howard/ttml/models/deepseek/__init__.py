# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.models.deepseek: latent attention, and experts behind the first blocks."""

from dataclasses import dataclass
from typing import Any, Optional

from ... import ops
from ...modules import (AbstractModuleBase, Embedding, LinearLayer, LlamaMLP, ModuleList,
                        RMSNormLayer)
from .._runner import RunnerType, of_kind, run_block
from . import autograd_ops, flops, mla, moe
from .mla import MultiHeadLatentAttention
from .moe import MoE

__all__ = ["DeepSeek", "DeepSeekBlock", "DeepSeekConfig", "MoE", "MultiHeadLatentAttention",
           "autograd_ops", "mla", "moe"]


@dataclass
class DeepSeekConfig:
    vocab_size: int = 32000
    dim: int = 512
    inter_dim: Optional[int] = 1536
    moe_inter_dim: int = 256
    n_layers: int = 8
    n_dense_layers: int = 2
    n_heads: int = 8
    n_routed_experts: int = 8
    n_shared_experts: int = 1
    n_activated_experts: int = 2
    n_expert_groups: int = 2
    n_limited_groups: int = 1
    score_func: str = "sigmoid"
    route_scale: float = 2.5
    q_lora_rank: int = 256
    kv_lora_rank: int = 128
    qk_nope_head_dim: int = 64
    qk_rope_head_dim: int = 32
    v_head_dim: int = 64
    max_seq_len: int = 512
    rope_theta: float = 10000.0
    runner_type: Any = RunnerType.Default

    def __post_init__(self):
        def require(holds, name, accepted):
            if not holds:
                raise ValueError(f"DeepSeekConfig: {name} {getattr(self, name)}; accepted: {accepted}")

        require(1 <= self.n_routed_experts <= 256, "n_routed_experts", "1 to 256")
        require(self.n_expert_groups >= 1 and self.n_routed_experts % self.n_expert_groups == 0,
                "n_expert_groups", f"a divisor of the {self.n_routed_experts} experts")
        require(1 <= self.n_limited_groups <= self.n_expert_groups, "n_limited_groups",
                f"1 to n_expert_groups, {self.n_expert_groups}")
        available = self.n_routed_experts // self.n_expert_groups * self.n_limited_groups
        require(1 <= self.n_activated_experts <= available, "n_activated_experts",
                f"1 to the {available} experts of n_limited_groups")
        require(self.score_func in ("sigmoid", "softmax"), "score_func", "sigmoid, softmax")
        require(self.max_seq_len % 32 == 0, "max_seq_len", "a multiple of 32")

    @property
    def dense_width(self):
        """Returns inter_dim, or Llama's rule: 8/3 of dim, up to a multiple of 256."""
        return self.inter_dim or (8 * self.dim // 3 + 255) // 256 * 256


class DeepSeekBlock(AbstractModuleBase):
    def __init__(self, config, rope_params, dense):
        super().__init__()
        self.attn_norm = RMSNormLayer(config.dim)
        self.attn = MultiHeadLatentAttention(config, rope_params)
        self.ffn_norm = RMSNormLayer(config.dim)
        self.ffn = LlamaMLP(config.dim, config.dense_width) if dense else MoE(config)

    def forward(self, x, mask=None):
        h = ops.binary.add(x, self.attn(self.attn_norm(x), mask))
        return ops.binary.add(h, self.ffn(self.ffn_norm(h)))


class DeepSeek(AbstractModuleBase):
    """Returns the logits [B, 1, S, V] of tokens [B, 1, 1, S]. Attention is causal: a mask is not
    looked at."""

    def __init__(self, config):
        super().__init__()
        self.create_name("DeepSeek")
        self.config = config
        self._runner = of_kind(RunnerType, config.runner_type)
        rope_params = ops.rope.build_rope_params(config.max_seq_len, config.qk_rope_head_dim,
                                                 config.rope_theta)
        self.tok_emb = Embedding(config.vocab_size, config.dim)
        self.blocks = ModuleList(DeepSeekBlock(config, rope_params, i < config.n_dense_layers)
                                 for i in range(config.n_layers))
        self.norm = RMSNormLayer(config.dim)
        self.head = LinearLayer(config.dim, config.vocab_size, False)

    def get_moe_layers(self):
        return [block.ffn for block in self.blocks if isinstance(block.ffn, MoE)]

    def forward(self, tokens, mask=None):
        x = self.tok_emb(tokens)
        for block in self.blocks:
            x = run_block(self._runner, block, x, None)
        return self.head(self.norm(x))
