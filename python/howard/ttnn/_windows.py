# SPDX-License-Identifier: Apache-2.0
"""Describes windows that pass over images, and how ttnn deals images out over cores."""

from ._cores import _grid_set, num_cores_to_corerangeset, CoreGrid
from ._launch import fail, program
from ._memory import MemoryConfig, ShardSpec
from ._tensor import device_tensor
from ._types import BufferType, DataType, Layout, TensorMemoryLayout

_LAYOUTS = {TensorMemoryLayout.HEIGHT_SHARDED: "height", TensorMemoryLayout.WIDTH_SHARDED: "width",
            TensorMemoryLayout.BLOCK_SHARDED: "block"}

# What ttnn leaves of a core's L1 to the operands and buffers of one op.
L1_OF_A_CORE = 1_395_424


def pair(value):
    return (value, value) if isinstance(value, int) else tuple(int(one) for one in value)


def paddings(padding):
    """Returns (top, bottom, left, right)."""
    padding = pair(padding)
    if len(padding) == 4:
        return padding
    return padding[0], padding[0], padding[1], padding[1]


def _stops(side, before, after, window, stride, dilation, ceil):
    """Returns how often a window stops, and how far the last stop reaches beyond the padding."""
    room = side + before + after - dilation * (window - 1) - 1
    if room < 0:
        return 0, 0
    stops = room // stride + 1
    if ceil and room % stride:
        # PyTorch drops a last stop that would begin behind the image and its first padding.
        if stops * stride < side + before:
            return stops + 1, stops * stride - room
    return stops, 0


class Window:
    """Holds the sizes of images and of a window, as the chip's ops on images take them."""

    def __init__(self, name, batch, height, width, kernel, stride, padding, dilation=1,
                 ceil_mode=False):
        self.batch, self.height, self.width = int(batch), int(height), int(width)
        self.kernel, self.stride, self.dilation = pair(kernel), pair(stride), pair(dilation)
        self.padding = paddings(padding)
        top, bottom, left, right = self.padding
        if min(self.kernel + self.stride + self.dilation) < 1 or min(self.padding) < 0:
            fail(name, f"kernel_size={self.kernel}, stride={self.stride}, dilation={self.dilation}"
                 f" must be positive and padding={self.padding} not negative")
        self.rows, below = _stops(self.height, top, bottom, self.kernel[0], self.stride[0],
                                  self.dilation[0], ceil_mode)
        self.columns, beside = _stops(self.width, left, right, self.kernel[1], self.stride[1],
                                      self.dilation[1], ceil_mode)
        self.beyond = (below, beside)
        if self.rows < 1 or self.columns < 1:
            fail(name, f"images of {height}x{width} are too small for a window of "
                 f"{self.kernel[0]}x{self.kernel[1]} with padding {self.padding}")

    @property
    def places_in(self):
        return self.batch * self.height * self.width

    @property
    def places_out(self):
        return self.batch * self.rows * self.columns

    def is_pointwise(self):
        """Returns whether each stop sees its own place only."""
        return self.kernel == (1, 1) and self.stride == (1, 1) and not any(self.padding)

    def attributes(self):
        return {"images": self.batch, "height": self.height, "width": self.width,
                "window": list(self.kernel), "stride": list(self.stride),
                "dilation": list(self.dilation), "padding": list(self.padding),
                "beyond": list(self.beyond)}

    def part(self, count):
        """Returns the window over one of `count` parts of the rows of the result; what it sees of
        the padding is part of the image."""
        made = object.__new__(Window)
        made.__dict__.update(self.__dict__)
        made.rows = -(-self.rows // count)
        made.height = (made.rows - 1) * self.stride[0] + self.dilation[0] * (self.kernel[0] - 1) + 1
        made.padding = (0, 0, *self.padding[2:])
        return made


def require_images(name, tensor, window, channels):
    """Raises an error unless the tensor has a row of channels for each place."""
    given = tensor._shape[-1] if len(tensor._shape) else 1
    if given < channels or tensor._shape.volume() != window.places_in * given:
        fail(name, f"{list(tensor._shape)} does not have {channels} channels for each of the "
             f"{window.batch}x{window.height}x{window.width} places")
    return given


def _cores_for(units, most):
    """Returns over how many cores ttnn deals units out: the most that leave none without work."""
    cores = min(most, units)
    while cores > 1 and -(-units // cores) * (cores - 1) >= units:
        cores -= 1
    return cores


def _common_divisor(a, b, most):
    return max(c for c in range(1, most + 1) if a % c == 0 and b % c == 0)


class Parallel:
    """Says how places and channels are dealt out over cores."""

    def __init__(self, layout, cores, channel_cores, grid, orientation=None):
        self.layout, self.cores, self.channel_cores = layout, cores, channel_cores
        self.grid = grid
        self.orientation = orientation

    @staticmethod
    def choose(layout, places, channels, out_channels, grid):
        """Follows ttnn, which never leaves a core without work."""
        tiles = -(-places // 32)
        if layout is TensorMemoryLayout.HEIGHT_SHARDED:
            return Parallel(layout, _cores_for(tiles, grid.x * grid.y), 1, grid)
        parts, out_tiles = -(-channels // 16), -(-out_channels // 32)
        if layout is TensorMemoryLayout.BLOCK_SHARDED:
            return Parallel(layout, _cores_for(tiles, grid.y),
                            _common_divisor(parts, out_tiles, grid.x), grid)
        return Parallel(layout, 1, _common_divisor(-(-channels // 32), out_tiles, grid.x * grid.y),
                        grid)

    @staticmethod
    def of(config, grid):
        """Returns how a tensor with this memory configuration is dealt out."""
        layout, spec = config.memory_layout, config.shard_spec
        cores = spec.grid.num_cores()
        if layout is TensorMemoryLayout.HEIGHT_SHARDED:
            return Parallel(layout, cores, 1, grid, spec.orientation)
        if layout is TensorMemoryLayout.WIDTH_SHARDED:
            return Parallel(layout, 1, cores, grid, spec.orientation)
        size = spec.grid.bounding_box().grid_size()
        turned = chip_column_major(spec)
        return Parallel(layout, size.x if turned else size.y, size.y if turned else size.x, grid,
                        spec.orientation)

    def attributes(self):
        return {"cores": self.cores, "channel_cores": self.channel_cores}

    def sharding(self):
        return _LAYOUTS[self.layout]

    def shard(self, places, channels, layout):
        """Returns the part of places and channels that a core has."""
        if layout is Layout.TILE:
            rows = -(-(-(-places // 32)) // self.cores) * 32
            columns = -(-(-(-channels // 32)) // self.channel_cores) * 32
        else:
            rows, columns = -(-places // self.cores), -(-channels // self.channel_cores)
        return [rows, columns]

    def config(self, places, channels, layout):
        """Returns the memory configuration of a tensor that is dealt out in this way."""
        if self.layout is TensorMemoryLayout.BLOCK_SHARDED:
            cores = _grid_set(CoreGrid(x=self.channel_cores, y=self.cores))
        else:
            cores = num_cores_to_corerangeset(self.cores * self.channel_cores, self.grid, True)
        return MemoryConfig(self.layout, BufferType.L1,
                            ShardSpec(cores, self.shard(places, channels, layout)))


def chip_column_major(spec):
    return spec.orientation is not None and spec.orientation.name == "COL_MAJOR"


def shards_for(tensor, parallel, places, channels):
    """Returns the tensor in shards, moved if they are others."""
    config = tensor._config
    if config.memory_layout is parallel.layout and config.buffer_type is BufferType.L1 and \
            config.shard_spec is not None and \
            Parallel.of(config, parallel.grid).attributes() == parallel.attributes():
        return tensor
    wanted = parallel.config(places, channels, tensor._layout)
    made = device_tensor([1, 1, places, channels], tensor._dtype, tensor._layout, wanted,
                         tensor._device, topology=tensor._topology)
    moved = "reshard" if config.is_sharded() else "interleaved_to_sharded"
    program(moved, "copy", [tensor], [made], shapes=[[1, 1, places, channels]])
    return made


def with_halo(tensor, window, parallel, channels, reallocates=False):
    """Launches the program that brings to each core the rows that its stops of the window see, and
    returns them. They are in L1 until the caller lets go of them."""
    places = window.places_in
    dtype = DataType.FLOAT32 if tensor._dtype is DataType.FLOAT32 else DataType.BFLOAT16
    made = device_tensor([1, 1, places, channels], dtype, Layout.ROW_MAJOR,
                         parallel.config(places, channels, Layout.ROW_MAJOR), tensor._device,
                         topology=tensor._topology)
    program("halo", "halo", [tensor], [made], shapes=[[1, 1, places, channels]],
            **window.attributes(), **parallel.attributes())
    if reallocates:
        program("move", "copy", [made], [made])
    return made
