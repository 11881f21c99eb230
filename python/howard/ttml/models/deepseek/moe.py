# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.models.deepseek.moe: a mixture of experts, of which a token takes a few."""

import numpy

import howard.ttnn as ttnn
from howard.ttnn import DataType

from ... import ops
from ...autograd import RunMode, Tensor, array_of
from ...modules import AbstractModuleBase, LinearLayer, LlamaMLP, ModuleList
from .autograd_ops import autograd_sigmoid, autograd_softmax, moe_routing_normalize, scaled_rows


class MoE(AbstractModuleBase):
    """Every expert computes every token, and its result is multiplied by the token's weight for it,
    which is 0 for most. A bias of each expert moves the choice, not the weight."""

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.gate = LinearLayer(config.dim, config.n_routed_experts, False)
        self.experts = ModuleList(LlamaMLP(config.dim, config.moe_inter_dim)
                                  for _ in range(config.n_routed_experts))
        self.shared_experts = LlamaMLP(config.dim, config.n_shared_experts * config.moe_inter_dim)
        self.__dict__["_bias"] = numpy.zeros(config.n_routed_experts, numpy.float32)
        self.__dict__["_counts"] = numpy.zeros(config.n_routed_experts)
        self.__dict__["_tokens"] = 0

    def compute_routing(self, x):
        """Returns the weights [B, 1, S, experts] of tokens, which are 0 where an expert is not
        chosen, and the mask of those that are."""
        config, scores = self.config, self.gate(x)
        softmax = config.score_func == "softmax"
        shares = autograd_softmax(scores) if softmax else autograd_sigmoid(scores)
        mask = self._chosen(shares.half())
        if softmax:
            return ops.binary.mul(ops.binary.mul(shares, Tensor(mask, False)),
                                  config.route_scale), mask
        return moe_routing_normalize(shares, mask, config.route_scale), mask

    def _chosen(self, shares):
        """Returns 1 for the experts with the largest shares, with their biases."""
        config = self.config
        bias = Tensor.from_numpy(self._bias.reshape(1, 1, 1, -1), new_type=DataType.BFLOAT16).own()
        ranked = ttnn.add(shares, bias)
        batch, _, rows, experts = ranked.shape
        groups, size = config.n_expert_groups, experts // config.n_expert_groups
        if config.n_limited_groups < groups:
            inside = ttnn.reshape(ranked, [batch, rows, groups, size])
            best = ttnn.topk(inside, min(2, size), dim=3)[0]
            of_groups = ttnn.reshape(ttnn.sum(best, 3, True), [batch, 1, rows, groups])
            allowed = self._ones_at(of_groups, config.n_limited_groups)
            spread = ttnn.repeat_interleave(allowed, size, 3)
            ranked = ttnn.where(spread, ranked, -1e9)
        return self._ones_at(ranked, config.n_activated_experts)

    @staticmethod
    def _ones_at(ranked, count):
        """Returns 1 at the `count` largest numbers of each row, and 0 elsewhere."""
        places = ttnn.topk(ranked, count, dim=3)[1]
        ones = ttnn.ones(list(places.shape), dtype=DataType.BFLOAT16, layout=ttnn.TILE_LAYOUT,
                         device=ranked.device())
        return ttnn.scatter(ttnn.zeros_like(ranked), 3, places, ones)

    def forward(self, x):
        weights, mask = self.compute_routing(x)
        if self.get_run_mode() != RunMode.EVAL:
            chosen = array_of(mask)
            self.__dict__["_counts"] = self._counts + chosen.reshape(-1, chosen.shape[-1]).sum(0)
            self.__dict__["_tokens"] += chosen.size // chosen.shape[-1]
        total = self.shared_experts(x)
        for index, expert in enumerate(self.experts):
            total = ops.binary.add(total, scaled_rows(expert(x), weights, index))
        return total

    def read_activation_probabilities(self):
        """Returns the part of the tokens since the last update that each expert was chosen for."""
        return self._counts / max(self._tokens, 1)

    def update_expert_bias(self, coeff=0.001):
        """Makes experts that were chosen too often less likely, and the others more."""
        moved = self._bias + coeff * numpy.sign(self._counts.mean() - self._counts)
        self.__dict__["_bias"] = (moved - moved.mean()).astype(numpy.float32)
        self.__dict__["_counts"] = numpy.zeros_like(self._counts)
        self.__dict__["_tokens"] = 0
