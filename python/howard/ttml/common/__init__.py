# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.common."""

from . import config, data, utils

__all__ = ["config", "data", "utils"]
