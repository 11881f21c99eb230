# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.models.mlp: linear layers with relu between them."""

from dataclasses import dataclass, field
from typing import List

from ..modules import MultiLayerPerceptron


@dataclass
class MultiLayerPerceptronParameters:
    input_features: int = 784
    hidden_features: List[int] = field(default_factory=lambda: [128])
    output_features: int = 10

    @classmethod
    def create(cls, *args, **kwargs):
        return cls(*args, **kwargs)


def create_mlp_model(config, hidden_features=None, output_features=None):
    if not isinstance(config, MultiLayerPerceptronParameters):
        config = MultiLayerPerceptronParameters(config, hidden_features, output_features)
    model = MultiLayerPerceptron(config.input_features, config.hidden_features,
                                 config.output_features)
    model.create_name("mlp")
    return model
