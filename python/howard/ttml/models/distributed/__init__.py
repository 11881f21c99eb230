# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.models.distributed: models whose layers the devices of an axis divide."""

from . import gpt2, llama, pipeline_parallel

__all__ = ["gpt2", "llama", "pipeline_parallel"]
