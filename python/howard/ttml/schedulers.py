# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.schedulers: learning rates that change from step to step."""

import math


def _positive(value, name):
    if value <= 0:
        raise ValueError(f"{name} {value}; accepted: above 0")
    return value


class SchedulerBase:
    """Sets an optimizer's rate; its step() is called after the optimizer's. Fields that TTML names m_x
    in C++ may be read as _x, which is their name in its Python."""

    def __getattr__(self, name):
        if name.startswith("__") or f"m{name}" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no {name}")
        return self.__dict__[f"m{name}"]

    def __init__(self, optimizer):
        if not hasattr(optimizer, "set_lr"):
            raise TypeError(f"{type(self).__name__}: a {type(optimizer).__name__}; accepted: an optimizer")
        self.optimizer = optimizer
        self.m_base_lr = self.m_last_lr = optimizer.get_lr()
        self.m_last_step = 0

    def factor(self, step):
        return 1.0

    def rate(self, step):
        return self.m_base_lr * self.factor(step)

    def step(self):
        self.m_last_step += 1
        self.m_last_lr = self.rate(self.m_last_step)
        self.optimizer.set_lr(self.m_last_lr)

    def get_last_lr(self):
        return self.m_last_lr

    def get_current_lr(self):
        return self.optimizer.get_lr()

    def get_state_dict(self):
        return {name: value for name, value in vars(self).items() if name.startswith("m_")}

    def set_state_dict(self, state):
        for name, value in state.items():
            setattr(self, name, value)


class IdentityScheduler(SchedulerBase):
    pass


class LambdaScheduler(SchedulerBase):
    def __init__(self, optimizer, lr_lambda):
        super().__init__(optimizer)
        if not callable(lr_lambda):
            raise TypeError(f"lr_lambda: a {type(lr_lambda).__name__}; accepted: a function of the step")
        self.m_lr_lambda = lr_lambda

    def factor(self, step):
        return self.m_lr_lambda(step)


class StepScheduler(SchedulerBase):
    def __init__(self, optimizer, step_size, gamma=0.1):
        super().__init__(optimizer)
        self.m_step_size, self.m_gamma = _positive(step_size, "step_size"), _positive(gamma, "gamma")

    def factor(self, step):
        return self.m_gamma ** (step // self.m_step_size)


class LinearScheduler(SchedulerBase):
    def __init__(self, optimizer, start_factor, end_factor, total_steps):
        super().__init__(optimizer)
        self.m_start_factor, self.m_end_factor = start_factor, end_factor
        self.m_total_steps = _positive(total_steps, "total_steps")

    def factor(self, step):
        share = min(step, self.m_total_steps) / self.m_total_steps
        return self.m_start_factor + (self.m_end_factor - self.m_start_factor) * share


class CosineAnnealingScheduler(SchedulerBase):
    def __init__(self, optimizer, T_max, eta_min=0.0):
        super().__init__(optimizer)
        self.m_T_max, self.m_eta_min = _positive(T_max, "T_max"), eta_min

    def rate(self, step):
        share = (1 + math.cos(math.pi * step / self.m_T_max)) / 2
        return self.m_eta_min + (self.m_base_lr - self.m_eta_min) * share


class SequentialScheduler(SchedulerBase):
    """Follows one schedule after the other, each for so many steps."""

    def __init__(self, optimizer, schedulers, milestones):
        super().__init__(optimizer)
        schedulers, milestones = schedulers or [], milestones or []
        if not schedulers or len(schedulers) != len(milestones) or None in schedulers:
            raise ValueError(f"{len(schedulers)} schedulers with {len(milestones)} milestones; "
                             "accepted: schedulers, and the steps of each")
        self._parts, self._lengths = list(schedulers), list(milestones)
        for length in milestones:
            _positive(length, "milestones")
        self.m_current_scheduler_index = self.m_current_step_in_scheduler = 0

    def rate(self, step):
        """Steps the schedule of this step; behind the last one the rate stays."""
        if self.m_current_scheduler_index == len(self._parts):
            return self.m_last_lr
        part = self._parts[self.m_current_scheduler_index]
        part.step()
        self.m_current_step_in_scheduler += 1
        if self.m_current_step_in_scheduler == self._lengths[self.m_current_scheduler_index]:
            self.m_current_scheduler_index += 1
            self.m_current_step_in_scheduler = 0
        return part.m_last_lr

    def get_state_dict(self):
        state = super().get_state_dict()
        for i, part in enumerate(self._parts):
            state.update({f"scheduler_{i}/{name}": value
                          for name, value in part.get_state_dict().items()})
        return state

    def set_state_dict(self, state):
        super().set_state_dict({k: v for k, v in state.items() if "/" not in k})
        for i, part in enumerate(self._parts):
            prefix = f"scheduler_{i}/"
            part.set_state_dict({k[len(prefix):]: v for k, v in state.items()
                                 if k.startswith(prefix)})


class SpeedrunScheduler:
    """Says the rate and beta1 of each step: a rise, a hold and a fall."""

    def __init__(self, cfg):
        self.cfg = cfg

    def lr_at(self, step):
        c = self.cfg
        if step < c.warmup_steps:
            return c.max_lr * step / max(1, c.warmup_steps)
        if step < c.warmup_steps + c.hold_steps:
            return c.max_lr
        rest = max(1, c.total_steps - c.warmup_steps - c.hold_steps)
        share = min(1.0, (step - c.warmup_steps - c.hold_steps) / rest)
        return c.max_lr + (c.min_lr - c.max_lr) * share

    def beta1_at(self, step):
        c = self.cfg
        if not c.beta1_warmup_steps:
            return None
        share = min(1.0, step / c.beta1_warmup_steps)
        return c.beta1_start + (c.beta1_end - c.beta1_start) * share


class OptimParamSetter:
    """Sets numbers of an optimizer."""

    def __init__(self, optim):
        self.optim = optim

    def set_lr(self, lr):
        self.optim.set_lr(lr)

    def set_beta1(self, beta1):
        if beta1 is not None:
            self.optim.config.beta1 = beta1
