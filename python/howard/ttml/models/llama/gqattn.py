# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.models.llama.gqattn."""

from ...modules import GroupedQueryAttention

__all__ = ["GroupedQueryAttention"]
