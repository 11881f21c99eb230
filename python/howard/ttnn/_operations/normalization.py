# SPDX-License-Identifier: Apache-2.0
"""Implements softmax and the normalizations."""

import math

from .. import _arrays as arrays
from .._arrays import apply, np
from .._launch import fail, make_output, operation, program, require_config, require_device, values
from .._cores import CoreCoord, CoreRange, CoreRangeSet
from .._memory import MemoryConfig, ShardSpec
from .._tensor import device_tensor
from .._types import BufferType, DataType, Layout, TensorMemoryLayout
from .data_movement import _axis
from .eltwise import _composite
from .layout import to_layout
from .reduction import _reduce_programs, _rows_op


def _wide(tensor, compute):
    """Says whether a kernel adds up in fp32: as the caller says, else if the numbers are fp32."""
    if compute is None:
        return tensor._dtype is DataType.FLOAT32
    return bool(compute.fp32_dest_acc_en)


def _softmax(name, tensor, dim, memory_config, output=None, scale=None, mask=None,
             causal_mask_rows=False, compute=None, stable=True, config=None):
    """Computes softmax(x scale + mask). Unless each row has its own in it, the mask is one row, the
    first of its tile. Values are those of the stable one; the kernel has the fast exponential unless
    the caller's arithmetic says otherwise."""
    require_device(name, tensor)
    require_config(name, config, tensor)
    if mask is None and scale is not None and "mask" in name:
        fail(name, "Scale value must not be set when mask is not present")
    if tensor._layout is not Layout.TILE:
        tensor = to_layout.function(tensor, Layout.TILE)
    axis = _axis(name, tensor, dim)
    inputs = [tensor] + ([mask] if mask is not None else [])
    shape = None if mask is None else _mask_shape(name, tensor, mask, causal_mask_rows)
    out = make_output(tensor._shape, tensor, None, None, memory_config, output)
    program(name, "softmax", [tensor], [out], axis != len(tensor._shape) - 1,
            stable=bool(stable), masked=mask is not None, fp32_accumulation=_wide(tensor, compute),
            approximate=compute is None or bool(compute.math_approx_mode))

    def compute(a, m=None):
        if scale is not None:
            a = a * float(scale)
        if m is not None:
            m = m.reshape(shape)
            if causal_mask_rows and m.shape[-2] != a.shape[-2]:
                m = np.tile(m, (a.shape[-2] // m.shape[-2], 1))  # The rows of each head.
            a = a + (m if causal_mask_rows else m[..., :1, :])
        return arrays.softmax(a, axis)

    values(compute, inputs, [out])
    return out


def _mask_shape(name, tensor, mask, rows):
    """Returns the shape of a mask for a tensor: rows of the tensor's width, which row-major masks
    hold as sticks of 32."""
    width, shape = tensor._shape[-1], list(mask._shape)
    if mask._layout is Layout.ROW_MAJOR and shape[-1] == 32 != width and len(shape) > 1:
        shape = shape[:-2] + [shape[-2] * 32 // width if rows else 1, width]
    high = shape[-2] if len(shape) > 1 else 1
    heads = tensor._shape[-2] % high == 0 and tensor.is_sharded()
    fits = shape[-1] == width and (
        high == tensor._shape[-2] or heads and high >= width if rows else high in (1, 32))
    if math.prod(shape) != mask._shape.volume() or not fits:
        fail(name, f"the mask {mask._shape} must have rows of {width}: "
             + (f"{tensor._shape[-2]} of them with is_causal_mask" if rows else
                "one, or one padded to 32; with is_causal_mask=True one for each row"))
    return shape


@operation()
def softmax(input_tensor, dim=-1, *, memory_config=None, output_tensor=None,
            compute_kernel_config=None, numeric_stable=True):
    return _softmax("softmax", input_tensor, dim, memory_config, output_tensor,
                    compute=compute_kernel_config, stable=numeric_stable)


@operation()
def softmax_in_place(input_tensor, dim=-1, *, program_config=None, compute_kernel_config=None,
                     numeric_stable=True):
    return _softmax("softmax_in_place", input_tensor, dim, None, input_tensor,
                    compute=compute_kernel_config, stable=numeric_stable, config=program_config)


@operation()
def scale_mask_softmax(input_tensor, scale=None, mask=None, *, memory_config=None,
                       is_causal_mask=False, compute_kernel_config=None, numeric_stable=True):
    return _softmax("scale_mask_softmax", input_tensor, -1, memory_config, None, scale, mask,
                    is_causal_mask, compute_kernel_config, numeric_stable)


@operation()
def scale_mask_softmax_in_place(input_tensor, scale=None, mask=None, *, program_config=None,
                                is_causal_mask=False, compute_kernel_config=None,
                                numeric_stable=False):
    return _softmax("scale_mask_softmax_in_place", input_tensor, -1, None, input_tensor, scale, mask,
                    is_causal_mask, compute_kernel_config, numeric_stable, program_config)


@operation()
def scale_causal_mask_hw_dims_softmax_in_place(input_tensor, scale=None, mask=None, *,
                                               program_config=None, compute_kernel_config=None,
                                               numeric_stable=False):
    return _softmax("scale_causal_mask_hw_dims_softmax_in_place", input_tensor, -1, None,
                    input_tensor, scale, mask, True, compute_kernel_config, numeric_stable,
                    program_config)


def _require_row(name, word, tensor, width):
    """Requires a weight of one row: tiles of the width, with what is not read below it, or rows of 32
    that hold it one after the other."""
    shape = tensor._shape
    if tensor._layout is Layout.ROW_MAJOR:
        if shape[-1] != 32 or shape.volume() != width:
            fail(name, f"{word} {shape} in ROW_MAJOR layout must be rows of 32 that hold {width}: "
                 f"reshape it to [{width // 32}, 32]")
        return
    high = shape[-2] if len(shape) > 1 else 1
    if shape[-1] != width or high > 32 or shape.volume() != width * high:
        fail(name, f"{word} {shape} must be a row of {width}, of one tile row at most")


def _row_of(array, width):
    """Returns the row of a weight, the first of a tile."""
    return array.reshape([-1])[:width]


def _normalized(name, tensor, epsilon, weight, bias, residual, memory_config, rms, config,
                compute_config):
    extra = [t for t in (weight, bias, residual) if t is not None]
    require_device(name, tensor, *extra)
    require_config(name, config, tensor)
    if tensor._layout is not Layout.TILE:
        fail(name, "the input must be in TILE layout")
    width = tensor._shape[-1]
    for word, one in (("weight", weight), ("bias", bias)):
        if one is not None:
            _require_row(name, word, one, width)
    out = make_output(tensor._shape, tensor, None, None, memory_config)
    _launch_normalized(name, tensor, weight, out, rms, sums=residual is not None,
                       fp32_accumulation=_wide(tensor, compute_config))
    given = [t is not None for t in (weight, bias, residual)]

    def compute(x, *rest):
        rest = list(rest)
        w, b, r = (rest.pop(0) if one else None for one in given)
        if r is not None:
            x = x + r
        y = arrays.normalized(x, float(epsilon), rms)
        if w is not None:
            y = y * _row_of(w, width)
        return y if b is None else y + _row_of(b, width)

    values(compute, [tensor] + extra, [out])
    return out


def _launch_normalized(name, tensor, weight, out, rms, **attributes):
    """Launches a normalisation."""
    if not rms:
        program(name, "layernorm", [tensor], [out], **attributes)
    elif weight is None:
        program(name, "rms_norm", [tensor], [out], **attributes)
    else:
        program(name, "rms_norm", [tensor, weight], [out],
                shapes=[None, [1, tensor._shape[-1]]], **attributes)


@operation(unread="recip_tensor")
def layer_norm(input_tensor, *, epsilon=1e-12, weight=None, bias=None, residual_input_tensor=None,
               memory_config=None, program_config=None, compute_kernel_config=None):
    return _normalized("layer_norm", input_tensor, epsilon, weight, bias, residual_input_tensor,
                       memory_config, False, program_config, compute_kernel_config)


@operation()
def rms_norm(input_tensor, *, epsilon=1e-12, weight=None, bias=None, residual_input_tensor=None,
             memory_config=None, program_config=None, compute_kernel_config=None):
    return _normalized("rms_norm", input_tensor, epsilon, weight, bias, residual_input_tensor,
                       memory_config, True, program_config, compute_kernel_config)


def _require_groups(tensor, num_groups, core_grid, inplace, dtype, output_layout):
    """Makes ttnn's checks of group_norm."""
    shape = tensor._shape
    if len(shape) != 4:
        fail("group_norm", f"the input must have rank 4, not {shape}")
    if core_grid is None:
        fail("group_norm", "Automatic determination of grid size not supported: core_grid=ttnn.CoreGrid")
    size = tensor._device.compute_with_storage_grid_size()
    if core_grid.x > size.x or core_grid.y > size.y:
        fail("group_norm", f"core_grid {core_grid.x}x{core_grid.y} must lie in the device's "
             f"{size.x}x{size.y} cores")
    if tensor._config.memory_layout is TensorMemoryLayout.WIDTH_SHARDED:
        fail("group_norm", "the input must not be width-sharded")
    if shape[-1] % num_groups:
        fail("group_norm", f"{shape[-1]} channels cannot be divided into {num_groups} groups")
    if math.prod(list(shape)[:-1]) % 32:
        fail("group_norm", f"the rows of {shape} must be a multiple of 32")
    if inplace and (tensor._layout is Layout.TILE or output_layout not in (None, tensor._layout)):
        fail("group_norm", "with inplace=True input and result must be in rows: inplace=False")
    if inplace and dtype not in (None, tensor._dtype):
        fail("group_norm", f"with inplace=True the result has the input's type, not {dtype}")


def _require_mask(mask, num_groups, size):
    """Requires a mask of group_norm to let through as many columns as a group has."""
    kept = mask.shape[:2] == (1, num_groups) and mask.shape[2] == 32 and mask.shape[3] % 32 == 0 and \
        (mask.sum(-1) == size).all()
    if not kept:
        fail("group_norm", f"input_mask {list(mask.shape)} must be [1, {num_groups}, 32, 32 n] with "
             f"{size} ones in each row: ttnn.create_group_norm_input_mask")


@operation(unread="reciprocals num_out_blocks negative_mask use_welford")
def group_norm(input_tensor, *, num_groups, epsilon=1e-12, input_mask=None, weight=None, bias=None,
               memory_config=None, core_grid=None, dtype=None, inplace=True, output_layout=None,
               compute_kernel_config=None):
    """Normalises [n, 1, h w, c], as the chip has images, by groups of channels."""
    require_device("group_norm", input_tensor)
    _require_groups(input_tensor, num_groups, core_grid, inplace, dtype, output_layout)
    n, one, rows, channels = list(input_tensor._shape)
    size, rows = channels // num_groups, one * rows
    extra = [t for t in (input_mask, weight, bias) if t is not None]
    given = [t is not None for t in (input_mask, weight, bias)]

    def compute(x, *rest):
        rest = list(rest)
        mask, w, b = (rest.pop(0) if one else None for one in given)
        if mask is not None:
            _require_mask(mask, num_groups, size)
        groups = x.reshape([n, rows, num_groups, size]).transpose([0, 2, 1, 3])
        flat = arrays.normalized(groups.reshape([n, num_groups, rows * size]), float(epsilon),
                                 False)
        back = flat.reshape([n, num_groups, rows, size]).transpose([0, 2, 1, 3])
        y = back.reshape([n, one, rows // one, channels])
        if w is not None:
            y = y * _channels(w, channels, cores)
        return y if b is None else y + _channels(b, channels, cores)

    spec = input_tensor._config.shard_spec
    cores = [-(-channels // spec.shape[1])] if spec is not None else []
    out = make_output(input_tensor._shape, input_tensor, dtype, output_layout, memory_config,
                      input_tensor if inplace else None)
    images = [[n, 1, rows, channels]]
    program("group_norm", "group_norm", [input_tensor], [out], shapes=images, out_shapes=images,
            groups=num_groups, core_grid=[core_grid.x, core_grid.y],
            fp32_accumulation=_wide(input_tensor, compute_kernel_config))
    values(compute, [input_tensor] + extra, [out])
    return out


def _channels(array, channels, shared):
    """Returns one number for each channel of a weight, which holds the channels of each core in rows
    of 32. `shared` has how many cores share the channels; where that is not known or does not fit the
    weight, they are the fewest that do."""
    flat = array.reshape([array.size])
    for cores in (*shared, *range(1, channels + 1)):
        each = channels // cores
        if channels % cores == 0 and cores * -(-each // 32) * 32 == flat.size:
            return flat.reshape([cores, -1])[:, :each].reshape([channels])
    if array.shape[-1] == channels:
        return flat[:channels]
    return fail("group_norm", f"a weight of {list(array.shape)} has no rows of 32 for {channels} "
                "channels: ttnn.create_group_norm_weight_bias_rm")


def _require_batch(tensor, running, training):
    if len(tensor._shape) < 4:
        fail("batch_norm", f"the input must have rank 4 at least, not {tensor._shape}")
    if tensor._layout is not Layout.TILE or tensor._config.is_sharded() or \
            tensor._dtype not in (DataType.BFLOAT16, DataType.FLOAT32):
        fail("batch_norm", "the input must be interleaved tiles of bfloat16 or float32")
    if not training and any(one is None for one in running):
        fail("batch_norm", "running_mean and running_var must be defined in evaluation mode")


def _launch_batch_statistics(tensor, small):
    """Launches the programs of the mean, and of the mean of squares less the mean's square."""
    square = device_tensor(tensor._shape, tensor._dtype, Layout.TILE, None, tensor._device)
    program("square", "square", [tensor], [square])
    for one in (tensor, square):
        _reduce_programs("mean", "mean", one, [0, 2, 3], small)
    program("square", "square", [small], [small])
    program("subtract", "subtract", [small, small], [small])


@operation(unread="compute_kernel_config")
def batch_norm(input_tensor, *, running_mean=None, running_var=None, training=False, eps=1e-05,
               momentum=0.1, weight=None, bias=None, output=None, memory_config=None):
    """Normalises [n, c, h, w] by channels: with the batch's own statistics, which then enter the
    running ones in their places, or with the running ones."""
    running = [running_mean, running_var]
    extra = [t for t in (*running, weight, bias) if t is not None]
    given = [t is not None for t in (*running, weight, bias)]
    require_device("batch_norm", input_tensor, *extra)
    _require_batch(input_tensor, running, training)
    out = make_output(input_tensor._shape, input_tensor, None, None, memory_config, output)
    updated = [t for t in running if t is not None and training]
    numbers = running
    if training:
        small = device_tensor([1, input_tensor._shape[1], 1, 1], input_tensor._dtype, Layout.TILE,
                              None, input_tensor._device)
        _launch_batch_statistics(input_tensor, small)
        if updated:
            program("running_statistics", "multiply", [small, updated[0]], updated[:1], True)
        numbers = [small, small]
    program("batch_norm", "batch_norm",
            [input_tensor, *numbers, *[t for t in (weight, bias) if t is not None]], [out])

    def compute(x, *rest):
        rest = list(rest)
        mean_, var_, w, b = (rest.pop(0) if one else None for one in given)
        now = []
        if training:
            batch = arrays.reduce("mean", x, [0, 2, 3], True), arrays.reduce("var0", x, [0, 2, 3], True)
            now = [(1 - momentum) * old + momentum * new
                   for old, new in zip((mean_, var_), batch) if old is not None]
            mean_, var_ = batch
        y = (x - mean_) * apply("rsqrt", var_ + eps)
        if w is not None:
            y = y * w
        return [y if b is None else y + b, *now]

    values(compute, [input_tensor] + extra, [out] + updated)
    return out


def _statistics_in_columns(parts, shape):
    """Returns numbers of rows, each in the first column of a tile."""
    rank = len(shape)
    wide = [arrays.padded(p, [0] * rank, [0] * (rank - 1) + [31], 0.0) for p in parts]
    return np.concatenate(wide, rank - 1)


def _on_one_core(shape):
    grid = CoreRangeSet([CoreRange(CoreCoord(0, 0), CoreCoord(0, 0))])
    return MemoryConfig(TensorMemoryLayout.WIDTH_SHARDED, BufferType.L1,
                        ShardSpec(grid, [32, shape[-1]]))


_BEFORE = "compute_kernel_config distributed_program_config use_2d_core_grid"


def _statistics(name, rms):
    @operation(name + "_pre_all_gather", unread=_BEFORE)
    def before(input_tensor, *, dtype=DataType.BFLOAT16, residual_input_tensor=None,
               program_config=None, memory_config=None):
        """Returns the sums of each row's squares, and of its numbers; of shards their means, after
        the residual was added in the input's place. Of interleaved tensors ttnn adds none."""
        require_device(name + "_pre_all_gather", input_tensor)
        require_config(name + "_pre_all_gather", program_config, input_tensor)
        shape = list(input_tensor._shape)[:-1] + [32 if rms else 64]
        sharded = input_tensor.is_sharded()
        if sharded and math.prod(shape[:-1]) > 32:
            fail(name + "_pre_all_gather", f"shards must be of one row of tiles (batch size = 32), not "
                 f"{input_tensor._shape}")
        kind = "mean" if sharded else "sum"
        residual = residual_input_tensor if sharded else None
        if residual is not None:
            require_device(name + "_pre_all_gather", input_tensor, residual)
            values(lambda x, r: x + r, [input_tensor, residual], [input_tensor])

        def compute(x):
            parts = [arrays.reduce(kind, x * x, [-1], True)]
            if not rms:
                total = arrays.reduce(kind, x, [-1], True)
                parts = [total, parts[0]] if sharded else [parts[0], total]
            return _statistics_in_columns(parts, shape)

        return _rows_op(name + "_pre_all_gather", "move",
                        [input_tensor] + ([residual] if residual is not None else []), shape,
                        lambda x, *_r: compute(x),
                        memory_config or (_on_one_core(shape) if sharded else None), dtype)

    @operation(name + "_post_all_gather", unread=_BEFORE)
    def after(input_tensor, stats, *, epsilon=1e-12, weight=None, bias=None, memory_config=None,
              program_config=None, dtype=None):
        """Returns the rows, normalised by the statistics of all devices: sums, or means of shards."""
        width = input_tensor._shape[-1]
        step = 32 if rms else 64
        devices = stats._shape[-1] // step
        sharded = input_tensor.is_sharded()
        extra = [t for t in (weight, bias) if t is not None]
        given = [t is not None for t in (weight, bias)]

        def compute(x, s, *rest):
            def total(offset):
                joined = arrays.reduce("sum", s[..., offset::step], [-1], True)
                return joined / (devices if sharded else width * devices)

            square, rest = total(32 if sharded and not rms else 0), list(rest)
            if not rms:
                centre = total(0 if sharded else 32)
                square = square - centre * centre
                x = x - centre
            y = x * apply("rsqrt", square + float(epsilon))
            w, b = (rest.pop(0) if one else None for one in given)
            if w is not None:
                y = y * _row_of(w, width)
            return y if b is None else y + _row_of(b, width)

        require_device(name + "_post_all_gather", input_tensor, stats)
        require_config(name + "_post_all_gather", program_config, input_tensor)
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
