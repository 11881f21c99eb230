# SPDX-License-Identifier: Apache-2.0
"""Implements sums and extremes, orders and samples."""


from .. import _arrays as arrays
from .._arrays import np
from .._launch import fail, make_output, operation, program, require_device, values
from .._tensor import device_tensor
from .._types import DataType, Layout
from .data_movement import _axis, _moved, launch_permute
from .layout import to_layout


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
    @operation(name)
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
prod = _prod


def _rows_op(name, kernel, inputs, shape, compute, memory_config=None, dtype=None, output=None,
             analogy=True, layout=None):
    return _moved(name, inputs, shape, compute, memory_config, output, layout, dtype, analogy,
                  kernel)


@operation()
def cumsum(input, dim, *, dtype=None, out=None, reverse_order=False, memory_config=None):
    axis = _axis("cumsum", input, dim)
    return _rows_op("cumsum", "move", [input], list(input._shape),
                    lambda a: arrays.cumulative("cumsum", a, axis, reverse_order), memory_config, dtype, out)


@operation()
def cumprod(input, dim, *, dtype=None, out=None, reverse_order=False, memory_config=None):
    axis = _axis("cumprod", input, dim)
    return _rows_op("cumprod", "move", [input], list(input._shape),
                    lambda a: arrays.cumulative("cumprod", a, axis, reverse_order), memory_config, dtype, out)


@operation()
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
            return arrays.argmax(a.reshape([volume]), 0, False).reshape(shape)
        return arrays.argmax(a, dim, keepdim)

    return _rows_op("argmax", "move", [input_tensor], shape, compute, memory_config,
                    DataType.UINT32, output_tensor, layout=Layout.ROW_MAJOR)


@operation(refuses=("indices_tensor",))
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
        return [np.split(one, [k], axis)[0] for one in arrays.sort(a, axis, largest)]

    return _two_outputs("topk", input_tensor, shape, kind, compute, memory_config, output_tensor)


@operation()
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


@operation("experimental.fast_reduce_nc")
def fast_reduce_nc(input, *, dims, output=None, memory_config=None, compute_kernel_config=None):
    """Returns the sum over outer dimensions, which stay as 1."""
    return sum.function(input, list(dims), True, memory_config=memory_config, output_tensor=output)


@operation()
def sampling(input_values_tensor, input_indices_tensor, k, p, temp=None, *, seed=None,
             sub_core_grids=None, output_tensor=None):
    """Returns a token for each user, which here is always the likeliest one."""
    require_device("sampling", input_values_tensor, input_indices_tensor)
    users = input_values_tensor._shape[-2]
    out = make_output([1, 1, 1, users], input_values_tensor, DataType.UINT32, Layout.ROW_MAJOR, None,
                      output_tensor)
    program("sampling", "move", [input_values_tensor], [out], True)

    def compute(numbers, indices):
        width = numbers.shape[-1]
        best = arrays.argmax(numbers.reshape([users, width]), 1, True)
        return arrays.gathered(indices.reshape([users, width]), 1, best).reshape([1, 1, 1, users])

    values(compute, [input_values_tensor, input_indices_tensor], [out])
    return out
