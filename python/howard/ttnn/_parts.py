# SPDX-License-Identifier: Apache-2.0
"""Implements the part that one device of a mesh has of a tensor: the same memory, one array of it."""

from ._tensor import Cell, Storage, Tensor


class _Cell(Cell):
    """Gives and takes the array of one device."""

    __slots__ = ("_whole", "_index")

    def __init__(self, whole, index):
        self._whole, self._index = whole, index

    @property
    def shards(self):
        found = self._whole.shards
        return None if found is None else [found[min(self._index, len(found) - 1)]]

    @shards.setter
    def shards(self, made):
        if self._whole.shards is not None:
            self._whole.shards[self._index] = made[min(self._index, len(made) - 1)]

    @property
    def padding(self):
        return self._whole.padding


class _Storage(Storage):
    """Stands for the memory of the whole tensor, which lives as long as this does."""

    __slots__ = ("_whole",)
    is_part = True

    def __init__(self, whole, index):
        self._whole, self.cell = whole, _Cell(whole.cell, index)
        self.device, self.shape, self.spec = whole.device, whole.shape, whole.spec
        self.in_l1, self.tile, self.views = whole.in_l1, whole.tile, None

    @property
    def number(self):
        return self._whole.number

    def release(self):
        self._whole.release()

    def __del__(self):
        """Frees nothing: the whole tensor does."""


def part_of(tensor, index):
    """Returns what a device has of a tensor."""
    return Tensor._make(tensor._shape, tensor._dtype, tensor._layout, tensor._config,
                        _Storage(tensor._storage, index), tensor._device)
