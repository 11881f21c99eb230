# SPDX-License-Identifier: Apache-2.0
"""Has what trainers have in common: a model, its optimizer, callbacks and checkpoints."""

import os
import pickle

from .. import optimizers
from ..modules.lora import LoraModel


class Trainer:
    """Has a model, perhaps with small matrices of LoRA, and the optimizer that is given or that a
    map of it describes."""

    def __init__(self, model, optimizer, learning_rate, peft_config, lr_schedule, callbacks,
                 folder):
        self.model = LoraModel(model, peft_config) if peft_config is not None else model
        if optimizer is None or isinstance(optimizer, dict):
            given = {"type": "AdamW", "lr": learning_rate, **(optimizer or {})}
            optimizer = optimizers.create_optimizer(given, self.model.parameters())
        self.optimizer, self.lr_schedule = optimizer, lr_schedule
        self.callbacks, self.folder = list(callbacks or []), folder
        self.step, self.losses = 0, []

    def _tell(self, event, *args, **kwargs):
        for callback in self.callbacks:
            getattr(callback, event)(self, *args, **kwargs)

    def _rate(self, most, warm):
        """Returns the learning rate of a step: the schedule's, or `most`, up to which it grows in
        `warm` steps."""
        if self.lr_schedule is not None:
            return self.lr_schedule(self.step)
        return most * (min(1.0, (self.step + 1) / warm) if warm else 1.0)

    def _told(self):
        """Returns what a checkpoint has besides the step and the values of the model."""
        return {}

    def save(self):
        """Writes step_N.pkl with the step and the values of the model, and returns its path."""
        os.makedirs(self.folder or ".", exist_ok=True)
        path = os.path.join(self.folder, f"step_{self.step}.pkl")
        state = {name: t.to_numpy() for name, t in self.model.parameters().items()}
        with open(path, "wb") as file:
            pickle.dump({"step": self.step, "model_state": state, **self._told()}, file)
        return path
