# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.core.utils: what a script allocates on its device."""

from typing import Any, List

from .._graph import context

_MEGABYTE = 1 << 20


class _Watched(dict):
    """Holds the memory of a device, and counts what comes and goes."""

    def __init__(self, before):
        super().__init__(before)
        self.sizes = {}
        self.now = {True: 0, False: 0}
        for number, reference in before.items():
            self._add(number, reference())
        self.begin()

    def begin(self):
        """Begins a segment."""
        self.peak, self.start = dict(self.now), dict(self.now)
        self.added, self.freed = {True: 0, False: 0}, {True: 0, False: 0}

    def _add(self, number, storage):
        if storage is None:
            return
        self.sizes[number] = (storage.in_l1, storage.padded_bytes())
        self.now[storage.in_l1] += self.sizes[number][1]

    def __setitem__(self, number, reference):
        super().__setitem__(number, reference)
        self._add(number, reference())
        in_l1, size = self.sizes[number]
        self.added[in_l1] += size
        self.peak[in_l1] = max(self.peak[in_l1], self.now[in_l1])

    def pop(self, number, *default):
        in_l1, size = self.sizes.pop(number, (False, 0))
        self.now[in_l1] -= size
        self.freed[in_l1] += size
        return super().pop(number, *default)


class _Guard:
    """Ends a capture at the end of a `with` statement."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.release()

    def release(self):
        if MemoryUsageTracker._watched is not None:
            MemoryUsageTracker.end_capture()


class MemoryUsageTracker:
    """Records allocations between begin_capture() and end_capture(). A snapshot ends a segment and
    names it. Circular buffers of programs are not counted."""

    _watched: Any = None
    _segments: List[Any] = []
    _last = "END_TRACE"

    @staticmethod
    def begin_capture(mode=None):
        """Begins. In any mode the emulated chip allocates what the real one would."""
        device = context().get_device()
        MemoryUsageTracker._segments = []
        MemoryUsageTracker._watched = device.storages = _Watched(device.storages)
        return _Guard()

    @staticmethod
    def _close(name, what):
        watched = MemoryUsageTracker._watched
        if watched is None:
            raise RuntimeError(f"{what}: nothing is captured; begin_capture() before it")
        of = {kind: {"segment_peak": watched.peak[in_l1] - watched.start[in_l1],
                     "total_allocations": watched.added[in_l1],
                     "total_deallocations": watched.freed[in_l1],
                     "peak": watched.peak[in_l1], "current": watched.now[in_l1]}
              for kind, in_l1 in (("dram", False), ("l1", True))}
        MemoryUsageTracker._segments.append((name, of))
        watched.begin()

    @staticmethod
    def snapshot(name):
        MemoryUsageTracker._close(name, "snapshot")

    @staticmethod
    def end_capture(name="END_TRACE"):
        MemoryUsageTracker._close(name, "end_capture")
        context().get_device().storages = dict(MemoryUsageTracker._watched)
        MemoryUsageTracker._watched, MemoryUsageTracker._last = None, name

    @staticmethod
    def _usage(name, kind):
        for found, of in MemoryUsageTracker._segments:
            if found == name:
                return {key: of[kind][key]
                        for key in ("peak", "total_allocations", "total_deallocations")}
        raise RuntimeError(f"no segment '{name}'; accepted: "
                           f"{', '.join(MemoryUsageTracker.get_trace_names()) or 'none yet'}")

    @staticmethod
    def get_dram_usage(name="END_TRACE"):
        return MemoryUsageTracker._usage(name, "dram")

    @staticmethod
    def get_l1_usage(name="END_TRACE"):
        return MemoryUsageTracker._usage(name, "l1")

    @staticmethod
    def get_dram_usage_all():
        names = MemoryUsageTracker.get_trace_names()
        return [(name, MemoryUsageTracker._usage(name, "dram")) for name in names]

    @staticmethod
    def get_l1_usage_all():
        names = MemoryUsageTracker.get_trace_names()
        return [(name, MemoryUsageTracker._usage(name, "l1")) for name in names]

    @staticmethod
    def get_trace_names():
        return [name for name, _ in MemoryUsageTracker._segments]

    @staticmethod
    def print_memory_usage():
        """Prints TTML's memory summary of the last capture."""
        if not MemoryUsageTracker._segments:
            raise RuntimeError("print_memory_usage: nothing was captured; begin_capture() and "
                               "end_capture() before it")
        print("=== Memory Usage Summary ===")
        peak = 0
        for name, of in MemoryUsageTracker._segments:
            dram, l1 = of["dram"], of["l1"]
            peak = max(peak, dram["peak"])
            change = dram["total_allocations"] - dram["total_deallocations"]
            print(f"\n--- {name} ---\n"
                  f"  DRAM: Segment Peak {_mb(dram['segment_peak'])}, "
                  f"Allocations {_mb(dram['total_allocations'])}, "
                  f"Deallocations {_mb(dram['total_deallocations'])}, "
                  f"Segment Change {change / _MEGABYTE:+.2f} MB\n"
                  f"  DRAM: Cumulative Peak {_mb(peak)}, Cumulative Current "
                  f"{_mb(dram['current'])}\n"
                  f"  L1: Peak CB {_mb(0)}, Peak Buffer {_mb(l1['peak'])}, Peak Total "
                  f"{_mb(l1['peak'])}")
        print(f"=== Final Totals ===\nOverall DRAM Peak: {_mb(peak)}, Final DRAM Usage: "
              f"{_mb(MemoryUsageTracker._segments[-1][1]['dram']['current'])}")

    @staticmethod
    def clear():
        MemoryUsageTracker._segments, MemoryUsageTracker._watched = [], None


def _mb(size):
    return f"{size / _MEGABYTE:.2f} MB"
