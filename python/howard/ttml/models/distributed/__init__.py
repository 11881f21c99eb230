# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.models.distributed: models whose layers the devices of an axis divide."""

from . import llama, pipeline_parallel

__all__ = ["llama", "pipeline_parallel"]
