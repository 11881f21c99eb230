# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.models.nanogpt.multi_head_attention."""

from ...modules import MultiHeadAttention

__all__ = ["MultiHeadAttention"]
