# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.common.schedulers: the same schedules, under the name of TTML's Python package."""

from ..schedulers import (CosineAnnealingScheduler, IdentityScheduler, LambdaScheduler,
                          LinearScheduler, OptimParamSetter, SchedulerBase, SequentialScheduler,
                          SpeedrunScheduler, StepScheduler)

__all__ = ["CosineAnnealingScheduler", "IdentityScheduler", "LambdaScheduler", "LinearScheduler",
           "OptimParamSetter", "SchedulerBase", "SequentialScheduler", "SpeedrunScheduler",
           "StepScheduler"]
