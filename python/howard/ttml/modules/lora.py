# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.modules.lora: small matrices beside weights that stay as they are."""

import math
import re
from dataclasses import dataclass, field
from typing import List

from .. import init, ops
from ..autograd import RunMode
from ._base import AbstractModuleBase, Parameter
from ._layers import ColumnParallelLinear, LinearLayer, RowParallelLinear


@dataclass
class LoraConfig:
    rank: int = 8
    alpha: float = 16.0
    target_modules: List[str] = field(default_factory=list)
    use_rslora: bool = False
    is_bias_trainable: bool = False
    trainable_modules: List[str] = field(default_factory=list)
    lora_dropout: float = 0.0

    @property
    def scaling(self):
        return self.alpha / (math.sqrt(self.rank) if self.use_rslora else self.rank)


class LoraLinear(AbstractModuleBase):
    """Computes what a linear layer does plus scaling B A x; its own weight is not trained."""

    def __init__(self, base, config):
        super().__init__()
        self.weight, self.bias = base.weight, base.bias
        self.weight.tensor.set_requires_grad(False)
        if self.bias is not None:
            self.bias.tensor.set_requires_grad(config.is_bias_trainable)
        bound = 1 / math.sqrt(base.in_features)
        self.lora_A = Parameter(init.uniform(-bound, bound)([1, 1, config.rank, base.in_features]))
        self.lora_B = Parameter(init.zeros()([1, 1, base.out_features, config.rank]))
        self.__dict__["_base"] = base
        self.scaling, self.dropout_prob = config.scaling, config.lora_dropout
        self.in_features, self.out_features, self.rank = base.in_features, base.out_features, config.rank

    def forward(self, x):
        way = x
        if self.dropout_prob and self.get_run_mode() is RunMode.TRAIN:
            way = ops.dropout.dropout(way, self.dropout_prob)
        way = ops.linear.linear(ops.linear.linear(way, self.lora_A.tensor), self.lora_B.tensor)
        return ops.binary.add(self._base(x), ops.binary.mul(way, self.scaling))


class LoraColumnParallelLinear(LoraLinear):
    """Does so beside a layer whose outputs are divided."""


class LoraRowParallelLinear(LoraLinear):
    """Does so beside a layer whose inputs are divided."""


_KINDS = [(ColumnParallelLinear, LoraColumnParallelLinear), (RowParallelLinear, LoraRowParallelLinear),
          (LinearLayer, LoraLinear)]


class LoraModel(AbstractModuleBase):
    """Wraps a model: the layers whose dotted names match are given such matrices, and everything
    else is frozen but for trainable_modules."""

    def __init__(self, model, config):
        super().__init__()
        self.model, self.config = model, config
        for tensor in model.parameters().values():
            tensor.set_requires_grad(False)
        for path, module in list(model.named_modules()):
            if path and any(re.search(pattern, path) for pattern in config.target_modules):
                self._replace(path, module)
        for name, tensor in self.parameters().items():
            if any(part in name for part in config.trainable_modules):
                tensor.set_requires_grad(True)

    def _replace(self, path, module):
        for kind, lora in _KINDS:
            if isinstance(module, kind):
                break
        else:
            raise RuntimeError(f"LoraModel: {path} is a {type(module).__name__}; accepted: "
                               "LinearLayer, ColumnParallelLinear, RowParallelLinear")
        *parents, last = path.split(".")
        holder = self.model
        for part in parents:
            holder = holder._parts[part]
        made = lora(module, self.config)
        holder._parts[last] = made
        if last in holder.__dict__:
            object.__setattr__(holder, last, made)

    def get_name(self):
        return "LoraModel"

    def forward(self, *args, **kwargs):
        return self.model(*args, **kwargs)
