# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.common.profiler_utils: marks in the timeline of what runs."""

from howard.ttnn._session import region

from .._graph import context
from ..autograd import Tensor, callback

_open = {}


def profiler_marker_start(tensor, name, dump_results=False):
    context().get_device()
    _open[name] = region(name)
    _open[name].__enter__()
    return tensor


def profiler_marker_end(tensor, name, dump_results=False):
    found = _open.pop(name, None)
    if found is not None:
        found.__exit__()
    return tensor


def profiler_marker(tensor, name, dump_results=False):
    """Marks a place of the script; of a tensor, the place in the backward pass too."""

    def mark():
        with region(name):
            pass

    context().get_device()
    mark()
    return callback(tensor, mark) if isinstance(tensor, Tensor) else tensor
