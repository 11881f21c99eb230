# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.models.distributed.llama: the Llama whose layers the axis "tp" divides."""

from dataclasses import replace

from ..llama import Llama


def create_llama_model(config):
    return Llama(replace(config, use_tp=True))
