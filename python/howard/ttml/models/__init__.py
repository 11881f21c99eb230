# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.models."""

from . import linear_regression, llama, mlp, nanogpt

__all__ = ["linear_regression", "llama", "mlp", "nanogpt"]
