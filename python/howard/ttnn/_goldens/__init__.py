# SPDX-License-Identifier: Apache-2.0
"""Holds ttnn's golden functions: what PyTorch has of the same meaning, with ttnn's own parameters.

A module of each family has a table. Operations that ttnn has no golden function for have none here.
To import them imports PyTorch.
"""

from . import activations, backward, binary, movement, rows, unary

GOLDENS = {**unary.GOLDENS, **binary.GOLDENS, **backward.GOLDENS, **movement.GOLDENS,
           **rows.GOLDENS}
get_golden_function_for_activation = activations.get_golden_function_for_activation
