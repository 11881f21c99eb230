# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.models.distributed.pipeline_parallel."""

from . import llama

__all__ = ["llama"]
