# SPDX-License-Identifier: Apache-2.0
"""Implements what callers of group_norm prepare: weights, masks and grids of whole groups."""

from .._arrays import np
from .._cores import CoreCoord, CoreGrid, CoreRange, CoreRangeSet, num_cores_to_corerangeset
from .._memory import MemoryConfig, ShardSpec
from .._tensor import host_tensor
from .._types import BufferType, DataType, Layout, ShardOrientation, TensorMemoryLayout
from .core import from_torch, to_device


def find_closest_largest_divisor(num, start_divisor):
    """Returns the largest divisor of a number that is not above another."""
    return next(size for size in range(start_divisor, 0, -1) if num % size == 0)


def get_group_norm_cores_across_channel(memory_layout, core_grid):
    """Returns how many cores have different channels of the same pixels."""
    if memory_layout is TensorMemoryLayout.BLOCK_SHARDED:
        return core_grid.y
    return 1 if memory_layout is TensorMemoryLayout.HEIGHT_SHARDED else core_grid.x * core_grid.y


def create_group_norm_weight_bias_rm(input_tensor, num_channels, num_cores_x):
    """Returns a torch vector of channels as rows of 32, with zeros behind those of each core."""
    import torch  # A script may do without torch.

    each = num_channels // num_cores_x
    parts = input_tensor.flatten()[:num_channels].reshape(num_cores_x, each)
    parts = torch.nn.functional.pad(parts, (0, -each % 32))
    return parts.reshape(1, 1, -1, 32)


def _mask(num_channel, num_groups, num_cores_across_channel, data_type, inside):
    size = num_channel // num_groups
    groups_of_core = num_groups // num_cores_across_channel
    starts = [size * (group % max(1, groups_of_core)) % 32 for group in range(num_groups)]
    tiles = max(-(-(start + size) // 32) for start in starts)
    mask = np.full((1, num_groups, 32, 32 * tiles), 1.0 - inside, np.float32)
    for group, start in enumerate(starts):
        mask[0, group, :, start:start + size] = inside
    return host_tensor([mask], data_type or DataType.BFLOAT16, Layout.TILE)


def create_group_norm_input_mask(num_channel, num_groups, num_cores_across_channel, data_type=None):
    """Returns ones where the columns of a tile belong to a group: [1, groups, 32, 32 n]."""
    return _mask(num_channel, num_groups, num_cores_across_channel, data_type, 1.0)


def create_group_norm_input_negative_mask(num_channel, num_groups, num_cores_across_channel,
                                          data_type=None):
    """Returns zeros where that mask has ones, and ones elsewhere."""
    return _mask(num_channel, num_groups, num_cores_across_channel, data_type, 0.0)


def create_group_norm_reciprocals(N, C, H, W, num_groups, core_grid):
    """Returns 1/1, 1/2 and so on to 1 / the numbers of a group on each core, for torch."""
    import torch  # A script may do without torch.

    cores = core_grid.x * core_grid.y
    count = -(-N * H * W * (C // num_groups) // cores)
    return (1.0 / torch.arange(1, count + 1)).repeat(cores, 1)


def dram_group_norm_virtual_columns(core_grid, num_channels, num_groups):
    """Returns over how many columns of cores the channels of an interleaved tensor can go."""
    most = min(core_grid.x, num_groups)
    return next((size for size in range(most, 0, -1)
                 if num_channels % size == 0 and num_channels // size % 32 == 0), 1)


def dram_group_norm_params_from_torch(torch_params, channels_per_device, groups_per_device, device,
                                      mesh_axis=None, core_grid=None, return_mask=True, dtype=None):
    """Returns weights as group_norm of an interleaved tensor takes them, and the mask of groups."""
    grid = core_grid or device.core_grid
    columns = dram_group_norm_virtual_columns(grid, channels_per_device, groups_per_device)
    many = isinstance(torch_params, (list, tuple))
    if mesh_axis is not None:
        raise RuntimeError(f"dram_group_norm_params_from_torch: mesh_axis={mesh_axis!r} is not computed "
                           "here: give each device its own channels")
    made = [from_torch(create_group_norm_weight_bias_rm(one, channels_per_device, columns),
                       dtype or DataType.BFLOAT16, layout=Layout.ROW_MAJOR, device=device)
            for one in (torch_params if many else [torch_params])]
    params = type(torch_params)(made) if many else made[0]
    if not return_mask:
        return params
    mask = create_group_norm_input_mask(channels_per_device, groups_per_device, columns, dtype)
    return params, to_device(mask, device)


def determine_expected_group_norm_sharded_config_and_grid_size(
        *, device, num_channels, num_groups, input_nhw, is_height_sharded, is_row_major=False):
    """Returns shards whose columns hold whole groups, and the grid that has them."""
    size = device.compute_with_storage_grid_size()
    across = 1
    if not is_height_sharded:
        least = 8 if is_row_major else 32
        across = next((n for n in range(size.y, 0, -1) if num_channels % (n * least) == 0
                       and num_groups % n == 0), 1)
    most = size.x * size.y if is_height_sharded else size.x
    rows = -(-input_nhw // 32)
    down = find_closest_largest_divisor(rows, min(most, rows))
    layout = TensorMemoryLayout.HEIGHT_SHARDED if is_height_sharded else \
        TensorMemoryLayout.BLOCK_SHARDED
    cores = num_cores_to_corerangeset(down, size, True) if is_height_sharded else CoreRangeSet(
        [CoreRange(CoreCoord(0, 0), CoreCoord(down - 1, across - 1))])
    orientation = ShardOrientation.ROW_MAJOR if is_height_sharded else ShardOrientation.COL_MAJOR
    spec = ShardSpec(cores, [rows * 32 // down, num_channels // across], orientation)
    grid = CoreGrid(x=size.x, y=-(-down // size.x)) if is_height_sharded else CoreGrid(x=down,
                                                                                       y=across)
    return MemoryConfig(layout, BufferType.L1, spec), grid
