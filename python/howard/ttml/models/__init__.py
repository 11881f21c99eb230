# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.models."""

from . import deepseek, distributed, gpt2, linear_regression, llama, mlp, nanogpt, qwen3
from ._runner import RunnerType, WeightTyingType, memory_efficient_runner
from .kv_cache import KvCache, KvCacheConfig

__all__ = ["KvCache", "KvCacheConfig", "RunnerType", "WeightTyingType", "deepseek", "distributed",
           "gpt2", "linear_regression", "llama", "memory_efficient_runner", "mlp", "nanogpt", "qwen3"]
