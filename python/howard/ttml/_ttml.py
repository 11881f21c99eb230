# SPDX-License-Identifier: Apache-2.0
"""Stands for TTML's binary module, whose names are those of the package."""

from . import autograd, core, init, models, modules, ops, optimizers, schedulers

__all__ = ["autograd", "core", "init", "models", "modules", "ops", "optimizers", "schedulers"]
