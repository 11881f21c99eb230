# SPDX-License-Identifier: Apache-2.0
"""Implements the settings of GRPO: a file's grpo_config."""

from dataclasses import MISSING, dataclass, fields
from typing import Any

from ..common.config import load_config


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
                     "logging_steps", "checkpoint_interval", "epsilon"):
            self._require(name, lambda value: value > 0, "above 0")
        for name in ("temperature", "warmup_steps"):
            self._require(name, lambda value: value >= 0, "0 or more")

    def _require(self, name, holds, accepted):
        value = getattr(self, name)
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not holds(value):
            raise ValueError(f"GRPOConfig: {name} {value}; accepted: {accepted}")

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
    given = dict(source["grpo_config"], output_dir=output_dir)
    missing = [f.name for f in fields(GRPOConfig) if f.default is MISSING and f.name not in given]
    if missing:
        raise TypeError(f"grpo_config has no {missing[0]}; accepted: "
                        f"{', '.join(f.name for f in fields(GRPOConfig))}")
    return GRPOConfig(**given)
