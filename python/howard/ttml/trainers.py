# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.trainers: supervised fine-tuning, and the settings of GRPO."""

import os
import pickle
from dataclasses import MISSING, dataclass, fields
from typing import Any, Optional

from . import core, ops, optimizers
from ._graph import GradMode, context
from .common.config import load_config
from .modules.lora import LoraConfig, LoraModel

__all__ = ["GRPOCompleter", "GRPOConfig", "GRPOTrainer", "LoraConfig", "SFTConfig", "SFTTrainer",
           "TrainerCallback", "get_grpo_config"]


class TrainerCallback:
    """Is told what a trainer does."""

    def on_train_begin(self, trainer):
        """The first step comes."""

    def on_step_end(self, trainer, step, *args, **kwargs):
        """A step has ended."""

    def on_eval_end(self, trainer, step, loss):
        """The held-out examples were looked at."""

    def on_before_optimizer_step(self, trainer):
        """All gradients are there."""

    def on_save(self, trainer, step, path):
        """The model was saved."""

    def on_train_end(self, trainer):
        """The last step has ended."""


@dataclass
class SFTConfig:
    max_steps: int = 1000
    gradient_accumulation_steps: int = 1
    eval_interval: int = 200
    save_interval: int = 500
    checkpoint_dir: str = "checkpoints"
    seed: Optional[int] = None
    max_seq_len: int = 1024
    learning_rate: float = 2e-5
    warmup_steps: int = 0
    max_grad_norm: float = 0.0
    log_interval: int = 1
    gradient_checkpointing: bool = False
    enable_fsdp: bool = False
    fsdp_reshard_after_forward: bool = True

    def __post_init__(self):
        if self.enable_fsdp:
            raise ValueError("SFTConfig: enable_fsdp; accepted: False, there is one device here")


class SFTTrainer:
    """Trains a model on examples with a mask."""

    def __init__(self, model, train_dataloader, eval_dataloader=None, config=None, optimizer=None,
                 peft_config=None, lr_schedule=None, callbacks=None, compute_loss_func=None,
                 loss_composer=None, attention_mask=None):
        self.config = config or SFTConfig()
        if self.config.seed is not None:
            context().set_seed(self.config.seed)
        self.model = LoraModel(model, peft_config) if peft_config is not None else model
        self.train_dataloader, self.eval_dataloader = train_dataloader, eval_dataloader
        if optimizer is None or isinstance(optimizer, dict):
            given = {"type": "AdamW", "lr": self.config.learning_rate, **(optimizer or {})}
            optimizer = optimizers.create_optimizer(given, self.model.parameters())
        self.optimizer, self.lr_schedule = optimizer, lr_schedule
        self.callbacks = list(callbacks or [])
        self._loss = compute_loss_func or self._masked_loss
        self._mask, self.step, self.losses = attention_mask, 0, []

    @staticmethod
    def _masked_loss(output, batch):
        losses = ops.loss.cross_entropy_loss(output, batch.labels, ops.ReduceType.NONE)
        return ops.unary.mean(ops.binary.mul(losses, batch.loss_mask))

    def _tell(self, event, *args):
        for callback in self.callbacks:
            getattr(callback, event)(self, *args)

    def _rate(self):
        if self.lr_schedule is not None:
            return self.lr_schedule(self.step)
        warm = self.config.warmup_steps
        share = min(1.0, (self.step + 1) / warm) if warm else 1.0
        return self.config.learning_rate * share

    def _batches(self):
        while True:
            count = 0
            for batch in self.train_dataloader:
                count += 1
                yield batch
            if count == 0:
                raise ValueError("SFTTrainer: no batch; accepted: as many examples as a batch has")

    def train(self):
        config, batches = self.config, self._batches()
        self.model.train()
        self._tell("on_train_begin")
        while self.step < config.max_steps:
            self.optimizer.set_lr(self._rate())
            self.optimizer.zero_grad()
            total = 0.0
            for _ in range(config.gradient_accumulation_steps):
                batch = next(batches)
                loss = self._loss(self.model(batch.input_ids, self._mask), batch)
                total += float(loss.get_value().item()) / config.gradient_accumulation_steps
                ops.binary.mul(loss, 1.0 / config.gradient_accumulation_steps).backward(False)
                context().reset_graph()
            self._tell("on_before_optimizer_step")
            if config.max_grad_norm > 0:
                core.clip_grad_norm(self.model.parameters(), config.max_grad_norm)
            self.optimizer.step()
            self.step += 1
            self.losses.append(total)
            self._tell("on_step_end", self.step, total)
            self._look()
        self._tell("on_train_end")
        return self.losses

    def _look(self):
        config = self.config
        if self.eval_dataloader is not None and self.step % config.eval_interval == 0:
            self._tell("on_eval_end", self.step, self.evaluate())
        if config.save_interval and self.step % config.save_interval == 0:
            self._tell("on_save", self.step, self.save())

    def evaluate(self):
        """Returns the mean loss of the held-out batches."""
        self.model.eval()
        context().set_gradient_mode(GradMode.DISABLED)
        try:
            losses = [float(self._loss(self.model(b.input_ids, self._mask), b).get_value().item())
                      for b in self.eval_dataloader]
        finally:
            context().set_gradient_mode(GradMode.ENABLED)
            self.model.train()
        return sum(losses) / max(1, len(losses))

    def save(self):
        """Writes step_N.pkl with the step and the values of the model, and returns its path."""
        os.makedirs(self.config.checkpoint_dir, exist_ok=True)
        path = os.path.join(self.config.checkpoint_dir, f"step_{self.step}.pkl")
        state = {name: t.to_numpy() for name, t in self.model.parameters().items()}
        with open(path, "wb") as file:
            pickle.dump({"step": self.step, "model_state": state}, file)
        return path


@dataclass
class GRPOConfig:
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
                     "gradient_accumulation_steps"):
            if not getattr(self, name) or getattr(self, name) <= 0:
                raise ValueError(f"GRPOConfig: {name} {getattr(self, name)}; accepted: above 0")
        if self.per_device_train_batch_size % self.num_generations:
            raise ValueError(f"GRPOConfig: a batch of {self.per_device_train_batch_size} with "
                             f"{self.num_generations} completions of each prompt; accepted: a "
                             "multiple of them")


def get_grpo_config(yaml_config, output_dir=""):
    """Returns the settings of grpo_config of a dict or of a file."""
    source = load_config(yaml_config) if isinstance(yaml_config, str) else yaml_config
    given = dict(source["grpo_config"], output_dir=output_dir)
    missing = [f.name for f in fields(GRPOConfig) if f.default is MISSING and f.name not in given]
    if missing:
        raise TypeError(f"grpo_config has no {missing[0]}; accepted: "
                        f"{', '.join(f.name for f in fields(GRPOConfig))}")
    return GRPOConfig(**given)


class GRPOCompleter:
    """Is what writes the completions of prompts; a script derives its own."""

    def complete(self, prompts):
        raise NotImplementedError("complete")


class GRPOTrainer:
    def __init__(self, *_, **__):
        raise RuntimeError("GRPOTrainer is not here; accepted: SFTTrainer, or a loop of your own")
