# SPDX-License-Identifier: Apache-2.0
"""Golden functions of creation, and of ops that move numbers."""

from typing import Any, Dict

import torch

_UNCHANGED = """to_device from_device to_memory_config to_layout to_dtype typecast clone reallocate
interleaved_to_sharded sharded_to_interleaved reshard tilize from_torch""".split()
_BROADCAST = {"ADD": torch.add, "SUB": torch.sub, "MUL": torch.mul}


def _to_torch(x, *args, torch_rank=None, **kwargs):
    while torch_rank is not None and x.dim() > torch_rank:
        if x.shape[0] != 1:
            raise RuntimeError(f"{tuple(x.shape)} has no rank of {torch_rank}")
        x = x.squeeze(0)
    return x


def _pad(x, padding, value=0, *args, **kwargs):
    flat = [side for pair in reversed(list(padding)) for side in pair]
    return torch.nn.functional.pad(x, flat, mode="constant", value=value)


def _concat(tensors, dim=0, groups=1, **kwargs):
    if groups == 1:
        return torch.concat(list(tensors), dim)
    a, b = (one.chunk(groups, -1) for one in tensors)
    return torch.concat([part for pair in zip(a, b) for part in pair], -1)


def _upsample(x, scale_factor, *args, mode="nearest", **kwargs):
    scale = (scale_factor, scale_factor) if isinstance(scale_factor, int) else tuple(scale_factor)
    wide = torch.nn.Upsample(scale_factor=scale, mode=mode)(x.float().permute(0, 3, 1, 2))
    return wide.permute(0, 2, 3, 1).to(x.dtype)


def _repeat(x, shape, *args, **kwargs):
    return x.repeat(*list(shape))



def _part(x, grid, spec, num_slices, slice_index, *args, **kwargs):
    rows = x.reshape(1, 1, -1, x.shape[-1])
    return rows.chunk(num_slices, 2)[slice_index]


def _part_back(part, x, num_slices, slice_index, *args, **kwargs):
    made = x.clone().reshape(1, 1, -1, x.shape[-1])
    made.chunk(num_slices, 2)[slice_index].copy_(part.reshape(1, 1, -1, x.shape[-1]))
    return made.reshape(x.shape)


def _grid_sample(x, grid, *, mode="bilinear", padding_mode="zeros", align_corners=False,
                 use_precomputed_grid=False, batch_output_channels=False, **kwargs):
    """Samples images [n, h, w, c] at places [n, h', w', 2 k]."""
    if use_precomputed_grid:
        raise RuntimeError("the golden function takes a grid of places, not a precomputed one")
    rows, columns, times = grid.shape[1], grid.shape[2], grid.shape[3] // 2
    places = grid.float().reshape(grid.shape[0], rows, columns * times, 2)
    made = torch.nn.functional.grid_sample(x.float().permute(0, 3, 1, 2), places, mode, padding_mode,
                                           align_corners).permute(0, 2, 3, 1)
    if batch_output_channels:
        made = made.reshape(x.shape[0], rows, columns, times * x.shape[-1])
    return made.to(x.dtype)


def _arange(start=0, end=None, step=1, *args, **kwargs):
    return torch.arange(0, start, step) if end is None else torch.arange(start, end, step)


def _bcast(a, b, math_op, bcast_dim, *args, **kwargs):
    return _BROADCAST[math_op.name](a, b)


def _shape(given):
    return [int(size) for size in given]


GOLDENS: Dict[str, Any] = {name: lambda x, *args, **kwargs: x for name in _UNCHANGED}
GOLDENS.update({
    "to_torch": _to_torch,
    "zeros_like": lambda x, *args, **kwargs: torch.zeros_like(x),
    "ones_like": lambda x, *args, **kwargs: torch.ones_like(x),
    "full_like": lambda x, fill_value, *args, **kwargs: torch.full_like(x, fill_value),
    "empty_like": lambda x, *args, **kwargs: torch.empty_like(x),
    "zeros": lambda shape, *args, **kwargs: torch.zeros(_shape(shape)),
    "ones": lambda shape, *args, **kwargs: torch.ones(_shape(shape)),
    "empty": lambda shape, *args, **kwargs: torch.empty(_shape(shape)),
    "full": lambda shape, fill_value, *args, **kwargs: torch.full(_shape(shape), fill_value),
    "arange": _arange, "pad": _pad, "concat": _concat, "upsample": _upsample, "repeat": _repeat,
    "permute": lambda x, dims, *args, **kwargs: x.permute(*list(dims)).contiguous(),
    "repeat_interleave": lambda x, repeats, dim=0, *args, **kwargs: torch.repeat_interleave(
        x, repeats, dim=dim),
    "reshape": lambda x, shape, *args, **kwargs: x.reshape(_shape(shape)).contiguous(),
    "Tensor.__getitem__": lambda x, slices, *args, **kwargs: x[slices],
    "squeeze": lambda x, dim=None, *args, **kwargs: x.squeeze() if dim is None else x.squeeze(dim),
    "unsqueeze": lambda x, dim, *args, **kwargs: x.unsqueeze(dim),
    "transpose": lambda x, dim1, dim2, *args, **kwargs: x.transpose(dim1, dim2).contiguous(),
    "split": lambda x, size, dim=0, *args, **kwargs: list(torch.split(x, size, dim)),
    "chunk": lambda x, chunks, dim=0, *args, **kwargs: list(torch.chunk(x, chunks, dim)),
    "stack": lambda tensors, dim=0, *args, **kwargs: torch.stack(list(tensors), dim),
    "expand": lambda x, shape, *args, **kwargs: x.expand(*list(shape)),
    "roll": lambda x, shifts, dim=None, *args, **kwargs: torch.roll(x, shifts, dim),
    "gather": lambda x, dim, index, *args, **kwargs: torch.gather(x, dim, index.long()),
    "scatter": lambda x, dim, index, src, *args, **kwargs: torch.scatter(
        x, dim, index.long(), src),
    "bcast": _bcast, "grid_sample": _grid_sample, "interleaved_to_sharded_partial": _part,
    "sharded_to_interleaved_partial": _part_back,
})
