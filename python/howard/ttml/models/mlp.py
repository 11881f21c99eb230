# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.models.mlp: linear layers with relu between them."""

from ..modules import MultiLayerPerceptron


def create_mlp_model(input_features, hidden_features, output_features):
    return MultiLayerPerceptron(input_features, hidden_features, output_features)
