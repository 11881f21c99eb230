# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.schedulers: learning rates that change from step to step, by the number of steps
so far."""

import math


class SchedulerBase:
    """Sets an optimizer's rate; its step() is called after the optimizer's."""

    def __init__(self, optimizer):
        self.optimizer, self.base = optimizer, optimizer.get_lr()
        self.last_step = 0

    def factor(self, step):
        return 1.0

    def step(self):
        self.last_step += 1
        self.optimizer.set_lr(self.base * self.factor(self.last_step))

    def get_last_lr(self):
        return self.optimizer.get_lr()

    get_current_lr = get_last_lr


class IdentityScheduler(SchedulerBase):
    pass


class LambdaScheduler(SchedulerBase):
    def __init__(self, optimizer, lr_lambda):
        super().__init__(optimizer)
        self.factor = lr_lambda


class StepScheduler(SchedulerBase):
    def __init__(self, optimizer, step_size, gamma=0.1):
        super().__init__(optimizer)
        self.factor = lambda step: gamma ** (step // step_size)


class LinearScheduler(SchedulerBase):
    def __init__(self, optimizer, start_factor, end_factor, total_steps):
        super().__init__(optimizer)
        self.factor = lambda step: (
            start_factor + (end_factor - start_factor) * min(step, total_steps) / total_steps)


class CosineAnnealingScheduler(SchedulerBase):
    def __init__(self, optimizer, total_steps, min_lr=0.0):
        super().__init__(optimizer)
        least = min_lr / self.base
        self.factor = lambda step: least + (1 - least) * (
            1 + math.cos(math.pi * min(step, total_steps) / total_steps)) / 2


class SequentialScheduler(SchedulerBase):
    """Follows one schedule after the other, each for so many steps."""

    def __init__(self, optimizer, schedulers, milestones):
        super().__init__(optimizer)
        self._parts = list(zip(schedulers, milestones))

    def factor(self, step):
        for index, (scheduler, length) in enumerate(self._parts):
            if step <= length or index + 1 == len(self._parts):
                return scheduler.factor(step)
            step -= length
        return 1.0
