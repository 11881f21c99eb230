# SPDX-License-Identifier: Apache-2.0
"""Implements sums and extremes, orders, softmax, normalisations, look-ups and losses."""

import math

from howard import _native

from ._configs import activation_of
from ._elementwise import FUNCTIONS, _composite
from ._launch import fail, make_output, operation, program, require_device, values
from ._movement import _axis, _moved, launch_permute, reshape, to_layout
from ._tensor import Tensor, device_tensor
from ._types import DataType, EmbeddingsType, Layout, LossReductionMode

arrays = _native._ttnn.arrays
_KERNEL = {"sum": "sum", "mean": "mean", "max": "max", "min": "max", "prod": "sum", "std": "sum",
           "var": "sum"}


def _dims(name, tensor, dim):
    rank = len(tensor._shape)
    if dim is None:
        return list(range(rank))
    found = sorted({_axis(name, tensor, d) for d in ([dim] if isinstance(dim, int) else dim)})
    return found or list(range(rank))


def _reduced_shape(tensor, dims, keepdim):
    return [1 if i in dims else d for i, d in enumerate(tensor._shape) if keepdim or i not in dims]


def _reduce_programs(name, kind, tensor, dims, out):
    """Launches what ttnn launches: one program for each of the last two dimensions, three for
    another."""
    rank = len(tensor._shape)
    kernel, analogy = _KERNEL[kind], kind not in ("sum", "mean", "max")
    if dims == list(range(rank)):
        program(name, kernel, [tensor], [out], analogy, out_shapes=[[1]], dimension="all")
        return
    shape, source = list(tensor._shape), tensor
    for dim in sorted(dims, reverse=True):
        after = list(shape)
        after[dim] = 1
        last = dim == dims[0]
        step = out if last else device_tensor(after, tensor._dtype, Layout.TILE, tensor._config,
                                              tensor._device)
        if dim == rank - 1 or rank == 1:
            program(name, kernel, [source], [step], analogy, shapes=[shape], out_shapes=[after],
                    dimension="columns")
        elif dim == rank - 2:
            program(name, kernel, [source], [step], analogy, shapes=[shape], out_shapes=[after],
                    dimension="rows")
        else:
            _reduce_outer(name, kernel, source, step, shape, dim, after)
        shape, source = after, step


def _reduce_outer(name, kernel, source, step, shape, dim, after):
    """Brings another dimension to the rows, sums there, and brings it back."""
    turned = list(shape)
    turned[dim], turned[-2] = turned[-2], turned[dim]
    summed = turned[:-2] + [1, turned[-1]]
    like = source
    middle = device_tensor(turned, like._dtype, Layout.TILE, like._config, like._device)
    short = device_tensor(summed, like._dtype, Layout.TILE, like._config, like._device)
    order = list(range(len(shape)))
    order[dim], order[-2] = order[-2], order[dim]
    launch_permute("transpose", source, middle, order, shape)
    program(name, kernel, [middle], [short], False, dimension="rows")
    launch_permute("transpose", short, step, order)


def _reduction(name, kind):
    @operation(name, golden=name)
    def call(input_tensor, dim=None, keepdim=False, *, memory_config=None,
             compute_kernel_config=None, scalar=1.0, correction=True, sub_core_grids=None,
             output_tensor=None, dtype=None):
        require_device(name, input_tensor)
        if input_tensor._layout is not Layout.TILE:
            input_tensor = to_layout.function(input_tensor, Layout.TILE)
        dims = _dims(name, input_tensor, dim)
        shape = _reduced_shape(input_tensor, dims, keepdim)
        out = make_output(shape, input_tensor, dtype, Layout.TILE, memory_config, output_tensor)
        if kind in ("std", "var"):
            _reduce_programs(name, "mean", input_tensor, dims, out)
            program(name, "multiply", [input_tensor, input_tensor], [device_tensor(
                input_tensor._shape, input_tensor._dtype, Layout.TILE, None,
                input_tensor._device)], True)
        _reduce_programs(name, kind, input_tensor, dims, out)
        used = kind + ("" if correction or kind not in ("std", "var") else "0")
        factor = arrays.full([], float(scalar), False)

        def compute(a):
            made = arrays.reduce(used, a, dims, keepdim)
            return made if scalar == 1.0 else arrays.binary("multiply", made, factor)

        values(compute, [input_tensor], [out])
        return out

    return call


sum = _reduction("sum", "sum")
mean = _reduction("mean", "mean")
max = _reduction("max", "max")
min = _reduction("min", "min")
std = _reduction("std", "std")
var = _reduction("var", "var")
_prod = _reduction("prod", "prod")
prod = _prod


def _rows_op(name, kernel, inputs, shape, compute, memory_config=None, dtype=None, output=None,
             analogy=True, layout=None):
    return _moved(name, inputs, shape, compute, memory_config, output, layout, dtype, analogy,
                  kernel)


@operation(golden="cumsum")
def cumsum(input, dim, *, dtype=None, out=None, reverse_order=False, memory_config=None):
    axis = _axis("cumsum", input, dim)
    return _rows_op("cumsum", "move", [input], list(input._shape),
                    lambda a: arrays.cumulative("cumsum", a, axis), memory_config, dtype, out)


@operation(golden="cumprod")
def cumprod(input, dim, *, dtype=None, out=None, reverse_order=False, memory_config=None):
    axis = _axis("cumprod", input, dim)
    return _rows_op("cumprod", "move", [input], list(input._shape),
                    lambda a: arrays.cumulative("cumprod", a, axis), memory_config, dtype, out)


@operation(golden="argmax")
def argmax(input_tensor, dim=None, keepdim=False, *, sub_core_grids=None, use_multicore=True,
           memory_config=None, output_tensor=None):
    require_device("argmax", input_tensor)
    rank = len(input_tensor._shape)
    volume = input_tensor._shape.volume()
    if dim is None:
        shape = [1] * rank if keepdim else []
    else:
        shape = _reduced_shape(input_tensor, [_axis("argmax", input_tensor, dim)], keepdim)

    def compute(a):
        if dim is None:
            return arrays.argmax(a.reshaped([volume]), 0, False).reshaped(shape)
        return arrays.argmax(a, dim, keepdim)

    return _rows_op("argmax", "move", [input_tensor], shape, compute, memory_config,
                    DataType.UINT32, output_tensor, layout=Layout.ROW_MAJOR)


@operation(golden="topk")
def topk(input_tensor, k=32, dim=-1, largest=True, sorted=True, *, memory_config=None,
         output_tensor=None, sub_core_grids=None, indices_tensor=None):
    axis = _axis("topk", input_tensor, dim)
    size = input_tensor._shape[axis]
    if k > size:
        fail("topk", f"k={k} is more than the dimension has: {size}")
    shape = list(input_tensor._shape)
    shape[axis] = k
    kind = DataType.UINT16 if size < 65536 else DataType.UINT32

    def compute(a):
        ends = list(a.shape)
        ends[axis] = k
        both = arrays.sort(a, axis, largest)
        return [arrays.sliced(one, [0] * len(ends), ends, [1] * len(ends)) for one in both]

    return _two_outputs("topk", input_tensor, shape, kind, compute, memory_config, output_tensor)


@operation(golden="sort")
def sort(input_tensor, dim=-1, descending=False, stable=False, *, memory_config=None, out=None):
    axis = _axis("sort", input_tensor, dim)
    return _two_outputs("sort", input_tensor, list(input_tensor._shape), DataType.UINT16,
                        lambda a: list(arrays.sort(a, axis, descending)), memory_config, out)


def _two_outputs(name, tensor, shape, kind, compute, memory_config, given=None):
    require_device(name, tensor)
    first, second = given or (None, None)
    out = make_output(shape, tensor, None, None, memory_config, first)
    places = make_output(shape, tensor, kind, None, memory_config, second)
    program(name, "move", [tensor], [out, places], True)
    values(compute, [tensor], [out, places])
    return [out, places]


# Softmax.


def _softmax(name, tensor, dim, memory_config, output=None, scale=None, mask=None, causal=False):
    require_device(name, tensor)
    if tensor._layout is not Layout.TILE:
        tensor = to_layout.function(tensor, Layout.TILE)
    axis = _axis(name, tensor, dim)
    out = make_output(tensor._shape, tensor, None, None, memory_config, output)
    program(name, "softmax", [tensor], [out], axis != len(tensor._shape) - 1 or mask is not None)

    def compute(a, m=None):
        if scale is not None:
            a = arrays.binary("multiply", a, arrays.full([], float(scale), False))
        if m is not None:
            a = arrays.binary("add", a, m)
        elif causal:
            a = arrays.binary("add", a, causal_mask(a.shape[-2], a.shape[-1]))
        return arrays.softmax(a, axis)

    values(compute, [tensor] + ([mask] if mask is not None else []), [out])
    return out


def causal_mask(rows, columns):
    """Returns 0 for what a row may look at, else a number that softmax makes 0."""
    row = arrays.arange(float(columns - rows), 1.0, rows, False).reshaped([rows, 1])
    column = arrays.arange(0.0, 1.0, columns, False).reshaped([1, columns])
    seen = arrays.binary("le", column, row)
    return arrays.where(seen, arrays.full([], 0.0, False), arrays.full([], -1e30, False))


@operation(golden="softmax")
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


# Normalisations.


def _row_of(array, width):
    return array.reshaped([array.size]) if array.size == width else array


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
            x = arrays.binary("add", x, r)
        y = arrays.normalized(x, float(epsilon), rms)
        if w is not None:
            y = arrays.binary("multiply", y, _row_of(w, width))
        return y if b is None else arrays.binary("add", y, _row_of(b, width))

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
        groups = arrays.permuted(x.reshaped([n, rows, num_groups, size]), [0, 2, 1, 3])
        flat = arrays.normalized(groups.reshaped([n, num_groups, rows * size]), float(epsilon),
                                 False)
        back = arrays.permuted(flat.reshaped([n, num_groups, rows, size]), [0, 2, 1, 3])
        y = back.reshaped([n, 1, rows, channels])
        rest = list(rest)
        if weight is not None:
            y = arrays.binary("multiply", y, _channels(rest.pop(0), channels))
        return y if bias is None else arrays.binary("add", y, _channels(rest.pop(0), channels))

    extra = [t for t in (weight, bias) if t is not None]
    require_device("group_norm", input_tensor)
    out = make_output(input_tensor._shape, input_tensor, dtype, output_layout, memory_config)
    program("group_norm", "layernorm", [input_tensor], [out], True)
    values(compute, [input_tensor] + extra, [out])
    return out


def _channels(array, channels):
    flat = array.reshaped([array.size])
    return flat if array.size == channels else arrays.sliced(flat, [0], [channels], [1])


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
        scale = arrays.unary("rsqrt", arrays.binary("add", var_, arrays.full([], eps, False)), [])
        y = arrays.binary("multiply", arrays.binary("subtract", x, mean_), scale)
        if w is not None:
            y = arrays.binary("multiply", y, w)
        return y if b is None else arrays.binary("add", y, b)

    require_device("batch_norm", input_tensor, *extra)
    out = make_output(input_tensor._shape, input_tensor, None, None, memory_config, output)
    program("batch_norm", "multiply", [input_tensor, input_tensor], [out], True)
    values(compute, [input_tensor] + extra, [out])
    return out


def _statistics(name, rms):
    @operation(name + "_pre_all_gather")
    def before(input_tensor, *, dtype=None, residual_input_tensor=None, program_config=None,
               compute_kernel_config=None, memory_config=None, **_):
        """Returns the sums of each row's squares, and of its numbers."""
        shape = list(input_tensor._shape)[:-1] + [32 if rms else 64]

        def compute(x):
            square = arrays.reduce("sum", arrays.binary("multiply", x, x), [-1], True)
            parts = [square] if rms else [square, arrays.reduce("sum", x, [-1], True)]
            rank = len(shape)
            wide = [arrays.padded(p, [0] * rank, [0] * (rank - 1) + [31], 0.0) for p in parts]
            return arrays.concatenated(wide, rank - 1)

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
            rank = len(s.shape)

            def total(offset):
                parts = [arrays.sliced(s, [0] * (rank - 1) + [i * step + offset],
                                       list(s.shape[:-1]) + [i * step + offset + 1], [1] * rank)
                         for i in range(devices)]
                joined = arrays.reduce("sum", arrays.concatenated(parts, rank - 1), [-1], True)
                return arrays.binary("divide", joined, arrays.full([], width * devices, False))

            square, centre = total(0), None
            if not rms:
                centre = total(32)
                square = arrays.binary("subtract", square, arrays.binary("multiply", centre, centre))
                x = arrays.binary("subtract", x, centre)
            scale = arrays.unary("rsqrt", arrays.binary(
                "add", square, arrays.full([], float(epsilon), False)), [])
            y = arrays.binary("multiply", x, scale)
            for function, one in zip(("multiply", "add"), rest):
                y = arrays.binary(function, y, _row_of(one, width))
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


def _spread(kind, dims=(-1, -2)):
    return lambda x: arrays.broadcast_to(arrays.reduce(kind, x, list(dims), True), list(x.shape))


def _standard(x, dims):
    mean_ = arrays.reduce("mean", x, dims, True)
    std_ = arrays.reduce("std0", x, dims, True)
    return arrays.binary("divide", arrays.binary("subtract", x, mean_), std_)


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


# Look-ups.


@operation(golden="embedding")
def embedding(input_tensor, weight, *, padding_idx=None, layout=None,
              embeddings_type=EmbeddingsType.GENERIC, dtype=None, output_tensor=None,
              memory_config=None):
    require_device("embedding", input_tensor, weight)
    if weight._layout is Layout.TILE:
        weight = to_layout.function(weight, Layout.ROW_MAJOR)
    shape = list(input_tensor._shape) + [weight._shape[-1]]
    layout = layout or Layout.ROW_MAJOR
    aligned = shape[-1] % 32 == 0 and shape[-2] % 32 == 0
    tiles = layout is Layout.TILE and aligned
    made = make_output(shape, weight, dtype, Layout.TILE if tiles else Layout.ROW_MAJOR,
                       memory_config, output_tensor)
    program("embedding", "embedding", [input_tensor, weight], [made],
            shapes=[None, [weight._shape.volume() // shape[-1], shape[-1]]])
    values(lambda i, w: arrays.rows_of(w, i), [input_tensor, weight], [made])
    return made if tiles or layout is Layout.ROW_MAJOR else to_layout.function(made, layout)


@operation()
def embedding_bw(input_tensor, weight, output_gradient, *, dtype=None, output_tensor=None,
                 memory_config=None):
    require_device("embedding_bw", input_tensor, weight, output_gradient)
    rows, width = weight._shape[-2], weight._shape[-1]
    out = make_output([1, 1, rows, width], output_gradient, dtype, Layout.TILE, memory_config,
                      output_tensor)
    program("embedding_bw", "embedding_backward", [input_tensor, output_gradient], [out])

    def compute(i, _w, g):
        places = arrays.broadcast_to(i.reshaped([i.size, 1]), [i.size, width])
        made = arrays.scattered(arrays.full([rows, width], 0.0, False), 0, places,
                                g.reshaped([i.size, width]), True)
        return made.reshaped([1, 1, rows, width])

    values(compute, [input_tensor, weight, output_gradient], [out])
    return out


# Losses.


def _loss(name, function):
    @operation(name)
    def call(input_reference, input_prediction, *, reduction=LossReductionMode.NONE,
             memory_config=None):
        """Returns the size of the difference, in one program, and the sum or mean of that."""
        size = FUNCTIONS["subtract"].function(input_reference, input_prediction,
                                              activations=[function], memory_config=memory_config)
        if reduction is LossReductionMode.NONE:
            return size
        return (sum if reduction is LossReductionMode.SUM else mean).function(size)

    return call


mse_loss = _loss("mse_loss", "square")
l1_loss = _loss("l1_loss", "abs")

__all__ = ["Tensor", "activation_of", "math", "reshape"]
