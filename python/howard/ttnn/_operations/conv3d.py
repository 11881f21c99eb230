# SPDX-License-Identifier: Apache-2.0
"""Implements experimental.conv3d, in the chip's order of films: [1, d, h, w, c]."""

import itertools

from .. import _arrays as arrays
from .._arrays import np
from .._configs import _GridConfig
from .._launch import fail, make_output, operation, program, require_device, values
from .._types import DataType, Layout


class Conv3dConfig(_GridConfig):
    """Says what a convolution in three dimensions is, and how it is divided among the cores."""

    _fields = {"dtype": DataType.BFLOAT16, "weights_dtype": DataType.BFLOAT16,
               "output_layout": Layout.ROW_MAJOR, "T_out_block": 1, "W_out_block": 1,
               "H_out_block": 1, "C_out_block": 0, "C_in_block": 0, "output_channels": None,
               "kernel_size": None, "stride": (1, 1, 1), "padding": (0, 0, 0),
               "padding_mode": "zeros", "groups": 1, "compute_with_storage_grid_size": (1, 1)}

    def __init__(self, **given):
        super().__init__(**given)
        for word in ("output_channels", "kernel_size"):
            if getattr(self, word) is None:
                raise TypeError(f"Conv3dConfig(): incompatible function arguments: no {word}")


def _require_legal(config, shape, columns):
    name = "conv3d"
    if shape[0] != 1:
        fail(name, f"the batch of {shape} must be 1")
    if config.groups != 1:
        fail(name, f"groups={config.groups}; accepted: 1")
    if config.padding[0] != 0:
        fail(name, f"padding={tuple(config.padding)}: depth has no padding")
    if config.padding_mode not in ("zeros", "replicate"):
        fail(name, f"padding_mode='{config.padding_mode}'; accepted: zeros, replicate")
    if config.output_channels % 32:
        fail(name, f"{config.output_channels} output channels: they must be a multiple of 32")
    if columns != config.output_channels:
        fail(name, f"the weight has {columns} columns for {config.output_channels} channels")


def _padded(x, config):
    sides = [(0, 0), *[(one, one) for one in config.padding], (0, 0)]
    mode = {"zeros": "constant", "replicate": "edge"}[config.padding_mode]
    return np.pad(x, sides, mode=mode)


def _patches(x, config, sizes, block):
    """Returns the windows of all places as rows, in the order of the weight's rows."""
    kernel, stride, channels = config.kernel_size, config.stride, x.shape[-1]
    parts = []
    for first in range(0, channels, block):
        for i, j, k in itertools.product(*map(range, kernel)):
            places = [slice(at, at + (size - 1) * step + 1, step)
                      for at, size, step in zip((i, j, k), sizes, stride)]
            parts.append(x[0][(*places, slice(first, first + block))].reshape(-1, block))
    return np.concatenate(parts, 1)


@operation("experimental.conv3d", unread="compute_kernel_config")
def conv3d(*, input_tensor, weight_tensor, bias_tensor=None, config, memory_config=None):
    """Computes a product of each place's window with the weights; it is timed as that product, by
    analogy."""
    inputs = [input_tensor, weight_tensor] + ([bias_tensor] if bias_tensor is not None else [])
    require_device("conv3d", *inputs)
    shape = list(input_tensor._shape)
    _require_legal(config, shape, weight_tensor._shape[-1])
    block = config.C_in_block or shape[-1]
    sizes = [(size + 2 * pad - kernel) // step + 1 for size, pad, kernel, step in zip(
        shape[1:4], config.padding, config.kernel_size, config.stride)]
    places = sizes[0] * sizes[1] * sizes[2]
    inner = weight_tensor._shape[-2]
    out = make_output([1, *sizes, config.output_channels], input_tensor, config.dtype,
                      config.output_layout, memory_config)
    windows = make_output([1, 1, places, inner], input_tensor, None, Layout.TILE)
    product = make_output([1, 1, places, config.output_channels], input_tensor, config.dtype,
                          Layout.TILE)
    program("conv3d", "matmul", [windows, weight_tensor], [product], True)

    def compute(x, weight, bias=None):
        rows = _patches(_padded(x, config), config, sizes, block)
        made = arrays.matmul(rows, weight.reshape(inner, -1)[:rows.shape[1]])
        if bias is not None:
            made = made + bias.reshape(-1)
        return made.reshape(1, *sizes, config.output_channels)

    values(compute, inputs, [out])
    return out
