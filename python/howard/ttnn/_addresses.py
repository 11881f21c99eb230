# SPDX-License-Identifier: Apache-2.0
"""Says where buffers lie within a bank, as ttnn's allocator places them: first fit, from the bottom of
DRAM up and from the top of L1 down. All banks are alike.

What is made and freed is noted, and placed when somebody asks for an address: few scripts do.
"""

from typing import Any, Dict, List

L1_TOP = 1_499_136  # of a worker core, for tensors and circular buffers
L1_BASE = 102_688  # Firmware, fabric tables and the ring of kernels lie below.
DRAM_BASE = 32
_BLOCK = 32  # of every buffer, in bytes
_TILE_BYTES = {"bfloat16": 2048, "bfloat8_b": 1088, "bfloat4_b": 576, "uint16": 2048,
               "uint8": 1024}
MOST_NOTES = 500_000


def _up(value, unit):
    return -(-value // unit) * unit


def pages_of(spec):
    """Returns how many pages a tensor has, or each of its shards, and the bytes of one: a tile, or a
    row of numbers."""
    dims, dtype, row_major, in_l1, shards = spec[:5]
    rows, columns = (shards[3], shards[4]) if shards else (dims[2], dims[3])
    outer = 1 if shards else dims[0] * dims[1]
    tile = _TILE_BYTES.get(dtype, 4096)
    if row_major:
        return outer * rows, _up(columns * tile // 1024, 16 if in_l1 else _BLOCK)
    return outer * -(-rows // 32) * -(-columns // 32), tile


def bytes_in_bank(spec, banks):
    """Returns what a tensor takes of each bank."""
    pages, size = pages_of(spec)
    return max(_BLOCK, _up((pages if spec[4] else -(-pages // banks)) * size, _BLOCK))


class _Region:
    """Holds the free parts of a bank, in the order of their addresses."""

    def __init__(self, bottom, top, upwards):
        self._holes, self._upwards, self._top = [[bottom, top]], upwards, top
        self._taken: Dict[int, int] = {}

    def take(self, size):
        """Returns the address of a new buffer. It is the top where all holes are too small, because
        the chip counts memory as a whole."""
        holes = self._holes
        for i in range(len(holes)) if self._upwards else reversed(range(len(holes))):
            start, end = holes[i]
            if end - start < size:
                continue
            address = start if self._upwards else end - size
            if end - start == size:
                del holes[i]
            else:
                holes[i] = [start + size, end] if self._upwards else [start, address]
            self._taken[address] = size
            return address
        return self._top

    def give_back(self, address):
        size = self._taken.pop(address, None)
        if size is None:
            return
        at = sum(hole[0] < address for hole in self._holes)
        self._holes.insert(at, [address, address + size])
        for i in (at, at - 1):
            if 0 <= i < len(self._holes) - 1 and self._holes[i][1] == self._holes[i + 1][0]:
                self._holes[i][1] = self._holes.pop(i + 1)[1]


class Addresses:
    """Knows the buffers of a device by their numbers. Its notes are numbers with specifications of
    buffers that were made, and numbers alone of those that were freed."""

    def __init__(self, l1_banks, l1_small, trace_region, dram_banks=12, bank_bytes=1 << 30):
        self._banks, self._dram_banks = l1_banks, dram_banks
        self._dram = _Region(DRAM_BASE, bank_bytes - trace_region, True)
        self._l1 = _Region(L1_BASE, L1_TOP - _up(l1_small, _BLOCK), False)
        self.notes: List[Any] = []
        self._asked = False
        self._places: Dict[int, Any] = {}

    def of(self, number):
        """Returns where a living buffer lies within each bank."""
        self._asked = True
        self._place()
        return self._places[number][1]

    def shorten(self):
        """Forgets what has come and gone while nobody asked: those that live are placed as if they
        had been made alone."""
        if self._asked:
            self._place()
            return
        gone = {note for note in self.notes if not isinstance(note, tuple)}
        self.notes[:] = [note for note in self.notes
                         if isinstance(note, tuple) and note[0] not in gone]

    def _place(self):
        for note in self.notes:
            if isinstance(note, tuple):
                number, spec = note
                region, banks = (self._l1, self._banks) if spec[3] else (self._dram, self._dram_banks)
                self._places[number] = region, region.take(bytes_in_bank(spec, banks))
            elif note in self._places:
                region, address = self._places.pop(note)
                region.give_back(address)
        self.notes.clear()
