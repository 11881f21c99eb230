# SPDX-License-Identifier: Apache-2.0
"""Implements grid_sample: an image at places between its pixels, in the chip's order [n, h, w, c]."""

from .. import _convert
from .._arrays import np
from .._launch import fail, make_output, operation, program, require_device, values
from .._tensor import host_tensor
from .._types import DataType, Layout


def _corners(grid, height, width, align_corners):
    """Returns the pixel above and to the left of each place, and how far the place is from it."""
    x, y = grid[..., 0].astype(np.float64), grid[..., 1].astype(np.float64)
    if align_corners:
        x, y = (x + 1) / 2 * (width - 1), (y + 1) / 2 * (height - 1)
    else:
        x, y = ((x + 1) * width - 1) / 2, ((y + 1) * height - 1) / 2
    left, top = np.floor(x), np.floor(y)
    return top.astype(np.int64), left.astype(np.int64), y - top, x - left


def _weights(top, left, down, right, height, width):
    """Returns the weights of the four pixels around each place; those outside have none."""
    made = []
    for i, j in ((0, 0), (0, 1), (1, 0), (1, 1)):
        inside = (top + i >= 0) & (top + i < height) & (left + j >= 0) & (left + j < width)
        weight = (down if i else 1 - down) * (right if j else 1 - right)
        made.append(np.where(inside, weight, 0.0))
    return made


def _pixel(image, rows, columns):
    number = np.arange(image.shape[0]).reshape(-1, 1, 1)
    return image[number, np.clip(rows, 0, image.shape[1] - 1),
                 np.clip(columns, 0, image.shape[2] - 1)]


def _sampled(image, top, left, weights):
    made = 0
    for (i, j), weight in zip(((0, 0), (0, 1), (1, 0), (1, 1)), weights):
        made = made + _pixel(image, top + i, left + j) * weight[..., None]
    return made


def _bits(values):
    """Returns the whole numbers whose 16 bits bfloat16 numbers have."""
    return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).view(np.int16)


def _as_bfloat16(whole):
    return (whole.astype(np.int16).view(np.uint16).astype(np.uint32) << 16).view(np.float32)


def _of_prepared(image, grid):
    top, left = _bits(grid[..., 0]).astype(np.int64), _bits(grid[..., 1]).astype(np.int64)
    return _sampled(image, top, left, [grid[..., i] for i in (2, 3, 4, 5)])


def _nearest(image, grid):
    rows, columns = _bits(grid[..., 0]).astype(np.int64), _bits(grid[..., 1]).astype(np.int64)
    inside = (rows >= 0) & (rows < image.shape[1]) & (columns >= 0) & (columns < image.shape[2])
    return np.where(inside[..., None], _pixel(image, rows, columns), 0.0)


@operation()
def grid_sample(input_tensor, grid, *, mode="bilinear", padding_mode="zeros", align_corners=False,
                use_precomputed_grid=False, batch_output_channels=False, memory_config=None):
    """Returns the image at the places x, y of the grid, from -1 to 1: one program."""
    name = "grid_sample"
    require_device(name, input_tensor, grid)
    n, height, width, channels = list(input_tensor._shape)
    if padding_mode != "zeros":
        fail(name, f"padding_mode='{padding_mode}' is not there; accepted: zeros")
    if mode not in ("bilinear", "nearest") or mode == "nearest" and not use_precomputed_grid:
        fail(name, f"mode='{mode}': bilinear, or nearest with a precomputed grid")
    if channels % 32 or channels > 256:
        fail(name, f"{channels} channels: they must be a multiple of 32, 256 at most")
    size = (2 if mode == "nearest" else 6) if use_precomputed_grid else 2
    _n, rows, columns, last = list(grid._shape)
    times = last // size
    if last % size or batch_output_channels and times < 2:
        fail(name, f"the grid {grid._shape} must have {size} numbers for a place, and several "
             "places in its last dimension for batch_output_channels")
    shape = [n, rows, columns, channels * times] if batch_output_channels else [
        n, rows, columns * times, channels]
    out = make_output(shape, input_tensor, None, Layout.ROW_MAJOR, memory_config)
    program(name, "move", [input_tensor], [out], True)

    def compute(image, places):
        places = places.reshape(n, rows, columns * times, size)
        if mode == "nearest":
            made = _nearest(image, places)
        elif use_precomputed_grid:
            made = _of_prepared(image, places)
        else:
            corners = _corners(places, height, width, align_corners)
            made = _sampled(image, corners[0], corners[1], _weights(*corners, height, width))
        return made.reshape(shape)

    values(compute, [input_tensor, grid], [out])
    return out


def prepare_grid_sample_grid(grid, input_shape, *, mode="bilinear", padding_mode="zeros",
                             align_corners=False, output_dtype=None):
    """Returns pixels and weights for the places of a grid on the host: whole numbers as the bits of
    bfloat16."""
    if padding_mode != "zeros":
        fail("prepare_grid_sample_grid", f"padding_mode='{padding_mode}'; accepted: zeros")
    height, width = int(input_shape[1]), int(input_shape[2])
    places = _convert.array_of(grid)[0] if not hasattr(grid, "array") else grid.array()
    places = places.reshape(*places.shape[:-1], -1, 2)
    top, left, down, right = _corners(places, height, width, align_corners)
    if mode == "nearest":
        top, left = top + (down >= 0.5), left + (right >= 0.5)
        made = np.stack([_as_bfloat16(top), _as_bfloat16(left)], -1)
    else:
        weights = _weights(top, left, down, right, height, width)
        made = np.stack([_as_bfloat16(top), _as_bfloat16(left), *weights], -1)
    made = made.astype(np.float32).reshape(*places.shape[:-2], -1)
    return host_tensor([made], output_dtype or DataType.BFLOAT16)
