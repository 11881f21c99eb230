# SPDX-License-Identifier: Apache-2.0
"""Puts the virtual clock in the place of a script's own, alone or with the host's own work."""

import functools
import sys
import time
import types

from . import _devices, _launch
from ._session import now, session
from ._tensor import Tensor

_real = time.perf_counter


class _Stopwatch:
    """Counts this machine's time outside of the stand-in, whose own work takes virtual time."""

    def __init__(self):
        self._start, self._inside, self._depth, self._entered = _real(), 0.0, 0, 0.0

    def own_work(self):
        """Returns the seconds that the script has worked without ttnn."""
        until = self._entered if self._depth else _real()
        return until - self._start - self._inside

    def leave_out(self, function):
        """Returns the function, whose time is not the script's own."""
        @functools.wraps(function)
        def call(*args, **kwargs):
            if self._depth == 0:
                self._entered = _real()
            self._depth += 1
            try:
                return function(*args, **kwargs)
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self._inside += _real() - self._entered

        return call


def _leave_out_the_stand_in(watch):
    _launch.Operation.__call__ = watch.leave_out(_launch.Operation.__call__)
    for name, value in list(vars(Tensor).items()):
        if isinstance(value, types.FunctionType):
            setattr(Tensor, name, watch.leave_out(value))
    module = sys.modules["howard.ttnn"]
    for name, value in list(vars(_devices).items()):
        if isinstance(value, types.FunctionType) and getattr(module, name, None) is value:
            setattr(module, name, watch.leave_out(value))


def install(mixed):
    """Makes the clocks of `time` virtual; mixed ones go on by the script's own work, too."""
    watch = _Stopwatch() if mixed else None
    if watch is not None:
        _leave_out_the_stand_in(watch)

    def seconds():
        return now() + (watch.own_work() if watch is not None else 0.0)

    def nanoseconds():
        own = int(watch.own_work() * 1e9) if watch is not None else 0
        return session.now_ps() // 1000 + own

    time.time = time.perf_counter = time.monotonic = seconds
    time.time_ns = time.perf_counter_ns = time.monotonic_ns = nanoseconds
