# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.models.distributed.pipeline_parallel.llama as far as one process can."""

from dataclasses import dataclass, field
from typing import Dict


@dataclass
class PipelineParallelConfig:
    num_blocks: int = 0
    blocks_per_rank: Dict[int, int] = field(default_factory=dict)

    def __post_init__(self):
        blocks = sum(self.blocks_per_rank.values())
        if blocks != self.num_blocks:
            raise RuntimeError(f"PipelineParallelConfig: {blocks} blocks in blocks_per_rank; "
                               f"accepted: num_blocks, {self.num_blocks}")


def create_llama_model(config, pipeline_config, is_tensor_parallel=False):
    raise RuntimeError("create_llama_model: a stage of a pipeline in a script, which is one process; "
                       "accepted: run_experiment train or fit with a pipeline_parallel_config")
