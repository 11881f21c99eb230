# SPDX-License-Identifier: Apache-2.0
"""Implements supervised fine-tuning."""

from dataclasses import dataclass
from typing import Optional

from .. import core, ops
from .._graph import GradMode, context
from ..common.utils import get_loss_over_devices
from ..fsdp import fully_shard
from ..models import RunnerType
from ._trainer import Trainer


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
        if self.enable_fsdp and (self.max_grad_norm > 0 or self.save_interval > 0):
            raise ValueError(f"SFTConfig: enable_fsdp with max_grad_norm {self.max_grad_norm} and "
                             f"save_interval {self.save_interval}; accepted: 0 for both, as no device "
                             "has whole gradients and weights")


class SFTTrainer(Trainer):
    """Trains a model on examples with a mask. Devices of a mesh's axis `dp` share their gradients, and
    with enable_fsdp those of its axis `fsdp` divide the weights."""

    def __init__(self, model, train_dataloader, eval_dataloader=None, config=None, optimizer=None,
                 peft_config=None, lr_schedule=None, callbacks=None, compute_loss_func=None,
                 loss_composer=None, attention_mask=None):
        self.config = config or SFTConfig()
        if self.config.seed is not None:
            context().set_seed(self.config.seed)
        self._prepare(model)
        super().__init__(model, optimizer, self.config.learning_rate, peft_config, lr_schedule,
                         callbacks, self.config.checkpoint_dir)
        self.train_dataloader, self.eval_dataloader = train_dataloader, eval_dataloader
        self._loss = compute_loss_func or self._masked_loss
        self._mask, self._composer = attention_mask, loss_composer

    def _prepare(self, model):
        config = self.config
        if config.gradient_checkpointing:
            if not hasattr(model, "_runner"):
                raise ValueError(f"SFTTrainer: gradient_checkpointing of a {type(model).__name__}; "
                                 "accepted: a language model of ttml.models")
            model._runner = RunnerType.MemoryEfficient
        if config.enable_fsdp:
            for part in [*getattr(model, "blocks", ()), model]:
                fully_shard(part, reshard_after_forward=config.fsdp_reshard_after_forward)

    def _number(self, loss):
        if self._composer is not None:
            return float(loss.to_numpy(composer=self._composer).mean())
        return get_loss_over_devices(loss)

    @staticmethod
    def _masked_loss(output, batch):
        losses = ops.loss.cross_entropy_loss(output, batch.labels, ops.ReduceType.NONE)
        return ops.unary.mean(ops.binary.mul(losses, batch.loss_mask))

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
            self.optimizer.set_lr(self._rate(config.learning_rate, config.warmup_steps))
            self.optimizer.zero_grad()
            total = 0.0
            for _ in range(config.gradient_accumulation_steps):
                batch = next(batches)
                loss = self._loss(self.model(batch.input_ids, self._mask), batch)
                total += self._number(loss) / config.gradient_accumulation_steps
                ops.binary.mul(loss, 1.0 / config.gradient_accumulation_steps).backward(False)
                context().reset_graph()
            core.distributed.synchronize_gradients(self.model.parameters())
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
            losses = [self._number(self._loss(self.model(b.input_ids, self._mask), b))
                      for b in self.eval_dataloader]
        finally:
            context().set_gradient_mode(GradMode.ENABLED)
            self.model.train()
        return sum(losses) / max(1, len(losses))
