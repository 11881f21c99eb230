# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.models.llama: TTML's Llama, with rotary positions and grouped heads."""

from dataclasses import dataclass, field
from typing import Optional

from .. import ops
from ..autograd import AutoContext, GradMode, Tensor
from ..modules import Embedding, LinearLayer, LlamaBlock, ModuleList, RMSNormLayer
from .kv_cache import tiled
from ._transformer import Transformer, causal_mask, checked_settings


@dataclass
class LlamaConfig:
    """Has the keys of a transformer_config with a model_type of llama."""

    num_heads: int = 6
    num_groups: int = 3
    embedding_dim: int = 384
    intermediate_dim: Optional[int] = None
    dropout_prob: float = 0.0
    num_blocks: int = 6
    vocab_size: int = 256
    max_sequence_length: int = 256
    theta: float = 10000.0
    weight_tying: str = "disabled"
    runner_type: str = "default"
    rope_scaling: dict = field(default_factory=dict)
    use_composite_rmsnorm: bool = False
    use_fused_swiglu: bool = False
    use_fused_attention: bool = False

    def forms(self):
        """Returns which of TTML's forms the modules have, as LlamaBlock takes them."""
        return {key: value for key, value in vars(self).items() if key.startswith("use_")}

    def settings(self):
        given = {key: value for key, value in vars(self).items()
                 if value not in (None, {}) and not key.startswith("use_")}
        return {"model_type": "llama", **given, "experimental": self.forms()}


class Llama(Transformer):
    def __init__(self, config):
        super().__init__()
        found = checked_settings(config.settings())
        self.create_name("Llama")
        self.config = config
        self._tied = found["weight_tying"] == "enabled"
        width, heads = config.embedding_dim, config.num_heads
        vocabulary = (config.vocab_size + 31) // 32 * 32
        self.rope_params = ops.rope.build_rope_params(config.max_sequence_length, width // heads,
                                                      config.theta, config.rope_scaling)
        self.tok_emb = Embedding(vocabulary, width)
        self.blocks = ModuleList(
            LlamaBlock(width, heads, config.num_groups, found["feed_forward"], config.dropout_prob,
                       self.rope_params, **config.forms()) for _ in range(config.num_blocks))
        self.ln_fc = RMSNormLayer(width, use_composite=config.use_composite_rmsnorm)
        self.needs_mask = not config.use_fused_attention
        self.fc = LinearLayer(width, vocabulary, False)
        if self._tied:
            self.fc.weight = self.tok_emb.weight
        self.draw_values()

    def settings(self):
        return self.config.settings()

    def native_name(self, name):
        parts = name.split("/")[1:]
        if parts[0] == "blocks":
            parts[:2] = [f"llama_block_{parts[1]}"]
        if self._tied and parts[0] == "fc":
            parts[0] = "tok_emb"
        return "/".join(["llama", *parts])

    def forward(self, tokens, mask=None, kv_cache=None, new_tokens=None):
        """Returns the logits [B, 1, S, V] of tokens [B, 1, 1, S]. A mask [1, 1, S, S] is 1 where a
        place may look; without one it looks at the places before it. With use_fused_attention
        there is none, but for a kv_cache.

        With a kv_cache the first new_tokens of the tokens (default: all; the others are padding)
        follow those that the cache has, and its mask is [1, 1, S, P], where P are the places up to
        the last new token, in whole tiles."""
        rows = tokens.shape()[3]
        if kv_cache is None:
            first, places, new_tokens = 0, rows, None
        else:
            new_tokens = rows if new_tokens is None else new_tokens
            self._require_cache(kv_cache, tokens.shape(), new_tokens)
            first = kv_cache.get_cache_position()
            places = tiled(first + new_tokens)
        if mask is None and (self.needs_mask or kv_cache is not None):
            mask = Tensor.from_numpy(causal_mask(rows, first, places))
        x = self.tok_emb(tokens)
        for index, block in enumerate(self.blocks):
            x = block(x, mask, kv_cache, index, new_tokens)
        return self.fc(self.ln_fc(x))

    def _require_cache(self, kv_cache, shape, new_tokens):
        if AutoContext.get_instance().get_gradient_mode() != GradMode.DISABLED:
            raise RuntimeError("Llama: a kv_cache while gradients are recorded; accepted: "
                               "set_gradient_mode(GradMode.DISABLED)")
        config = self.config
        sides = (shape[0], config.num_groups, shape[3], config.embedding_dim // config.num_heads)
        kv_cache.require(config.num_blocks, sides, new_tokens)
        if kv_cache.config.max_seq_len > config.max_sequence_length:
            raise RuntimeError(f"Llama: a kv_cache of {kv_cache.config.max_seq_len} tokens; "
                               f"accepted: up to max_sequence_length, {config.max_sequence_length}")


def create_llama_model(config):
    return Llama(config)
