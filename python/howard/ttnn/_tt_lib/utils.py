# SPDX-License-Identifier: Apache-2.0
"""Implements tt_lib.utils: helpers of tests, of PyTorch and NumPy alone."""

import struct

import numpy as np
import torch

from .. import _rounding

divup, roundup, roundup32 = _rounding.divup, _rounding.roundup, _rounding.roundup32
_nearest_32 = roundup32


def float_to_bits(x):
    return struct.unpack("=I", struct.pack("=f", x))[0]


def _padded(x, shape):
    made = torch.zeros(shape, dtype=x.dtype)
    made[tuple(slice(size) for size in x.shape)] = x
    return made


def pad_activation(x):
    """Returns the tensor with four dimensions, the last two of which are whole tiles."""
    if x.dim() == 1:
        return _padded(x.reshape(1, 1, 1, -1), (1, 1, 32, roundup32(x.shape[0])))
    if x.dim() == 2:
        batch, width = x.shape
        return _padded(x.reshape(batch, 1, 1, width), (batch, 1, 32, roundup32(width)))
    if x.dim() == 3:
        batch, height, width = x.shape
        return _padded(x.reshape(batch, 1, height, width),
                       (batch, 1, roundup32(height), roundup32(width)))
    return _padded(x, (*x.shape[:2], roundup32(x.shape[2]), roundup32(x.shape[3])))


def pad_weight(x):
    """Does the same for weights: two dimensions are those of one matrix."""
    if x.dim() == 2:
        rows, columns = x.shape
        return _padded(x.reshape(1, 1, rows, columns), (1, 1, roundup32(rows), roundup32(columns)))
    return pad_activation(x)


def tilize(x):
    """Returns the tensor as it is, once its shape is one that tiles can have."""
    if x.shape[-2] % 32 or x.shape[-1] % 32:
        raise RuntimeError(f"the last two dimensions of {tuple(x.shape)} must be whole tiles")
    return x


untilize = tilize


def tilize_to_list(x):
    return x.reshape(-1).tolist()


def tt2torch(tensor):
    return tensor.cpu().to_torch()


tt2torch_rm = tt2torch


def is_close(a, b, rtol=8e-2, atol=8e-2, max_mag=2.0, max_mag_fraction=0.02):
    """Says whether all numbers are near, and says on standard output where they are not."""
    gap = (a - b).abs()
    near = (gap < atol) | (gap < rtol * torch.max(a.abs(), b.abs()))
    allowed = max_mag * max_mag_fraction
    good = bool((near | (gap < allowed)).all())
    if not good:
        print_diff_argmax(a, b)
    return good


def print_diff_argmax(a, b, annotation=""):
    gap = (a - b).abs().reshape(-1)
    at = int(gap.argmax())
    print(f"{annotation}the largest difference is {gap[at]} at {np.unravel_index(at, a.shape)}: "
          f"{a.reshape(-1)[at]} and {b.reshape(-1)[at]}")


def convert_weights_2d_matrix(weights, w_shape):
    """Returns [K, C, R, S] as the matrix [1, 1, R*S*C, K]."""
    out, channels, rows, columns = w_shape
    return weights.reshape(w_shape).permute(2, 3, 1, 0).reshape(1, 1, rows * columns * channels,
                                                                out)


def convert_act_2d_matrix(activation, kernel_y, kernel_x, stride_y, stride_x, pad_y, pad_x):
    """Returns the windows of [N, C, H, W] as the rows of a matrix."""
    windows = torch.nn.functional.unfold(activation.float(), (kernel_y, kernel_x),
                                         padding=(pad_y, pad_x), stride=(stride_y, stride_x))
    batch, channels = activation.shape[:2]
    split = windows.reshape(batch, channels, kernel_y * kernel_x, -1).permute(0, 3, 2, 1)
    return split.reshape(1, 1, -1, kernel_y * kernel_x * channels)
