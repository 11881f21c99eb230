# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.models."""

from . import linear_regression, llama, mlp, nanogpt
from .kv_cache import KvCache, KvCacheConfig

__all__ = ["KvCache", "KvCacheConfig", "linear_regression", "llama", "mlp", "nanogpt"]
