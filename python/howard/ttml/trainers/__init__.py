# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.trainers: supervised fine-tuning, and reinforcement learning of groups of
completions (GRPO)."""

import sys

from ..modules.lora import LoraConfig
from ._callback import TrainerCallback
from ._completer import CachedCompleter, GRPOCompleter
from ._grpo import GRPOTrainer
from ._grpo_config import GRPOConfig, get_grpo_config
from ._sft import SFTConfig, SFTTrainer

# Scripts may import this module by the names of TTML's files.
grpo_trainer = sys.modules[f"{__name__}.grpo_trainer"] = sys.modules[__name__]
sft_trainer = sys.modules[f"{__name__}.sft_trainer"] = sys.modules[__name__]

__all__ = ["CachedCompleter", "GRPOCompleter", "GRPOConfig", "GRPOTrainer", "LoraConfig", "SFTConfig",
           "SFTTrainer", "TrainerCallback", "get_grpo_config"]
