# SPDX-License-Identifier: Apache-2.0
"""Implements TTML's attention, whose mask is a tensor of the script."""

import numpy as np

from howard.ttnn import _arrays as arrays
from howard.ttnn._launch import engine, program, values
from howard.ttnn._operations.transformer import scored

from ._plans import fresh


class Attention:
    """TTML's attention in one program forward and two backward. Where each place sees those before it, also
    by a mask, the host engine computes it block by block; NumPy computes other masks as a whole."""

    def __init__(self, q, k, v, mask, scale):
        self.inputs, self.mask, self._scale = [q, k, v], mask, scale
        self._told = {"causal": mask is None, "scale": float(scale)}
        batch, heads, rows, _ = q.shape
        self.statistics = [fresh([batch, heads, rows, 1], q), fresh([batch, heads, rows, 1], q)]
        self.out = fresh([batch, heads, rows, v.shape[-1]], q)
        program("sdpa_fw", "sdpa_fw", self.inputs, [self.out, *self.statistics], **self._told)
        values(self._forward, self.inputs + self._masks(), [self.out])

    def _masks(self):
        return [] if self.mask is None else [self.mask]

    def _computed(self, kernel, inputs, outs, given):
        return engine(kernel, inputs, outs, causal=True, scale=float(self._scale))(*given)

    def _engines(self, *given):
        """Returns the result, and the numbers of its rows, before they are rounded."""
        return self._computed("sdpa_fw", self.inputs, [self.out, *self.statistics], given)

    def _shares(self, q, k, mask):
        return arrays.softmax(np.where(mask != 0, scored(q, k, self._scale), np.float32(-1e9)), -1)

    def _forward(self, q, k, v, *mask):
        if _is_causal(*mask):
            return self._engines(q, k, v)[0]
        return arrays.matmul(_by_groups(self._shares(q, k, *mask), v), v).reshape([*q.shape[:3], -1])

    def backward(self, dout):
        q, k, v = self.inputs
        operands = [q, k, v, self.out, dout, *self.statistics]
        dq, dk, dv = fresh(q.shape, q), fresh(k.shape, k), fresh(v.shape, v)
        program("sdpa_q_bw", "sdpa_bw_q", operands, [dq], **self._told)
        program("sdpa_kv_bw", "sdpa_bw_kv", operands, [dk, dv], **self._told)

        def causal(*given):
            out, *statistics = self._engines(*given[:3])
            every = [*given[:3], out, given[3], *statistics]
            return (self._computed("sdpa_bw_q", operands, [dq], every)
                    + self._computed("sdpa_bw_kv", operands, [dk, dv], every))

        values(lambda *given: causal(*given[:4]) if _is_causal(*given[4:]) else self._masked(*given),
               [q, k, v, dout] + self._masks(), [dq, dk, dv])
        return [dq, dk, dv]

    def _masked(self, q, k, v, dout, mask):
        share = self._shares(q, k, mask)
        dout = _by_groups(dout, v)
        dshare = arrays.matmul(dout, v.swapaxes(-1, -2)).reshape(share.shape)
        dscore = share * (dshare - (dshare * share).sum(-1, keepdims=True)) * self._scale
        share, dscore = _by_groups(share, v), _by_groups(dscore, k)
        return [arrays.matmul(dscore, k).reshape(q.shape),
                arrays.matmul(dscore.swapaxes(-1, -2), _by_groups(q, k)),
                arrays.matmul(share.swapaxes(-1, -2), dout)]


def _is_causal(mask=None):
    """Says whether each place sees itself and those before it: without a mask it does."""
    if mask is None:
        return True
    rows, columns = mask.shape[-2:]
    return mask.size == rows * columns and np.array_equal(mask.reshape(rows, columns) != 0, np.tri(rows, columns))


def _by_groups(x, keys):
    """Returns the rows of the heads that share one of keys behind each other."""
    return x.reshape([*keys.shape[:2], -1, x.shape[-1]])
