# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.optimizers: what updates the parameters of a module."""

import json
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

import howard.ttnn as ttnn
from howard.ttnn import DataType

from ._graph import context, one_call
from ._plans import described, step_of
from .autograd import Tensor, array_of


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
class AdamWFullPrecisionConfig(_Config):
    lr: float = 1e-3
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    weight_decay: float = 0.01
    amsgrad: bool = False


@dataclass
class AdamWConfig(AdamWFullPrecisionConfig):
    stochastic_rounding: bool = False


@dataclass
class KahanAdamWConfig(AdamWFullPrecisionConfig):
    """Is that of MorehAdamW, which refuses kahan_summation, and of AdamWComposite."""

    kahan_summation: bool = False


@dataclass
class MuonConfig(_Config):
    lr: float = 1e-3
    momentum: float = 0.95
    ns_steps: int = 5


class OptimizerBase:
    """Is what an optimizer of TTML has; scripts may derive their own."""

    def __init__(self, parameters, config=None):
        self.m_parameters = self.parameters = parameters
        self.config, self._steps = config, 0
        self._state = {}
        for what, dtype in self._kept():
            for name, tensor in self._trained():
                self._slot(name, what, tensor, dtype)

    def _kept(self):
        """Returns what is kept for each parameter from the beginning, with its type."""
        return []

    def _trained(self):
        return [(name, t) for name, t in self.parameters.items() if t.get_requires_grad()]

    def _with_gradients(self):
        return [(name, t) for name, t in self._trained() if t.is_grad_initialized()]

    def _slot(self, name, what, tensor, dtype=None):
        """Returns what is kept for a parameter, zeros at first."""
        kept = self._state.setdefault(what, {})
        if name not in kept:
            own = tensor.own()
            kept[name] = ttnn.zeros_like(own, dtype=dtype or own.dtype)
        return kept[name]

    def _changed(self, kind, numbers, name, value, gradient, what):
        """Returns a value after the step of an optimizer in C++ by these numbers. The names in `what`
        are those of what it keeps."""
        steps, kept = step_of(kind, json.dumps(numbers), described(value), described(gradient))
        tensors = {0: value, 1: gradient}
        tensors.update((n, self._state[word][name]) for n, word in zip(kept, what))
        steps.run(tensors)
        for n, word in zip(kept, what):
            self._state[word][name] = tensors[n]
        return tensors[0]

    def get_name(self):
        return type(self).__name__.lstrip("_")

    def step(self):
        raise NotImplementedError("step")

    def zero_grad(self):
        for tensor in self.parameters.values():
            tensor.clear_grad()

    def get_lr(self):
        return self.config.lr

    def set_lr(self, lr):
        self.config.lr = float(lr)

    def get_steps(self):
        return self._steps

    def set_steps(self, steps):
        self._steps = int(steps)

    def print_stats(self):
        print(f"{self.get_name()}: {len(self.parameters)} tensors, step {self._steps}, "
              f"lr {self.get_lr()}")

    def get_state_dict(self):
        numbers = {} if self.config is None else asdict(self.config)
        kept = {what: {name: Tensor(value, False) for name, value in of.items()}
                for what, of in self._state.items()}
        return {"steps": self._steps, **numbers, **kept}

    def _require_own(self, state):
        """Raises RuntimeError for a state that is not of this optimizer and these parameters."""
        trained = dict(self._trained())
        wanted = ["steps"] + [what for what, _ in self._kept()]
        absent = [name for name in wanted if name not in (state or {})]
        if absent:
            raise RuntimeError(f"{self.get_name()}.set_state_dict: a state without {', '.join(absent)}; "
                               "accepted: what get_state_dict() of such an optimizer gives")
        for what, of in state.items():
            for name, tensor in of.items() if isinstance(of, dict) else ():
                own = trained.get(name)
                if own is None or list(tensor.shape() if isinstance(tensor, Tensor) else tensor.shape) \
                        != own.shape():
                    raise RuntimeError(f"{self.get_name()}.set_state_dict: {what} of {name}; accepted: "
                                       "those of this optimizer's parameters, in their shapes")

    def set_state_dict(self, state):
        self._require_own(state)
        self._steps = int(state["steps"])
        known = {f.name for f in fields(self.config)} if self.config is not None else set()
        for name, value in state.items():
            if name in known:
                setattr(self.config, name, value)
            elif isinstance(value, dict):
                self._state[name] = {key: getattr(t, "own", lambda t=t: t)()
                                     for key, t in value.items()}


class _Zeroed(OptimizerBase):
    """Zeroes gradients in the place of freeing them."""

    def zero_grad(self):
        for tensor in self.parameters.values():
            if tensor.is_grad_initialized():
                tensor.set_grad(ttnn.zeros_like(tensor.get_grad()))
            else:
                tensor.clear_grad()


class SGD(_Zeroed):
    """Updates each parameter by one program."""

    _kind = "sgd"

    def _kept(self):
        return [("theta", None)] if self.config.momentum else []

    @one_call
    def step(self):
        c = self.config
        numbers = {"learning_rate": c.lr, "momentum": c.momentum, "weight_decay": c.weight_decay,
                   "dampening": c.dampening if self._steps else 0.0, "nesterov": c.nesterov}
        for name, tensor in self._with_gradients():
            if c.momentum:
                self._slot(name, "theta", tensor)
            tensor.set_value(self._changed(self._kind, numbers, name, tensor.own(), tensor.get_grad(),
                                           ["theta"]))
        self._steps += 1


class SGDComposite(SGD):
    """Computes the same by small calls."""

    _kind = "sgd_composite"


class AdamW(OptimizerBase):
    """Updates each parameter by one program, in place."""

    _moments: Any = None  # Their type is that of the parameter.
    _kind = "adamw"

    def _kept(self):
        kept = ["exp_avg", "exp_avg_sq"] + (["max_exp_avg_sq"] if self.config.amsgrad else [])
        return [(what, self._moments) for what in kept]

    def _numbers(self):
        c = self.config
        told = {"learning_rate": c.lr, "beta1": c.beta1, "beta2": c.beta2, "epsilon": c.epsilon,
                "weight_decay": c.weight_decay, "step": self._steps, "amsgrad": c.amsgrad}
        if getattr(c, "kahan_summation", False):
            told["kahan"] = True
        if getattr(c, "stochastic_rounding", False):
            told["rounding_seed"] = context().next_seed()
        return told

    @one_call
    def step(self):
        self._steps += 1
        for name, tensor in self._with_gradients():
            numbers, what = self._numbers(), [what for what, _ in self._kept()]
            if "kahan" in numbers:
                what.append("kahan_compensation")
            for word in what:
                self._slot(name, word, tensor, self._moments)
            self._update(name, tensor, numbers, what)

    def _update(self, name, tensor, numbers, what):
        tensor.set_value(self._changed(self._kind, numbers, name, tensor.own(), tensor.get_grad(), what))


class MorehAdamW(AdamW):
    """Updates each parameter by ttnn's own program, which has no options."""

    def __init__(self, parameters, config):
        if config.kahan_summation:
            raise RuntimeError("MorehAdamW: kahan_summation; accepted: AdamWComposite with it")
        super().__init__(parameters, config)


class AdamWFullPrecision(_Zeroed, AdamW):
    """Keeps weights and moments in float32, and gives the model a new bfloat16 copy each step."""

    _moments = DataType.FLOAT32

    def _update(self, name, tensor, numbers, what):
        masters = self._state.setdefault("master_weights", {})
        if name not in masters:
            masters[name] = ttnn.typecast(tensor.own(), DataType.FLOAT32)
        masters[name] = self._changed(self._kind, numbers, name, masters[name], tensor.get_grad(), what)
        tensor.set_value(ttnn.typecast(masters[name], DataType.BFLOAT16))


class AdamWComposite(AdamW):
    """Computes the same by seventeen small calls for each parameter."""

    _kind = "adamw_composite"


class MuonComposite(_Zeroed):
    """Follows the momentum made nearly orthogonal (Muon)."""

    def _kept(self):
        return [("momentum_buffer", None)]

    @one_call
    def step(self):
        c = self.config
        numbers = {"learning_rate": c.lr, "momentum": c.momentum, "iterations": c.ns_steps}
        for name, tensor in self._with_gradients():
            self._slot(name, "momentum_buffer", tensor)
            tensor.set_value(self._changed("muon", numbers, name, tensor.own(), tensor.get_grad(),
                                           ["momentum_buffer"]))
        self._steps += 1


class NoOp(OptimizerBase):
    """Forgets the gradients: what is left is the forward and the backward pass."""

    def __init__(self, parameters, config=None):
        super().__init__(parameters, config or SGDConfig())

    def step(self):
        self._steps += 1


class RemoteOptimizer(OptimizerBase):
    def __init__(self, *_, **__):
        raise RuntimeError("RemoteOptimizer: a script is one process here; run_experiment train "
                           "--multihost FILE runs tiers")


_registered = {}
_TYPES = {"AdamW": (AdamW, AdamWConfig), "AdamWFullPrecision": (AdamWFullPrecision,
                                                               AdamWFullPrecisionConfig),
          "MorehAdamW": (MorehAdamW, KahanAdamWConfig),
          "AdamWComposite": (AdamWComposite, KahanAdamWConfig),
          "SGD": (SGD, SGDConfig), "SGDComposite": (SGDComposite, SGDConfig),
          "MuonComposite": (MuonComposite, MuonConfig), "NoOp": (NoOp, SGDConfig)}


def register_optimizer(name, make):
    """Makes create_optimizer know a type: make(config, parameters) returns its optimizer."""
    _registered[name] = make


def create_optimizer(config, parameters):
    """Returns the optimizer of a map with its type, AdamW by default, and its numbers."""
    given = dict(config)
    name = given.pop("type", "AdamW")
    if name in _registered:
        return _registered[name](dict(config), parameters)
    if name not in _TYPES:
        raise RuntimeError(f"Unknown optimizer type: {name}; accepted: "
                           f"{', '.join([*_TYPES, *_registered])}")
    kind, config_class = _TYPES[name]
    known = {f.name: f.type for f in fields(config_class)}
    taken = {key: float(value) if known[key] in (float, "float") else value
             for key, value in given.items() if key in known}
    return kind(parameters, config_class(**taken))


def norm_of(gradients):
    """Returns the norm of all gradients together, as a tensor of one number."""
    total = None
    for gradient in gradients:
        part = ttnn.sum(ttnn.square(gradient), [0, 1, 2, 3], True)
        total = part if total is None else ttnn.add(total, part)
    return ttnn.sqrt(total)


@one_call
def clip_grad_norm(parameters, max_norm, p_norm_type=2.0, error_if_nonfinite=False):
    """Scales all gradients so that their norm is max_norm at most, and returns the norm that they
    had."""
    if p_norm_type != 2.0:
        raise RuntimeError(f"clip_grad_norm: a norm of type {p_norm_type}; accepted: 2.0")
    tensors = [t for t in dict(parameters).values() if t.is_grad_initialized()]
    if not tensors:
        raise RuntimeError("clip_grad_norm: no gradient; accepted: parameters after a backward pass")
    norm = norm_of([t.get_grad() for t in tensors])
    if error_if_nonfinite and not np.isfinite(array_of(norm)).all():
        raise RuntimeError(f"clip_grad_norm: a norm of {array_of(norm).item()}; accepted: a finite "
                           "one")
    share = ttnn.minimum(ttnn.divide(ttnn.full_like(norm, float(max_norm)), ttnn.add(norm, 1e-6)),
                         ttnn.full_like(norm, 1.0))
    for tensor in tensors:
        tensor.set_grad(ttnn.multiply(tensor.get_grad(), share))
    return Tensor(norm, False)
