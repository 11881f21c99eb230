# SPDX-License-Identifier: Apache-2.0
"""Implements softmax and the normalizations."""


from .. import _arrays as arrays
from .._arrays import apply, np
from .._launch import fail, make_output, operation, program, require_device, values
from .._cores import CoreCoord, CoreGrid, CoreRange, CoreRangeSet, num_cores_to_corerangeset
from .._memory import MemoryConfig, ShardSpec
from .._types import BufferType, Layout, ShardOrientation, TensorMemoryLayout
from .data_movement import _axis
from .eltwise import _composite
from .layout import to_layout
from .reduction import _rows_op


def _softmax(name, tensor, dim, memory_config, output=None, scale=None, mask=None, causal=False):
    require_device(name, tensor)
    if tensor._layout is not Layout.TILE:
        tensor = to_layout.function(tensor, Layout.TILE)
    axis = _axis(name, tensor, dim)
    out = make_output(tensor._shape, tensor, None, None, memory_config, output)
    program(name, "softmax", [tensor], [out], axis != len(tensor._shape) - 1 or mask is not None)

    def compute(a, m=None):
        if scale is not None:
            a = a * float(scale)
        if m is not None:
            a = a + m
        elif causal:
            a = (a + causal_mask(a.shape[-2], a.shape[-1]))
        return arrays.softmax(a, axis)

    values(compute, [tensor] + ([mask] if mask is not None else []), [out])
    return out


def causal_mask(rows, columns):
    """Returns 0 for what a row may look at, else a number that softmax makes 0."""
    row = ((float(columns - rows) + np.arange(rows))).reshape([rows, 1])
    column = np.arange(columns).reshape([1, columns])
    seen = column <= row
    return np.where(seen, 0.0, -1e30)


@operation()
def softmax(input_tensor, dim=-1, *, memory_config=None, compute_kernel_config=None,
            numeric_stable=True, output_tensor=None):
    return _softmax("softmax", input_tensor, dim, memory_config, output_tensor)


@operation()
def softmax_in_place(input_tensor, dim=-1, *, program_config=None, compute_kernel_config=None,
                     numeric_stable=True):
    return _softmax("softmax_in_place", input_tensor, dim, None, input_tensor)


@operation()
def scale_mask_softmax(input_tensor, scale=None, mask=None, *, memory_config=None,
                       is_causal_mask=False, compute_kernel_config=None, numeric_stable=True):
    return _softmax("scale_mask_softmax", input_tensor, -1, memory_config, None, scale, mask)


@operation()
def scale_mask_softmax_in_place(input_tensor, scale=None, mask=None, *, program_config=None,
                                is_causal_mask=False, compute_kernel_config=None,
                                numeric_stable=False):
    return _softmax("scale_mask_softmax_in_place", input_tensor, -1, None, input_tensor, scale, mask)


@operation()
def scale_causal_mask_hw_dims_softmax_in_place(input_tensor, scale=None, mask=None, *,
                                               program_config=None, compute_kernel_config=None,
                                               numeric_stable=False):
    return _softmax("scale_causal_mask_hw_dims_softmax_in_place", input_tensor, -1, None,
                    input_tensor, scale, mask)


def _row_of(array, width):
    return array.reshape([array.size]) if array.size == width else array


def _normalized(name, tensor, epsilon, weight, bias, residual, memory_config, rms, dtype=None):
    extra = [t for t in (weight, bias, residual) if t is not None]
    require_device(name, tensor, *extra)
    if tensor._layout is not Layout.TILE:
        fail(name, "the input must be in TILE layout")
    width = tensor._shape[-1]
    if weight is not None and weight._shape.volume() != width:
        fail(name, f"weight {weight._shape} must have {width} elements, as rows of "
             f"{tensor._shape} do")
    out = make_output(tensor._shape, tensor, dtype, None, memory_config)
    _launch_normalized(name, tensor, weight, out, rms)
    given = [t is not None for t in (weight, bias, residual)]

    def compute(x, *rest):
        rest = list(rest)
        w, b, r = (rest.pop(0) if one else None for one in given)
        if r is not None:
            x = x + r
        y = arrays.normalized(x, float(epsilon), rms)
        if w is not None:
            y = (y * _row_of(w, width))
        return y if b is None else (y + _row_of(b, width))

    values(compute, [tensor] + extra, [out])
    return out


def _launch_normalized(name, tensor, weight, out, rms):
    """Launches a normalisation; shards are timed as the interleaved kernel."""
    sharded = tensor._config.is_sharded()
    if not rms:
        program(name, "layernorm", [tensor], [out], sharded)
    elif weight is None:
        program(name, "rms_norm", [tensor], [out], sharded)
    else:
        program(name, "rms_norm", [tensor, weight], [out], sharded,
                shapes=[None, [1, tensor._shape[-1]]])


@operation()
def layer_norm(input_tensor, *, epsilon=1e-12, weight=None, bias=None, residual_input_tensor=None,
               memory_config=None, program_config=None, compute_kernel_config=None, recip_tensor=None):
    return _normalized("layer_norm", input_tensor, epsilon, weight, bias, residual_input_tensor,
                       memory_config, False)


@operation()
def rms_norm(input_tensor, *, epsilon=1e-12, weight=None, bias=None, residual_input_tensor=None,
             memory_config=None, program_config=None, compute_kernel_config=None):
    return _normalized("rms_norm", input_tensor, epsilon, weight, bias, residual_input_tensor,
                       memory_config, True)


@operation()
def group_norm(input_tensor, *, num_groups, epsilon=1e-12, input_mask=None, weight=None, bias=None,
               memory_config=None, core_grid=None, dtype=None, inplace=True, output_layout=None,
               num_out_blocks=-1, **_):
    """Normalises [n, 1, h w, c], as the chip has images, by groups of channels."""
    n, _one, rows, channels = list(input_tensor._shape)
    size = channels // num_groups

    def compute(x, *rest):
        groups = x.reshape([n, rows, num_groups, size]).transpose([0, 2, 1, 3])
        flat = arrays.normalized(groups.reshape([n, num_groups, rows * size]), float(epsilon),
                                 False)
        back = flat.reshape([n, num_groups, rows, size]).transpose([0, 2, 1, 3])
        y = back.reshape([n, 1, rows, channels])
        rest = list(rest)
        if weight is not None:
            y = (y * _channels(rest.pop(0), channels))
        return y if bias is None else (y + _channels(rest.pop(0), channels))

    extra = [t for t in (weight, bias) if t is not None]
    require_device("group_norm", input_tensor)
    out = make_output(input_tensor._shape, input_tensor, dtype, output_layout, memory_config)
    program("group_norm", "layernorm", [input_tensor], [out], True)
    values(compute, [input_tensor] + extra, [out])
    return out


def _channels(array, channels):
    flat = array.reshape([array.size])
    return flat if array.size == channels else flat[:channels]


@operation()
def batch_norm(input_tensor, *, running_mean=None, running_var=None, training=False, eps=1e-05,
               momentum=0.1, weight=None, bias=None, output=None, memory_config=None,
               compute_kernel_config=None):
    given = [running_mean, running_var, weight, bias]
    extra = [t for t in given if t is not None]

    def compute(x, *rest):
        rest = list(rest)
        mean_, var_, w, b = (rest.pop(0) if t is not None else None for t in given)
        if training or mean_ is None:
            mean_ = arrays.reduce("mean", x, [0, 2, 3], True)
            var_ = arrays.reduce("var0", x, [0, 2, 3], True)
        scale = apply("rsqrt", var_ + eps)
        y = (x - mean_) * scale
        if w is not None:
            y = y * w
        return y if b is None else y + b

    require_device("batch_norm", input_tensor, *extra)
    out = make_output(input_tensor._shape, input_tensor, None, None, memory_config, output)
    program("batch_norm", "multiply", [input_tensor, input_tensor], [out], True)
    values(compute, [input_tensor] + extra, [out])
    return out


def _statistics(name, rms):
    @operation(name + "_pre_all_gather", refuses=("residual_input_tensor",))
    def before(input_tensor, *, dtype=None, residual_input_tensor=None, program_config=None,
               compute_kernel_config=None, memory_config=None, **_):
        """Returns the sums of each row's squares, and of its numbers."""
        shape = list(input_tensor._shape)[:-1] + [32 if rms else 64]

        def compute(x):
            square = arrays.reduce("sum", x * x, [-1], True)
            parts = [square] if rms else [square, arrays.reduce("sum", x, [-1], True)]
            rank = len(shape)
            wide = [arrays.padded(p, [0] * rank, [0] * (rank - 1) + [31], 0.0) for p in parts]
            return np.concatenate(wide, rank - 1)

        return _rows_op(name + "_pre_all_gather", "move", [input_tensor], shape, compute,
                        memory_config, dtype)

    @operation(name + "_post_all_gather")
    def after(input_tensor, stats, *, epsilon=1e-12, weight=None, bias=None, memory_config=None,
              compute_kernel_config=None, program_config=None, dtype=None, **_):
        """Returns the rows, normalised by the sums of all devices."""
        extra = [t for t in (weight, bias) if t is not None]
        width = input_tensor._shape[-1]
        step = 32 if rms else 64
        devices = stats._shape[-1] // step

        def compute(x, s, *rest):
            def total(offset):
                joined = arrays.reduce("sum", s[..., offset::step], [-1], True)
                return joined / (width * devices)

            square, centre = total(0), None
            if not rms:
                centre = total(32)
                square = square - centre * centre
                x = x - centre
            scale = apply("rsqrt", square + float(epsilon))
            y = x * scale
            for function, one in zip(("multiply", "add"), rest):
                y = apply(function, y, _row_of(one, width))
            return y

        require_device(name + "_post_all_gather", input_tensor, stats)
        out = make_output(input_tensor._shape, input_tensor, dtype, None, memory_config)
        program(name + "_post_all_gather", "layernorm", [input_tensor], [out], True)
        values(compute, [input_tensor, stats] + extra, [out])
        return out

    return before, after


layer_norm_pre_all_gather, layer_norm_post_all_gather = _statistics("layer_norm", False)
rms_norm_pre_all_gather, rms_norm_post_all_gather = _statistics("rms_norm", True)


def _whole_normal(name, compute):
    @operation(name)
    def call(input_tensor, *, memory_config=None):
        """Computes over each matrix, or over all, by several programs."""
        return _composite(name, [input_tensor], [("relu", 1)] * 4, compute, memory_config)

    return call


def _standard(x, dims):
    mean_ = arrays.reduce("mean", x, dims, True)
    std_ = arrays.reduce("std0", x, dims, True)
    return ((x - mean_)) / std_


normalize_hw = _whole_normal("normalize_hw", lambda x: _standard(x, [-1, -2]))
normalize_global = _whole_normal(
    "normalize_global", lambda x: _standard(x, list(range(len(x.shape)))))


def _matrix_spread(name, kind):
    @operation(name)
    def call(input_tensor, *, memory_config=None):
        """Reduces each matrix."""
        return _reduction_of_matrix(name, kind, input_tensor, memory_config)

    return call


def _reduction_of_matrix(name, kind, tensor, memory_config):
    shape = list(tensor._shape)[:-2] + [1, 1]
    return _rows_op(name, "move", [tensor], shape,
                    lambda x: arrays.reduce(kind, x, [-1, -2], True), memory_config)


var_hw = _matrix_spread("var_hw", "var0")
std_hw = _matrix_spread("std_hw", "std0")


# These are helpers of group_norm, over torch.


def create_group_norm_weight_bias_rm(input_tensor, num_channels, num_cores_x):
    """Returns a torch vector of channels as rows of 32, with zeros behind the last."""
    import torch  # A script may do without torch.

    rows = -(-num_channels // 32)
    padded = torch.zeros(rows * 32, dtype=input_tensor.dtype)
    padded[:num_channels] = input_tensor.flatten()[:num_channels]
    return padded.reshape(1, 1, rows, 32)


def create_group_norm_input_mask(num_channel, num_groups, num_cores_across_channel,
                                 data_type=None):
    """Returns ones where the columns of a tile belong to a group: [1, groups, 32, 32 n]."""
    import torch  # A script may do without torch.

    size = num_channel // num_groups
    tiles = 1 + max((size * group % 32 + size - 1) // 32 for group in range(num_groups))
    mask = torch.zeros(1, num_groups, 32, 32 * tiles)
    for group in range(num_groups):
        first = size * group % 32
        mask[0, group, :, first:first + size] = 1
    return mask


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
    down = next(n for n in range(min(most, rows), 0, -1) if rows % n == 0)
    layout = TensorMemoryLayout.HEIGHT_SHARDED if is_height_sharded else \
        TensorMemoryLayout.BLOCK_SHARDED
    cores = num_cores_to_corerangeset(down, size, True) if is_height_sharded else CoreRangeSet(
        [CoreRange(CoreCoord(0, 0), CoreCoord(down - 1, across - 1))])
    orientation = ShardOrientation.ROW_MAJOR if is_height_sharded else ShardOrientation.COL_MAJOR
    spec = ShardSpec(cores, [rows * 32 // down, num_channels // across], orientation)
    grid = CoreGrid(x=size.x, y=-(-down // size.x)) if is_height_sharded else CoreGrid(x=down,
                                                                                       y=across)
    return MemoryConfig(layout, BufferType.L1, spec), grid
