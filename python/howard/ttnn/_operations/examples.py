# SPDX-License-Identifier: Apache-2.0
"""Implements the ops by which ttnn shows how one is written: copies."""

from .._launch import operation
from .layout import clone


@operation("prim.example")
def example(input_tensor):
    return clone.function(input_tensor)


@operation()
def composite_example(input_tensor):
    return clone.function(input_tensor)


@operation("prim.example_multiple_return")
def example_multiple_return(input_tensor, *, return_output1=True, return_output2=True):
    return [clone.function(input_tensor) if wanted else None
            for wanted in (return_output1, return_output2)]


@operation()
def composite_example_multiple_return(input_tensor, *, return_output1=True, return_output2=True):
    return example_multiple_return.function(input_tensor, return_output1=return_output1,
                                            return_output2=return_output2)
