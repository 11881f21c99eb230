# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.models.linear_regression: one linear layer."""

from ..modules import LinearLayer


def create_linear_regression_model(in_features, out_features):
    return LinearLayer(in_features, out_features)
