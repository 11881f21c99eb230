# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.common."""

from . import config, data, model_factory, muon_optimizer, profiler_utils, schedulers, trainer, utils

__all__ = ["config", "data", "model_factory", "muon_optimizer", "profiler_utils", "schedulers",
           "trainer", "utils"]
