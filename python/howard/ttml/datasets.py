# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.datasets: batches of examples."""

import abc
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from howard.ttnn import DataType, Layout

from ._graph import context
from .autograd import Tensor

IGNORED = -100
# Scripts may import this module by the names of TTML's files.
dataloader = sys.modules[f"{__name__}.dataloader"] = sys.modules[__name__]
hf_dataloader = sys.modules[f"{__name__}.hf_dataloader"] = sys.modules[__name__]


@dataclass
class Batch:
    input_ids: Any
    labels: Any
    loss_mask: Any


class TTMLDataloader(abc.ABC):
    """Is what a source of batches has."""

    @abc.abstractmethod
    def __iter__(self):
        """Yields batches."""

    @abc.abstractmethod
    def __len__(self):
        """Returns how many there are."""


class InMemoryDataloader(TTMLDataloader):
    """Makes batches of a list of examples."""

    def __init__(self, dataset, collate_fn, batch_size, shuffle=False, drop_last=True):
        self.dataset, self.collate_fn, self.batch_size = dataset, collate_fn, batch_size
        self.shuffle, self.drop_last = shuffle, drop_last

    def __len__(self):
        whole, rest = divmod(len(self.dataset), self.batch_size)
        return whole + (1 if rest and not self.drop_last else 0)

    def __iter__(self):
        order = np.arange(len(self.dataset))
        if self.shuffle:
            context().random.shuffle(order)
        for i in range(len(self)):
            places = order[i * self.batch_size:(i + 1) * self.batch_size]
            yield self.collate_fn([self.dataset[int(place)] for place in places])


def sft_collate_fn(examples, max_seq_len, pad_token_id):
    """Pads examples {input_ids, labels} to whole tiles of the longest. Labels of -100 do not count;
    the mask [B, 1, T, 1] sums to B T. Labels are not shifted."""
    longest = min(max_seq_len, max(len(e["input_ids"]) for e in examples))
    length = (longest + 31) // 32 * 32
    ids = np.full((len(examples), length), pad_token_id, np.uint32)
    labels = np.zeros((len(examples), length), np.uint32)
    mask = np.zeros((len(examples), 1, length, 1), np.float32)
    for row, example in enumerate(examples):
        tokens = np.asarray(example["input_ids"][:longest])
        targets = np.asarray(example["labels"][:longest])
        counted = targets != IGNORED
        ids[row, :len(tokens)] = tokens
        labels[row, :len(targets)] = np.where(counted, targets, 0)
        mask[row, 0, :len(targets), 0] = counted
    if mask.sum() > 0:
        mask *= mask.size / mask.sum()

    def tokens_of(array):
        return Tensor.from_numpy(array, layout=Layout.ROW_MAJOR)

    return Batch(tokens_of(ids.reshape(len(examples), 1, 1, length)), tokens_of(labels),
                 Tensor.from_numpy(mask, new_type=DataType.BFLOAT16))
