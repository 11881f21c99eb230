# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.common.utils."""

import collections
import contextlib
import random

import numpy

import howard.ttnn as ttnn
from howard.ttnn._devices import get_memory_view

from .. import optimizers
from .._graph import GradMode, context
from .config import TrainingConfig, get_tt_metal_runtime_root
from ..autograd import Tensor

__all__ = ["PerformanceMeter", "build_logits_mask", "create_optimizer",
           "get_available_device_memory_in_bytes", "get_loss_over_devices",
           "get_tt_metal_runtime_root", "initialize_device", "no_grad", "round_up_to_tile",
           "set_seed", "summary"]


def set_seed(seed=42):
    random.seed(seed)
    numpy.random.seed(seed)
    context().set_seed(seed)


def initialize_device(config):
    """Opens the device that a dict of a TTML file asks for."""
    device = config.get("device_config", {})
    context().open_device(device.get("mesh_shape", (1, 1)), device.get("device_ids", ()))


def round_up_to_tile(value, tile_size=32):
    return (value + tile_size - 1) // tile_size * tile_size


def create_optimizer(model, config):
    """Returns the optimizer of a map `optimizer`, or of a dict of a TTML file: by its map, or by the
    single keys of files of 2025, the composite AdamW, MorehAdamW or NoOp."""
    parameters = model.parameters()
    if "training_config" not in config:
        if not any(key in config for key in ("type", "lr")):
            raise ValueError("create_optimizer: no map `optimizer`; accepted: {type: AdamW, lr: "
                             "0.001}, or a dict with a training_config that has one")
        return optimizers.create_optimizer(config, parameters)
    given = TrainingConfig(config)
    if given.optimizer:
        return optimizers.create_optimizer(given.optimizer, parameters)
    name = "NoOp" if given.use_no_op else "MorehAdamW" if given.use_moreh_adamw else "AdamWComposite"
    return optimizers.create_optimizer(
        {"type": name, "lr": given.learning_rate, "beta1": given.beta1, "beta2": given.beta2,
         "epsilon": given.eps, "weight_decay": given.weight_decay,
         "kahan_summation": given.use_kahan_summation}, parameters)


def get_loss_over_devices(loss):
    """Returns the mean of a loss over all devices."""
    value = loss.get_value()
    value.blocking_read()
    return float(numpy.mean([shard.mean() for shard in value.shards()]))


def build_logits_mask(vocab_size, padded_vocab_size):
    """Returns [1, 1, 1, V']: 1e4 at the columns that pad the vocabulary."""
    mask = numpy.zeros((1, 1, 1, padded_vocab_size), dtype=numpy.float32)
    mask[..., vocab_size:] = 1e4
    return Tensor.from_numpy(mask, new_type=ttnn.DataType.BFLOAT16)


def get_available_device_memory_in_bytes():
    """Returns the DRAM of all devices of the box."""
    device = context().get_device()
    view = get_memory_view(device, ttnn.BufferType.DRAM)
    return view.total_bytes_per_bank * view.num_banks * ttnn.get_num_devices()


def summary(model):
    """Prints the parameters of a model, and returns how many numbers they have."""
    total = 0
    for name, tensor in model.parameters().items():
        count = int(numpy.prod(tensor.shape()))
        total += count
        print(f"{name:60s} {str(tensor.shape()):24s} {count}")
    print(f"Total parameters: {total}")
    return total


class PerformanceMeter:
    """Counts samples and tokens a second over the last steps, in virtual time. TTML divides the work
    of all steps of its window by the time between the first and the last of them; here the work is
    that of the steps within this time."""

    def __init__(self, cfg, window_size=10):
        samples = cfg.batch_size * getattr(cfg, "gradient_accumulation_steps", 1)
        self._samples, self._length = samples, getattr(cfg, "seq_len", 0)
        self._times = collections.deque(maxlen=window_size)

    def step(self):
        """Says that a step has ended."""
        device = context().get_device()
        ttnn.synchronize_device(device)
        self._times.append(device.chip.now_ps())

    def get_metrics(self):
        """Returns samples and tokens a second, or (0, 0) before two steps have ended."""
        if len(self._times) < 2 or self._times[-1] == self._times[0]:
            return 0.0, 0.0
        seconds = 1e-12 * (self._times[-1] - self._times[0])
        rate = (len(self._times) - 1) * self._samples / seconds
        return rate, rate * self._length


@contextlib.contextmanager
def no_grad():
    """Records nothing within a `with` statement."""
    before = context().get_gradient_mode()
    context().set_gradient_mode(GradMode.DISABLED)
    try:
        yield
    finally:
        context().set_gradient_mode(before)
