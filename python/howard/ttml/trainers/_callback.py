# SPDX-License-Identifier: Apache-2.0
"""Implements what is told of a trainer's steps."""


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
