# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.models.llama.transformer."""

from ...modules import LlamaBlock, LlamaMLP, RMSNormLayer

__all__ = ["LlamaBlock", "LlamaMLP", "RMSNormLayer"]
