# SPDX-License-Identifier: Apache-2.0
"""Golden functions of activations: ttnn.operations.activations."""

import torch
import torch.nn.functional as F

from .unary import GOLDENS, hardmish

_OF_TYPE = {"RELU": torch.relu, "RELU6": F.relu6, "SILU": F.silu, "MISH": F.mish,
            "SIGMOID": torch.sigmoid, "HARDSIGMOID": F.hardsigmoid, "TANH": torch.tanh,
            "LOG": torch.log, "SOFTPLUS": F.softplus, "GELU": F.gelu, "SQRT": torch.sqrt,
            "HARDMISH": hardmish}


def get_golden_function_for_activation(activation):
    """Returns PyTorch's function for a name or an op type of an activation; None for None."""
    if activation is None:
        return None
    if isinstance(activation, str):
        name = activation[:-7] if activation.endswith("_approx") else activation
        name = {"recip": "reciprocal"}.get(name, name)
        if name not in GOLDENS:
            raise RuntimeError(f"Unsupported activation: {activation}")
        return GOLDENS[name]
    kind = getattr(activation, "op_type", activation)
    found = _OF_TYPE.get(getattr(kind, "name", None))
    if found is None:
        raise RuntimeError(f"{kind} is not supported as activation function")
    return found


def apply_all(x, activations):
    """Returns the tensor after each of the activations."""
    for one in activations or ():
        x = get_golden_function_for_activation(one)(x)
    return x
