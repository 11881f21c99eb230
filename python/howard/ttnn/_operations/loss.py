# SPDX-License-Identifier: Apache-2.0
"""Implements losses."""

from .._launch import operation
from .._types import LossReductionMode
from .eltwise import FUNCTIONS
from .reduction import mean, sum


def _loss(name, function):
    @operation(name)
    def call(input_reference, input_prediction, *, reduction=LossReductionMode.NONE,
             memory_config=None):
        """Returns the size of the difference, in one program, and the sum or mean of that."""
        size = FUNCTIONS["subtract"].function(input_reference, input_prediction,
                                              activations=[function], memory_config=memory_config)
        if reduction is LossReductionMode.NONE:
            return size
        return (sum if reduction is LossReductionMode.SUM else mean).function(size)

    return call


mse_loss = _loss("mse_loss", "square")
l1_loss = _loss("l1_loss", "abs")
