# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.core.utils: what a script allocates on its device."""

from typing import Any, List

from ..autograd import AutoContext


class MemoryUsageTracker:
    """Records allocations between begin_capture() and end_capture(). A snapshot ends a segment and
    names it. L1 has the circular buffers of the emulated chip's programs; the host has none."""

    _segments: List[Any] = []
    _summary = None

    class Guard:
        """Ends a capture at the end of a `with` statement."""

        def __enter__(self):
            return self

        def __exit__(self, *_):
            if MemoryUsageTracker._segments:
                MemoryUsageTracker.end_capture()

    @staticmethod
    def begin_capture(mode=None):
        """Begins. In any mode the emulated chip allocates what the real one would."""
        MemoryUsageTracker._segments = [""]
        MemoryUsageTracker._summary = None
        AutoContext.get_instance().get_device().begin_memory(_unnamed(0))
        return MemoryUsageTracker.Guard()

    @staticmethod
    def snapshot(name):
        segments = MemoryUsageTracker._open("snapshot")
        segments[-1] = name
        segments.append("")
        device = AutoContext.get_instance().get_device()
        device.begin_memory_phase(_unnamed(len(segments) - 1))

    @staticmethod
    def end_capture(name="END"):
        segments = MemoryUsageTracker._open("end_capture")
        segments[-1] = name
        device = AutoContext.get_instance().get_device()
        device.end_memory()
        summary = device.memory_summary()
        for index, segment in enumerate(segments):
            summary = summary.replace(f"--- {_unnamed(index)} ---", f"--- {segment} ---")
        MemoryUsageTracker._summary, MemoryUsageTracker._segments = summary, []

    @staticmethod
    def print_memory_usage():
        """Prints TTML's memory summary of the last capture."""
        if MemoryUsageTracker._summary is None:
            raise RuntimeError("print_memory_usage: nothing was captured; begin_capture() and "
                               "end_capture() before it")
        print(MemoryUsageTracker._summary, end="")

    @staticmethod
    def clear():
        MemoryUsageTracker._segments, MemoryUsageTracker._summary = [], None

    @staticmethod
    def _open(what):
        if not MemoryUsageTracker._segments:
            raise RuntimeError(f"{what}: nothing is captured; begin_capture() before it")
        return MemoryUsageTracker._segments


def _unnamed(index):
    """Returns the name of a segment that has none yet; it is known only at its end."""
    return f"SEGMENT_{index}"
