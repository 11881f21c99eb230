# SPDX-License-Identifier: Apache-2.0
"""Implements the settings of GRPO: a file's grpo_config."""

import operator
from dataclasses import MISSING, dataclass, fields
from numbers import Integral, Real
from typing import Any

from ..common.config import load_config

_INFINITE = float("inf")


def require_number(who, name, value, least=0, above=False, whole=False):
    """Raises ValueError where a value is no finite number from `least` on, or above it."""
    kind = isinstance(value, Integral if whole else Real) and not isinstance(value, bool)
    if kind and (value > least if above else value >= least) and value < _INFINITE:
        return
    accepted = f"above {least}" if above else f"{least} or more"
    raise ValueError(f"{who}: {name} {value!r}; accepted: a {'whole ' if whole else ''}number {accepted}")


def tokens_of(values):
    """Returns values as tokens, or no tokens where one of them is no whole number from 0 on."""
    try:
        found = [operator.index(value) for value in values]
    except TypeError:
        return []
    return found if min(found, default=0) >= 0 else []


@dataclass
class GRPOConfig:
    """Has the keys of a file's grpo_config. A step takes per_device_train_batch_size completions on
    each device, gradient_accumulation_steps times, num_generations of each prompt."""

    epsilon: float
    num_iterations: int
    gradient_accumulation_steps: int
    logging_steps: int
    checkpointing: bool
    checkpoint_interval: int
    prompts_to_train: int
    temperature: float
    max_completion_length: int
    num_generations: int
    warmup_steps: int
    per_device_train_batch_size: Any = None
    output_dir: str = ""
    batch_size: Any = None
    micro_batch_size: Any = None

    def __post_init__(self):
        given, old = self.per_device_train_batch_size, self.micro_batch_size
        if given is not None and old is not None and given != old:
            raise ValueError(f"GRPOConfig: per_device_train_batch_size {given} and micro_batch_size "
                             f"{old}; accepted: one of them")
        self.per_device_train_batch_size = given if given is not None else old
        for name in ("per_device_train_batch_size", "num_generations", "prompts_to_train",
                     "gradient_accumulation_steps", "num_iterations", "max_completion_length",
                     "logging_steps", "checkpoint_interval"):
            require_number("GRPOConfig", name, getattr(self, name), 1, whole=True)
        require_number("GRPOConfig", "warmup_steps", self.warmup_steps, whole=True)
        require_number("GRPOConfig", "temperature", self.temperature)
        require_number("GRPOConfig", "epsilon", self.epsilon, above=True)
        if not isinstance(self.checkpointing, bool):
            raise ValueError(f"GRPOConfig: checkpointing {self.checkpointing!r}; accepted: True, False")

    def prompts_of_step(self, devices):
        """Returns how many prompts a step takes on so many devices. Raises ValueError where their
        completions do not fill batches, or where they do not divide prompts_to_train."""
        batch, each = self.per_device_train_batch_size * devices, self.num_generations
        if batch % each:
            raise ValueError(f"GRPOConfig: {batch} completions a batch, of {devices} device(s), with "
                             f"num_generations {each}; accepted: a multiple of num_generations")
        prompts = batch // each * self.gradient_accumulation_steps
        if self.prompts_to_train % prompts:
            raise ValueError(f"GRPOConfig: prompts_to_train {self.prompts_to_train} with {prompts} "
                             f"prompts a step; accepted: a multiple of {prompts}")
        return prompts


def get_grpo_config(yaml_config, output_dir=""):
    """Returns the settings of grpo_config of a dict or of a file."""
    source = load_config(yaml_config) if isinstance(yaml_config, str) else yaml_config
    source = source if isinstance(source, dict) else {}
    training = source.get("training_config")
    section = training.get("grpo_config") if isinstance(training, dict) else None
    section = section or source.get("grpo_config")  # Some files have it beside training_config.
    if not isinstance(section, dict):
        raise ValueError(f"get_grpo_config: {yaml_config!r} has no grpo_config; accepted: a section of that "
                         "name, with keys and values")
    given, names = dict(section, output_dir=output_dir), [f.name for f in fields(GRPOConfig)]
    missing = [f.name for f in fields(GRPOConfig) if f.default is MISSING and f.name not in given]
    wrong = [f"no {name}" for name in missing] + [f"a key {name!r}" for name in given if name not in names]
    if wrong:
        raise TypeError(f"grpo_config has {wrong[0]}; accepted: {', '.join(names)}")
    return GRPOConfig(**given)
