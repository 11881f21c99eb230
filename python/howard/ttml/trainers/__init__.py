# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.trainers: supervised fine-tuning, and reinforcement learning of groups of
completions (GRPO)."""

from ..modules.lora import LoraConfig
from ._callback import TrainerCallback
from ._completer import CachedCompleter, GRPOCompleter
from ._grpo import GRPOTrainer
from ._grpo_config import GRPOConfig, get_grpo_config
from ._sft import SFTConfig, SFTTrainer

__all__ = ["CachedCompleter", "GRPOCompleter", "GRPOConfig", "GRPOTrainer", "LoraConfig", "SFTConfig",
           "SFTTrainer", "TrainerCallback", "get_grpo_config"]
