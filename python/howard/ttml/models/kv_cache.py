# SPDX-License-Identifier: Apache-2.0
"""Implements TTML's cache of keys and values, which a Llama reads token after token with."""

from dataclasses import dataclass

import numpy

import howard.ttnn as ttnn

from .._graph import one_call
from ..autograd import Tensor

_TILE = 32


def tiled(rows):
    """Returns a number of rows rounded up to whole tiles."""
    return (rows + _TILE - 1) // _TILE * _TILE


@dataclass
class KvCacheConfig:
    num_layers: int
    batch_size: int
    num_groups: int
    max_seq_len: int
    head_dim: int


class KvCache:
    """Keeps the keys and values of the tokens that a model has read, each [B, groups, max_seq_len, d]
    in bfloat16 for each block. It does not slide when it is full."""

    def __init__(self, config, *sizes):
        if sizes:
            config = KvCacheConfig(config, *sizes)
        if min(vars(config).values()) < 1:
            raise RuntimeError(f"KvCache: {config}; accepted: sizes of 1 or more")
        self.config, self._position, self._mask = config, 0, None
        zeros = numpy.zeros((config.batch_size, config.num_groups, tiled(config.max_seq_len),
                             config.head_dim), dtype=numpy.float32)
        self._blocks = [[Tensor.from_numpy(zeros).half(), Tensor.from_numpy(zeros).half()]
                        for _ in range(config.num_layers)]

    def reset(self):
        """Forgets what was read."""
        self._position = 0

    clear = reset

    def num_layers(self):
        return self.config.num_layers

    def empty(self):
        return self._position == 0

    def get_k_cache(self, layer_idx):
        return self._blocks[layer_idx][0]

    def get_v_cache(self, layer_idx):
        return self._blocks[layer_idx][1]

    def mask_for(self, q, k, mask, first):
        """Returns a mask [1, 1, rows, places]: the one that is given, or 1 up to each row's own
        place."""
        if mask is not None:
            return mask
        key = (q.shape()[2], k.shape()[2], first)
        if self._mask is None or self._mask[0] != key:
            rows = numpy.tril(numpy.ones((1, 1, key[0], key[1]), dtype=numpy.float32), first)
            self._mask = (key, Tensor.from_numpy(rows))
        return self._mask[1]

    def get_cache_position(self):
        """Returns the number of tokens that were read."""
        return self._position

    def require(self, layers, sides, new_tokens):
        """Raises RuntimeError unless the cache is for keys [B, groups, rows, d] of so many blocks
        and has room for new tokens."""
        config = self.config
        (batch, groups, rows, width) = sides
        own = (config.num_layers, config.batch_size, config.num_groups, config.head_dim)
        if own != (layers, batch, groups, width):
            raise RuntimeError(f"KvCache: {config}; accepted: num_layers={layers}, "
                               f"batch_size={batch}, num_groups={groups}, head_dim={width}")
        if not 1 <= new_tokens <= rows:
            raise RuntimeError(f"KvCache: {new_tokens} new tokens of {rows} rows; accepted: 1 to "
                               f"{rows}")
        if self._position + new_tokens > config.max_seq_len:
            raise RuntimeError(f"KvCache: {new_tokens} tokens behind {self._position}; accepted: "
                               f"{config.max_seq_len} in all; try a larger max_seq_len, or reset()")

    def update(self, layer_idx, key_states, value_states, new_tokens):
        """Writes the first new_tokens rows of keys and values [B, groups, rows, d] of a block, and
        returns all keys and all values up to the last of them, in whole tiles. The last block's
        tokens count as read."""
        layers = len(self._blocks)
        if not 0 <= layer_idx < layers:
            raise RuntimeError(f"KvCache: block {layer_idx}; accepted: 0 to {layers - 1}")
        self.require(layers, key_states.shape(), new_tokens)
        places = tiled(self._position + new_tokens)
        kept = [self._written(rows, cache, new_tokens, places) for rows, cache in
                zip((key_states, value_states), self._blocks[layer_idx])]
        if layer_idx == layers - 1:
            self._position += new_tokens
        return kept

    @one_call
    def _written(self, rows, cache, new_tokens, places):
        sides = rows.shape()
        sides[2] = new_tokens
        added = ttnn.slice(rows.half(), [0, 0, 0, 0], sides)
        first = [0, 0, self._position, 0]
        last = [*sides[:2], self._position + new_tokens, sides[3]]
        ttnn.experimental.slice_write(added, cache, first, last, [1, 1, 1, 1])
        sides[2] = places
        return Tensor(ttnn.slice(cache, [0, 0, 0, 0], sides), False)
