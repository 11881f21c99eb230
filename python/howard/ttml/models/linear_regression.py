# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.models.linear_regression: one linear layer."""

from .. import init
from ..modules import AbstractModuleBase, LinearLayer


class LinearRegression(AbstractModuleBase):
    def __init__(self, in_features, out_features=1, bias=True, init_scale=None):
        super().__init__()
        own = None if init_scale is None else init.uniform(-init_scale, init_scale)
        layer = LinearLayer(in_features, out_features, bias, own, own)
        self.in_features, self.out_features = in_features, out_features
        self.weight, self.bias = layer.weight, layer.bias
        self.__dict__["_linear"] = layer

    def forward(self, x):
        return self._linear(x)


def create_linear_regression_model(in_features, out_features=1, bias=True):
    """Returns the model whose parameters are "linear/weight" and "linear/bias"."""
    model = LinearLayer(in_features, out_features, bias)
    model.create_name("linear")
    return model
