# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.optimizers: what updates the parameters of a module."""

from dataclasses import dataclass

from howard import _native

from .autograd import AutoContext


class _Config:
    @classmethod
    def make(cls, *args, **kwargs):
        return cls(*args, **kwargs)


@dataclass
class SGDConfig(_Config):
    lr: float = 1e-3
    momentum: float = 0.0
    dampening: float = 0.0
    weight_decay: float = 0.0
    nesterov: bool = False


@dataclass
class AdamWConfig(_Config):
    lr: float = 1e-3
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    weight_decay: float = 0.01
    use_kahan_summation: bool = False
    amsgrad: bool = False
    stochastic_rounding: bool = False


class OptimizerBase:
    def __init__(self, parameters, config):
        self.parameters, self.config = dict(parameters), config
        self._steps = 0
        device = AutoContext.get_instance().get_device()
        self._optimizer = self._make(device, [t._variable for t in self.parameters.values()])

    def step(self):
        self._optimizer.step()
        self._steps += 1

    def zero_grad(self):
        self._optimizer.zero_grad()

    def get_lr(self):
        return self._optimizer.rate

    def set_lr(self, lr):
        self._optimizer.rate = lr

    def get_steps(self):
        return self._steps


class SGD(OptimizerBase):
    """Updates parameters by small calls."""

    _fused = False

    def _make(self, device, variables):
        c = self.config
        return _native._ttml.sgd(device, variables, c.lr, c.momentum, c.dampening, c.weight_decay,
                                 c.nesterov, self._fused)


class AdamW(OptimizerBase):
    """Updates parameters by TTML's composite of small calls. With stochastic_rounding it is TTML's
    one program of 2026, which alone has it."""

    _fused = False

    def _make(self, device, variables):
        c = self.config
        seed = AutoContext.get_instance().get_seed() if c.stochastic_rounding else None
        return _native._ttml.adamw(device, variables, c.lr, c.beta1, c.beta2, c.epsilon,
                                   c.weight_decay, self._fused or c.stochastic_rounding,
                                   c.use_kahan_summation, c.amsgrad, seed)


class MorehAdamW(AdamW):
    """Updates each parameter by one program of ttnn, which has no options."""

    _fused = True

    def _make(self, device, variables):
        c = self.config
        for option in ("use_kahan_summation", "amsgrad", "stochastic_rounding"):
            if getattr(c, option):
                raise RuntimeError(f"MorehAdamW: {option}; accepted: AdamW with it")
        return super()._make(device, variables)


class NoOp(OptimizerBase):
    """Forgets the gradients: what is left is the forward and the backward pass."""

    def _make(self, device, variables):
        return _native._ttml.sgd(device, variables, 0.0, 0.0, 0.0, 0.0, False, False)

    def step(self):
        self.zero_grad()
        self._steps += 1


class RemoteOptimizer:
    def __init__(self, *_, **__):
        raise RuntimeError("RemoteOptimizer: howard.ttml has one device; run_experiment train "
                           "--multihost FILE runs tiers")


class _Fused:
    """Updates each parameter by TTML's one program of 2026."""

    _fused = True


class _FusedSGD(_Fused, SGD):
    pass


class _FusedAdamW(_Fused, AdamW):
    pass


# The types of a file's `optimizer`. Files that have it are those of 2026, whose AdamW and SGD are
# one program each.
TYPES = {"AdamW": _FusedAdamW, "AdamWComposite": AdamW, "MorehAdamW": MorehAdamW, "SGD": _FusedSGD,
         "SGDComposite": SGD, "NoOp": NoOp}
