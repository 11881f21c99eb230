# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.modules."""

import sys

from ..autograd import RunMode
from ..init import TensorMetadata
from . import lora, parameter
from ._base import (AbstractModuleBase, Buffer, InferenceMode, ModuleBase, ModuleDict, ModuleList,
                    NamedParameters, Parameter, materialize_module)
from ._layers import (ColumnParallelLinear, DropoutLayer, Embedding, GroupedQueryAttention,
                      LayerNormLayer, LinearLayer, LlamaBlock, LlamaMLP, MultiHeadAttention,
                      MultiLayerPerceptron, RMSNormLayer, RowParallelLinear)
from .lora import (LoraColumnParallelLinear, LoraConfig, LoraLinear, LoraModel,
                   LoraRowParallelLinear)

# Scripts may import this module by the name of TTML's file.
module_base = sys.modules[f"{__name__}.module_base"] = sys.modules[__name__]
# Scripts use both names of these.
Linear, LayerNorm = LinearLayer, LayerNormLayer

__all__ = ["AbstractModuleBase", "Buffer", "ColumnParallelLinear", "DropoutLayer", "Embedding",
           "GroupedQueryAttention", "InferenceMode", "LayerNorm", "LayerNormLayer", "Linear",
           "LinearLayer", "LlamaBlock", "LlamaMLP", "LoraColumnParallelLinear", "LoraConfig",
           "LoraLinear", "LoraModel", "LoraRowParallelLinear", "ModuleBase", "ModuleDict",
           "ModuleList", "MultiHeadAttention", "MultiLayerPerceptron", "NamedParameters",
           "Parameter", "RMSNormLayer", "RowParallelLinear", "RunMode", "TensorMetadata", "lora",
           "materialize_module", "parameter"]
