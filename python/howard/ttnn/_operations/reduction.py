# SPDX-License-Identifier: Apache-2.0
"""Implements sums and extremes, orders and samples."""


import math

from .. import _arrays as arrays
from .._arrays import np
from .._launch import fail, make_output, operation, program, require_device, values
from .._session import session
from .._tensor import Tensor, device_tensor
from .._types import DataType, Layout
from .data_movement import _axis, _moved, launch_permute
from .layout import to_layout


_KERNEL = {"sum": "sum", "mean": "mean", "max": "max", "min": "max", "prod": "sum", "std": "sum",
           "var": "sum"}


def _dims(name, tensor, dim):
    rank = len(tensor._shape)
    if dim is None or not rank and dim in (0, -1):  # A number has these, as in torch.
        return list(range(rank))
    found = sorted({_axis(name, tensor, d) for d in ([dim] if isinstance(dim, int) else dim)})
    return found or list(range(rank))


def _reduced_shape(tensor, dims, keepdim):
    return [1 if i in dims else d for i, d in enumerate(tensor._shape) if keepdim or i not in dims]


def _reduce_programs(name, kind, tensor, dims, out):
    """Launches what ttnn launches: one program for each of the last two dimensions. For another dimension
    it is one for sums of bfloat16 and bfloat8_b, and three for anything else."""
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
        elif kind == "sum" and tensor._dtype in (DataType.BFLOAT16, DataType.BFLOAT8_B):
            # Tiles are added where they lie: those of the dimension follow each other.
            inner = [-(-shape[-2] // 32) * 32 * math.prod(shape[dim + 1:-2]), shape[-1]]
            outer = math.prod(shape[:dim])
            program(name, kernel, [source], [step], shapes=[[outer, shape[dim], *inner]],
                    out_shapes=[[outer, 1, *inner]], dimension="batch")
        else:
            _reduce_outer(name, kernel, source, step, shape, dim)
        shape, source = after, step


def _reduce_outer(name, kernel, source, step, shape, dim):
    """Brings another dimension to the rows, sums there, and brings it back. The copies die as soon as
    they are read."""
    turned = list(shape)
    turned[dim], turned[-2] = turned[-2], turned[dim]
    summed = turned[:-2] + [1, turned[-1]]
    like = source
    middle = device_tensor(turned, like._dtype, Layout.TILE, like._config, like._device)
    order = list(range(len(shape)))
    order[dim], order[-2] = order[-2], order[dim]
    launch_permute("transpose", source, middle, order, shape)
    short = device_tensor(summed, like._dtype, Layout.TILE, like._config, like._device)
    program(name, kernel, [middle], [short], False, dimension="rows")
    del middle
    launch_permute("transpose", short, step, order)


def _reduction(name, kind):
    @operation(name, unread="compute_kernel_config")
    def call(input_tensor, dim=None, keepdim=False, *, memory_config=None, scalar=1.0,
             correction=True, output_tensor=None, dtype=None):
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
        factor = float(scalar)

        def compute(a):
            made = arrays.reduce(used, a, dims, keepdim)
            return made if scalar == 1.0 else made * factor

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


@operation(unread="compute_kernel_config")
def prod(input_tensor, *args, dims=None, all_dimensions=False, **kwargs):
    """Multiplies along one dimension, or all of them; or along `dims` into a tensor that is given."""
    if dims is None:
        return _prod.function(input_tensor, *(() if all_dimensions else args), **kwargs)
    given = next((one for one in args if isinstance(one, Tensor)), None)
    return _prod.function(input_tensor, list(dims), True, output_tensor=given, **kwargs)


def _rows_op(name, kernel, inputs, shape, compute, memory_config=None, dtype=None, output=None,
             analogy=True, layout=None):
    return _moved(name, inputs, shape, compute, memory_config, output, layout, dtype, analogy,
                  kernel)


def _accumulation(name):
    @operation(name)
    def call(input, dim, *, dtype=None, out=None, reverse_order=False, memory_config=None):
        """Adds or multiplies up along a dimension, from its first place or from its last."""
        require_device(name, input)
        if not len(input._shape) or not input._shape.volume():
            return input
        if input._config.is_sharded() or input._layout is not Layout.TILE:
            fail(name, "the input must be interleaved tiles: ttnn.to_layout(tensor, ttnn.TILE_LAYOUT)")
        if out is not None and out._shape != input._shape:
            fail(name, f"Shape mismatch: the output has {out._shape}, the input {input._shape}")
        axis = _axis(name, input, dim)
        kept = out if out is None or out._dtype is (dtype or input._dtype) else None
        made = make_output(input._shape, input, dtype, None, memory_config, kept)
        source = input
        if dtype not in (None, input._dtype):
            source = device_tensor(input._shape, dtype, Layout.TILE, None, input._device)
            program("typecast", "cast", [input], [source])
        _accumulate(name, source, made, axis, bool(reverse_order))
        kind = (dtype or input._dtype).value
        values(lambda a: arrays.cumulative(name, arrays.rounded(a, kind), axis, reverse_order),
               [input], [made])
        if out is not None and kept is None:  # It gets the memory of the result, of another type.
            out._dtype, out._storage, out._config = made._dtype, made._storage, made._config
            return out
        return made

    return call


def _accumulate(name, source, made, axis, flip):
    """Launches what ttnn does: one of the last three dimensions is brought to the first place of four
    or more and back, and matrices are added."""
    dims = [1] * (4 - len(source._shape)) + list(source._shape)
    rank = len(dims)
    axis += rank - len(source._shape)
    turned = rank - axis <= 3
    order = [axis] + [d for d in range(rank) if d != axis] if turned else list(range(rank))
    shape = [dims[d] for d in order]
    first, summed = source, made
    if turned:
        axis = 0
        first, summed = (device_tensor(shape, made._dtype, Layout.TILE, None, made._device)
                         for _ in range(2))
        launch_permute("permute", source, first, order, dims)
    before, behind = math.prod(shape[:axis]), math.prod(shape[axis + 1:-2])
    rows = behind * -(-shape[-2] // 32) * 32
    seen = [before, shape[axis], rows, shape[-1]]
    # A product takes as long as a sum, by analogy.
    program(name, "cumsum", [first], [summed], name != "cumsum", [seen], [seen], dim=1,
            flip=flip)
    if turned:
        launch_permute("permute", summed, made, [order.index(d) for d in range(rank)], shape)


cumsum = _accumulation("cumsum")
cumprod = _accumulation("cumprod")


@operation("experimental.intimg")
def intimg(input_tensor, *, memory_config=None):
    """Returns for each place of images [n, h, w, c] the sum of all that lies above it and to its left:
    one program."""
    def compute(x):
        return arrays.cumulative("cumsum", arrays.cumulative("cumsum", x, 1), 2)

    return _moved("intimg", [input_tensor], list(input_tensor._shape), compute, memory_config)


@operation(unread="compute_kernel_config core_grid")
def ema(input, alpha, *, out=None, memory_config=None):
    """Returns the exponential moving average along the last dimension: at each place alpha times the
    average before it, plus 1 - alpha times the number there."""
    def compute(x):
        made = x.astype(np.float32)
        for i in range(1, x.shape[-1]):
            made[..., i] = alpha * made[..., i - 1] + (1 - alpha) * made[..., i]
        return made

    return _moved("ema", [input], list(input._shape), compute, memory_config, out)


@operation()
def moe(input_tensor, expert_mask_tensor, topk_mask_tensor, k, *, memory_config=None,
        output_tensor=None):
    """Returns the weight of the first expert: its share of the softmax over the k largest."""
    def compute(x, experts, chosen):
        found, places = arrays.topk(x + experts, k, -1, True)
        shares = arrays.softmax(found + chosen[..., :k], -1)
        return (shares * (places == 0)).sum(-1, keepdims=True)

    return _moved("moe", [input_tensor, expert_mask_tensor, topk_mask_tensor],
                  [*input_tensor._shape[:-1], 1], compute, memory_config, output_tensor)


@operation()
def argmax(input_tensor, dim=None, keepdim=False, *, use_multicore=True, memory_config=None,
           output_tensor=None):
    require_device("argmax", input_tensor)
    rank = len(input_tensor._shape)
    volume = input_tensor._shape.volume()
    if dim is None or not rank:
        shape = [1] * rank if keepdim else []
    else:
        shape = _reduced_shape(input_tensor, [_axis("argmax", input_tensor, dim)], keepdim)

    def compute(a):
        if dim is None or not rank:
            return arrays.argmax(a.reshape([volume]), 0, False).reshape(shape)
        return arrays.argmax(a, dim, keepdim)

    kernel = {"kernel": "move"}
    along_rows = dim is None or not rank or _axis("argmax", input_tensor, dim) == rank - 1
    if along_rows:
        rows = [1, volume] if dim is None or not rank else list(input_tensor._shape)
        kernel = {"kernel": "argmax", "analogy": False, "shapes": [rows],
                  "out_shapes": [rows[:-1] + [1]], "use_multicore": bool(use_multicore)}
    return _moved("argmax", [input_tensor], shape, compute, memory_config, output_tensor,
                  Layout.ROW_MAJOR, DataType.UINT32, **kernel)


@operation(unread={"sorted": 4})
def topk(input_tensor, k=32, dim=-1, largest=True, *, memory_config=None, out=None,
         output_tensor=None, indices_tensor=None):
    """Returns the k largest or smallest numbers, in their order, and where they were; or what
    indices_tensor has at these places."""
    axis = _axis("topk", input_tensor, dim)
    size = input_tensor._shape[axis]
    if k > size:
        fail("topk", f"K cannot be larger than the dimension size: k={k} of {size}")
    if indices_tensor is not None and indices_tensor._shape != input_tensor._shape:
        fail("topk", f"indices_tensor {indices_tensor._shape} must have the shape "
             f"{input_tensor._shape}")
    shape = list(input_tensor._shape)
    shape[axis] = k
    kind = DataType.UINT16 if size < 65536 else DataType.UINT32

    def compute(a, names=None):
        first, places = arrays.topk(a, k, axis, bool(largest))
        return [first, places if names is None else arrays.gathered(names, axis, places)]

    def launch(*ends):
        _launch_turned(input_tensor, ends, axis, lambda x, made: program(
            "topk", "topk", [x], made, k=k, largest=bool(largest)))

    own = input_tensor._layout is Layout.TILE and not input_tensor._dtype.whole
    return _two_outputs("topk", input_tensor, shape, kind, compute, memory_config,
                        out or output_tensor, indices_tensor, launch if own else None)


@operation(unread={"stable": 3})
def sort(input_tensor, dim=-1, descending=False, *, memory_config=None, out=None):
    """Returns the numbers along a dimension in their order, and where they were."""
    shape = list(input_tensor._shape)
    axis = _axis("sort", input_tensor, dim) if shape else 0
    wide = shape and shape[axis] >= 65535 or \
        session.is_2026 and input_tensor._dtype is DataType.FLOAT32
    kind = DataType.UINT32 if wide else DataType.UINT16
    kinds = [input_tensor._dtype], [DataType.UINT16, DataType.UINT32]
    for given, accepted in zip(out or (), kinds):
        if given._shape != input_tensor._shape or given._dtype not in accepted:
            fail("sort", f"out={given._shape} of {given._dtype}; accepted: {input_tensor._shape} of "
                 + " or ".join(map(str, accepted)))

    def compute(a):
        return list(arrays.sort(a, axis, descending)) if shape else [a, np.zeros_like(a)]

    def launch(*ends):
        _launch_turned(input_tensor, ends, axis,
                       lambda x, made: _launch_sort(x, made, bool(descending)))

    own = input_tensor._layout is Layout.TILE and input_tensor._shape.volume()
    return _two_outputs("sort", input_tensor, shape, kind, compute, memory_config,
                        out or (None if shape else (input_tensor, None)), None,
                        launch if own and shape else None)


def _two_outputs(name, tensor, shape, kind, compute, memory_config, given=None, indices=None,
                 launch=None):
    """Launches the programs of an op that orders numbers, or one by analogy."""
    inputs = [tensor] + ([indices] if indices is not None else [])
    require_device(name, *inputs)
    first, second = given or (None, None)
    out = make_output(shape, tensor, None, None, memory_config, first)
    places = make_output(shape, tensor, kind, None, memory_config, second)
    if launch is None:
        program(name, "move", inputs, [out, places], True)
    else:
        launch(out, places)
    values(compute, inputs, [out, places])
    return [out, places]


def _launch_turned(tensor, ends, axis, launch):
    """Launches what works along the columns: another dimension changes places with them and goes
    back."""
    order = list(range(len(tensor._shape)))
    order[axis], order[-1] = order[-1], order[axis]
    if axis == order[axis]:
        launch(tensor, ends)
        return
    source, *made = (device_tensor([one._shape[d] for d in order], one._dtype, Layout.TILE, None,
                                   tensor._device) for one in (tensor, *ends))
    launch_permute("transpose", tensor, source, order)
    launch(source, made)
    for end, of in zip(ends, made):
        launch_permute("transpose", of, end, order)


def _launch_sort(source, ends, descending):
    """Launches what ttnn does for rows. Its kernel sorts a power of two of tiles, two or more: what
    fills rows up is cut off."""
    shape = list(source._shape)
    tiles = -(-shape[-1] // 32)
    whole = [*shape[:-1], 32 << ((tiles - 1).bit_length() or 1)]
    cut = whole[-1] != 32 * tiles

    def step(dims, kind):
        return device_tensor(dims, kind, Layout.TILE, None, source._device)

    if cut or shape[-1] % 32:
        short, source = source, step(whole if cut else shape, source._dtype)
        if cut:
            program("pad", "pad", [short], [source], before=[0] * 4)
        else:
            program("fill_implicit_tile_padding", "move", [short], [source], True)
    made = [step(whole, end._dtype) for end in ends] if cut else ends
    program("sort", "sort", [source], made, descending=descending)
    if cut:
        for end, of in zip(ends, made):
            program("slice", "slice", [of], [end], begins=[0] * 4, steps=[1] * 4)


@operation("experimental.fast_reduce_nc", unread="compute_kernel_config")
def fast_reduce_nc(input, *, dims, output=None, memory_config=None):
    """Returns the sum over outer dimensions, which stay as 1."""
    return sum.function(input, list(dims), True, memory_config=memory_config, output_tensor=output)
