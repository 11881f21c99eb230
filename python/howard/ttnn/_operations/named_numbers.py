# SPDX-License-Identifier: Apache-2.0
"""Implements the elementwise functions whose numbers have names that the others' have not."""

from .._arrays import np
from .._launch import (
    OPERATIONS,
    launch_function,
    make_output,
    operation,
    require_device,
    values,
)
from .eltwise import FUNCTIONS

_SELU_SCALE, _SELU_ALPHA = 1.0507009873554805, 1.6732632423543772
_quotient, _selu = OPERATIONS["rdiv"].function, OPERATIONS["selu"].function


@operation()
def rdiv(input_tensor, value, *, round_mode=None, memory_config=None, output_tensor=None):
    """Divides a number by each element, and rounds where it is told how."""
    return _quotient(input_tensor, value, round_mode=round_mode, memory_config=memory_config,
                     output_tensor=output_tensor)


@operation()
def selu(input_tensor, *, scale=_SELU_SCALE, alpha=_SELU_ALPHA, memory_config=None,
         output_tensor=None):
    """Computes scale * (max(x, 0) + min(alpha * (exp(x) - 1), 0)): one program."""
    if abs(scale - _SELU_SCALE) < 1e-4 and abs(alpha - _SELU_ALPHA) < 1e-4:
        return _selu(input_tensor, memory_config=memory_config, output_tensor=output_tensor)

    require_device("selu", input_tensor)
    out = make_output(input_tensor._shape, input_tensor, None, None, memory_config, output_tensor)
    launch_function("selu", "selu", [input_tensor], out, 1)
    values(lambda x: scale * (np.maximum(x, 0) + np.minimum(alpha * np.expm1(x), 0)),
           [input_tensor], [out])
    return out


FUNCTIONS["rdiv"], FUNCTIONS["selu"] = rdiv, selu
