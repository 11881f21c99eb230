# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.lazy: modules whose parameters are allocated later."""

from .init import is_lazy_init_enabled, lazy_init
from .modules import materialize_module

__all__ = ["is_lazy_init_enabled", "lazy_init", "materialize_module"]
