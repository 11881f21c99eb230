# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.models.distributed.gpt2: the GPT-2 whose layers the axis "tp" divides."""

from ..gpt2 import GPT2


def create_gpt2_model(config):
    return GPT2(config, use_tp=True)
