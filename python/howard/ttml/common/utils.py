# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.common.utils.

Parameters and results of its functions are from memory: nobody has compared them with TTML's own.
"""

import collections
import contextlib
import random

import numpy

from ..autograd import AutoContext, GradMode
from ..optimizers import TYPES, AdamWConfig, SGDConfig
from .config import TrainingConfig


def set_seed(seed=42):
    random.seed(seed)
    numpy.random.seed(seed)
    AutoContext.get_instance().set_seed(seed)


def initialize_device(config):
    """Opens the device that a dict of a TTML file asks for."""
    device = config.get("device_config", {})
    AutoContext.get_instance().open_device(device.get("mesh_shape", (1, 1)),
                                           device.get("device_ids", ()))


def round_up_to_tile(value, tile_size=32):
    return (value + tile_size - 1) // tile_size * tile_size


def create_optimizer(model, yaml_config):
    """Returns the optimizer that a training_config asks for: by its map `optimizer`, or by the single
    keys the composite AdamW, MorehAdamW or NoOp."""
    given = TrainingConfig(yaml_config)
    single = "NoOp" if given.use_no_op else "MorehAdamW" if given.use_moreh_adamw else "AdamWComposite"
    settings = dict(given.optimizer)
    name = settings.pop("type", single)
    if name not in TYPES:
        raise RuntimeError(f"create_optimizer: a type of {name}; accepted: {', '.join(TYPES)}")
    if "SGD" in name:
        known = {"lr": given.learning_rate}
        config = SGDConfig
    else:
        known = {"lr": given.learning_rate, "beta1": given.beta1, "beta2": given.beta2,
                 "epsilon": given.eps, "weight_decay": given.weight_decay,
                 "use_kahan_summation": given.use_kahan_summation}
        config = AdamWConfig
        if "kahan_summation" in settings:
            settings["use_kahan_summation"] = settings.pop("kahan_summation")
    unknown = set(settings) - set(config.__dataclass_fields__)
    if unknown:
        raise RuntimeError(f"create_optimizer: {sorted(unknown)[0]} with a type of {name}; accepted: "
                           + ", ".join(config.__dataclass_fields__))
    return TYPES[name](model.parameters(), config.make(**{**known, **settings}))


class PerformanceMeter:
    """Counts samples and tokens a second over the last steps, in the time of the device: virtual
    time on the emulated chip. TTML divides the work of all steps of its window by the time between
    the first and the last of them; here the work is that of the steps within this time."""

    def __init__(self, cfg, window_size=10):
        samples = cfg.batch_size * getattr(cfg, "gradient_accumulation_steps", 1)
        self._samples, self._length = samples, getattr(cfg, "seq_len", 0)
        self._times = collections.deque(maxlen=window_size)

    def step(self):
        """Says that a step has ended."""
        device = AutoContext.get_instance().get_device()
        device.finish()
        self._times.append(device.now_ps())

    def get_metrics(self):
        """Returns samples and tokens a second, or (0, 0) before two steps have ended."""
        if len(self._times) < 2 or self._times[-1] == self._times[0]:
            return 0.0, 0.0
        seconds = 1e-12 * (self._times[-1] - self._times[0])
        rate = (len(self._times) - 1) * self._samples / seconds
        return rate, rate * self._length


def no_grad():
    """Records nothing within a `with` statement."""
    @contextlib.contextmanager
    def inside():
        context = AutoContext.get_instance()
        before = context.get_gradient_mode()
        context.set_gradient_mode(GradMode.DISABLED)
        try:
            yield
        finally:
            context.set_gradient_mode(before)

    return inside()
