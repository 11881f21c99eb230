# SPDX-License-Identifier: Apache-2.0
"""Computes what tensors hold: NumPy's arrays of float32, of uint32, or of int32 for all other whole
types.

NumPy moves and broadcasts; the formulas of elementwise functions are the catalogue's of the emulator,
and whole numbers are the host engine's, in whole numbers. So are products, softmax, norms, topk, and sums
of dimensions side by side; other sums, means and orders are computed in float64.
"""

import json
import sys
from typing import TYPE_CHECKING, Any, Dict, Optional

from howard import _native

from ._types import DataType

if TYPE_CHECKING:
    import numpy as np
else:

    class _NumPy:
        """Imports NumPy when a script first needs values; with --no-values it never does."""

        def __getattr__(self, name):
            try:
                import numpy  # It takes a tenth of a second: --no-values does without.
            except ImportError:
                raise ImportError("tensors with values need NumPy: apt-get install python3-numpy, "
                                  "or run_experiment python --no-values") from None
            value = getattr(numpy, name)
            setattr(self, name, value)
            return value

    np = _NumPy()


def quiet() -> Any:
    """Returns a context in which divisions by zero and overflows give what they give on a device,
    without warnings."""
    return np.errstate(all="ignore")


# NumPy has these as loops of vectors, which round as the catalogue's formulas do.
_FAST = {"add": "add", "subtract": "subtract", "multiply": "multiply", "neg": "negative",
         "abs": "absolute", "square": "square", "divide": "true_divide", "sqrt": "sqrt",
         "maximum": "maximum", "minimum": "minimum", "eq": "equal", "ne": "not_equal",
         "gt": "greater", "ge": "greater_equal", "lt": "less", "le": "less_equal",
         "floor": "floor", "ceil": "ceil", "trunc": "trunc"}
# The functions of the catalogue that take whole numbers.
_WHOLE = {name for name, (_, _, whole) in _native._ttnn.elementwise_values().items() if whole}
# These are functions of the catalogue with their operands in another order.
_REVERSED = {"rdiv": "divide", "rpow": "pow"}


def is_whole(array: Any) -> bool:
    return bool(array.dtype.kind in "iub")


def full(shape: Any, value: float, whole: bool = False) -> Any:
    return np.full(tuple(shape), to_whole(value) if whole else value,
                   np.int32 if whole else np.float32)


def to_whole(values: Any, bits: int = 32) -> Any:
    """Returns int32 of numbers without their fraction. What does not fit so many bits wraps, as in a
    register; NaN and infinity become 0."""
    values = np.asarray(values)
    if bits == 32 and values.dtype in (np.int32, np.uint32):
        return _copied(values, values.dtype).view(np.int32)
    if values.dtype.kind == "f" and values.size and np.abs(values).max() < 2.0**31:
        values = values.astype(np.int32, order="C")
        if bits == 32:
            return values
    elif values.dtype.kind == "f":
        with quiet():
            values = np.where(np.isfinite(values), np.fmod(np.trunc(values), 2.0**bits), 0)
    values = values.astype(np.int64)
    return np.asarray(values if bits == 32 else values % 2**bits, np.int32)  # Of rank 0 too.


# These have two operands; as an activation the second one is a number.
_OF_A_NUMBER = ("add", "subtract", "multiply", "divide", "pow", "rsub", "rdiv", "remainder", "fmod",
                "eq", "ne", "gt", "lt", "ge", "le", "maximum", "minimum", "rpow",
                *(f"bitwise_{what}" for what in ("and", "or", "xor", "left_shift", "right_shift")))


_MOST = 1e38  # of the numbers of a function that an engine's program can have


def apply(function: str, *operands: Any, numbers: Any = ()) -> Any:
    """Computes a function of the catalogue for each element, with NumPy's broadcasting. The result is
    whole where all operands are, and for a typecast, whose last number is that of a type, if that is."""
    if function == "typecast":
        dtype = list(DataType)[int(numbers[-1])].value
        return rounded(cast(np.asarray(operands[0]), dtype), dtype)
    if len(operands) == 1 and function in _OF_A_NUMBER:
        number = numbers[0]
        if is_whole(np.asarray(operands[0])) and number % 1 == 0:
            number = int(number)
        operands, numbers = (*operands, number), ()
    operands = tuple(np.asarray(one) for one in operands)
    whole = all(map(is_whole, operands))
    # A whole number beside one that is not keeps its 32 bits, which float32 has not.
    real: Any = np.float64 if any(map(is_whole, operands)) else np.float32
    if function in _FAST and not whole:
        return getattr(np, _FAST[function])(*operands).astype(real, copy=False)
    if function == "pow" and len(operands) == 2 and not operands[1].ndim and operands[1] == 2:
        return apply("square", operands[0])
    if function in ("clamp", "hardtanh") and len(operands) == 1:
        low, high = ([_inside(number) for number in numbers[:2]] if whole else map(real, numbers[:2]))
        return apply("minimum", apply("maximum", operands[0], low), high)
    if function in _REVERSED and len(operands) == 2:
        function, operands = _REVERSED[function], operands[::-1]
    if function == "fill":
        return np.full_like(operands[0], numbers[0])
    whole = whole and function not in ("divide", "rdiv")  # A quotient is a real number.
    known = function in _WHOLE if whole else real is np.float32
    if known and all(abs(number) < _MOST for number in numbers) and all(one.size for one in operands):
        made = None if whole else _looked_up(function, operands, tuple(numbers))
        return _by_engine(function, operands, numbers) if made is None else made
    wide = [np.ascontiguousarray(one, np.float64) for one in np.broadcast_arrays(*operands)]
    made = np.empty(wide[0].shape)
    _native._ttnn.elementwise(function, made, wide, [float(n) for n in numbers])
    return to_whole(made) if whole else made.astype(real)


def _inside(number: float) -> int:
    """Returns a limit of whole numbers as an int32."""
    return int(min(max(number, -2.0**31), 2.0**31 - 1))


def cast(array: Any, dtype: str) -> Any:
    """Returns the numbers as a typecast on the device gives them, for a whole type."""
    if not array.size or dtype not in _WHOLE_KINDS:
        return array
    return _by_engine("cast", [np.asarray(array)], (), dtype)


# The host engine has these as loops of vectors. Tables are faster than it for others.
_VECTORS = ("exp", "erf", "gelu", "sqrt", "rsqrt", "reciprocal", "sigmoid", "silu", "relu", "square")
_FEW = 2**15  # numbers, for which a table does not pay
_MOST_TABLES = 64
_tables: Dict[Any, Any] = {}


def _looked_up(function: str, operands: Any, numbers: Any) -> Any:
    """Returns a function of numbers that are all bfloat16's, from a table of what the engine gives for
    each of the 65536; None where others are among them, or a table does not pay."""
    if len(operands) > 1 or operands[0].size <= _FEW or function in _VECTORS:
        return None
    halves = np.ascontiguousarray(operands[0], np.float32).view(np.uint16).reshape(-1, 2)
    if halves[:, 0].any():
        return None
    table = _tables.get((function, numbers))
    if table is None:
        if len(_tables) == _MOST_TABLES:
            _tables.clear()
        every = (np.arange(2**16, dtype=np.uint32) << 16).view(np.float32)
        table = _tables[function, numbers] = _by_engine(function, [every], numbers)
    return table.take(halves[:, 1].astype(np.intp)).reshape(operands[0].shape)


def _kind_of(array: Any) -> str:
    """Returns the type of a tensor that holds such numbers."""
    if not is_whole(array):
        return "float32"
    wide = array.itemsize == 8 and array.max(initial=0) >= 2**31
    return "uint32" if wide or array.dtype == np.uint32 else "int32"


def _by_engine(function: str, operands: Any, numbers: Any, dtype: Optional[str] = None) -> Any:
    """Returns what the host engine computes, with NumPy's broadcasting."""
    dims = np.broadcast_shapes(*[one.shape for one in operands])
    if len(dims) > 4:
        operands = np.broadcast_arrays(*operands)
    flat = operands[0].size <= _SIDE and all(one.shape == dims for one in operands)
    kinds = [_kind_of(one) for one in operands]
    own = kinds[function == "where" and len(kinds) > 1]
    ends = [[(_four(operands[0].size) if flat else _four(*shape), kind, False)
             for shape, kind in zip(shapes, given)]
            for shapes, given in (([one.shape for one in operands], kinds), ([dims], [dtype or own]))]
    told = json.dumps({"numbers": [float(number) for number in (*numbers, 0, 0)[:2]]})
    return computed(function, told, ends, [-1], operands)[0].reshape(dims)


def rounded(array: Any, dtype: str, unshared: bool = False) -> Any:
    """Returns the numbers, in memory of their own, as a tensor of this type holds them. That is the
    array's memory where `unshared` says that nobody else has the array."""
    if dtype == "uint32":
        return to_whole(array).view(np.uint32)
    if dtype in ("int32", "uint16", "uint8"):
        return to_whole(array, {"uint8": 8, "uint16": 16}.get(dtype, 32))
    made = array if unshared and _is_alone(array) else _copied(array, np.float32)
    if dtype != "float32":
        _native._ttnn.round(made, dtype, made.shape[-1] if made.ndim else 1)
    return made


def _is_alone(array: Any) -> bool:
    """Says whether floats lie one behind the other in memory that no other array has."""
    if not isinstance(array, np.ndarray) or array.dtype != np.float32 or not (
            array.flags.c_contiguous and array.flags.writeable):
        return False
    return array.base is None or isinstance(array.base, np.ndarray) and sys.getrefcount(array.base) == 2


_COLUMNS = 16  # NumPy takes five times as long for a copy of all columns of a matrix that is turned.


def _copied(array: Any, dtype: Any) -> Any:
    """Returns a copy whose numbers lie one behind the other."""
    array = np.asarray(array)
    if array.ndim < 2 or array.size < 2**14 or array.strides[-1] in (0, array.itemsize):
        return np.array(array, dtype, order="C")
    made = np.empty(array.shape, dtype)
    step = max(_COLUMNS, array.shape[-1] >> 10)
    for first in range(0, array.shape[-1], step):
        made[..., first:first + step] = array[..., first:first + step]
    return made


def reduce(kind: str, array: Any, dims: Any, keep: bool) -> Any:
    """Computes the sum, mean, max, min, prod, var or std (these two with n - 1), var0 or std0. The
    engine adds up real numbers of dimensions side by side; all else is float64's."""
    axes = tuple(dims)
    if kind.startswith(("var", "std")):
        gap = array - reduce("mean", array, dims, True)
        made = reduce("sum", gap * gap, dims, keep)
        made = made / (array.size / max(1, made.size) - (not kind.endswith("0")))
        return np.asarray(np.sqrt(made) if kind.startswith("std") else made, np.float32)
    if kind in ("sum", "mean", "max", "min") and array.size and not (is_whole(array) and kind == "mean"):
        if kind == "min" and is_whole(array):
            return ~reduce("max", ~array, dims, keep)
        if kind == "min":
            return -reduce("max", -array, dims, keep)
        found = _by_engine_along(kind, array, sorted({d % array.ndim for d in axes}))
        if found is not None:
            return found if keep else found.squeeze(axes)
    wide = array.astype(np.float64)
    if kind in ("max", "min"):
        edge = -np.inf if kind == "max" else np.inf
        made = getattr(np, kind)(wide, axes, keepdims=keep, initial=edge)
    else:
        made = getattr(np, kind)(wide, axes, keepdims=keep)
    whole = is_whole(array) and kind != "mean"
    return to_whole(made) if whole else np.asarray(made, np.float32)


def _by_engine_along(kind: str, array: Any, axes: Any) -> Any:
    """Returns what the engine reduces axes to that lie side by side; None of others, and where they are
    too many numbers for it."""
    if not axes or axes != list(range(axes[0], axes[-1] + 1)):
        return None
    sides = _around(array.shape, axes[0], axes[-1] + 1)
    if max(sides) > _SIDE:
        return None
    told = json.dumps({"dimension": "columns" if len(sides) == 2 else "rows"})
    ends = [[(_four(*one), _kind_of(array), False)] for one in (sides, [sides[0], 1, *sides[2:]])]
    made = computed(kind, told, ends, [-1], [array])[0]
    return made.reshape([1 if i in axes else size for i, size in enumerate(array.shape)])


def _around(shape: Any, first: int, end: int) -> Any:
    """Returns how many numbers lie before some dimensions, in them and behind them, if there are any."""
    sides = [int(np.prod(part, dtype=np.int64)) for part in (shape[:first], shape[first:end], shape[end:])]
    return sides if sides[2] > 1 else sides[:2]


def cumulative(kind: str, array: Any, dim: int, backwards: bool = False) -> Any:
    """Computes the cumsum, by the engine, or cumprod, from the first place or from the last."""
    axis = dim % max(1, array.ndim)
    sides = _around(array.shape, axis, axis + 1)
    if kind == "cumsum" and 0 < array.size and max(sides) <= _SIDE:
        told = json.dumps({"dim": 3 if len(sides) == 2 else 2, "flip": backwards})
        ends = [[(_four(*sides), _kind_of(array), False)]] * 2
        return computed(kind, told, ends, [-1], [array])[0].reshape(array.shape)
    made = getattr(np, kind)(np.flip(array, dim) if backwards else array, dim, dtype=np.float64)
    made = np.flip(made, dim) if backwards else made
    return to_whole(made) if is_whole(array) else made.astype(np.float32)


def argmax(array: Any, dim: int, keep: bool) -> Any:
    places = np.asarray(np.argmax(array, dim), np.int32)  # its keepdims is newer than NumPy 1.21
    if not keep:
        return places
    return places.reshape((1,) * array.ndim) if dim is None else np.expand_dims(places, dim)


def sort(array: Any, dim: int, descending: bool) -> Any:
    """Returns the sorted numbers and where they were. The order is stable."""
    keys = -array.astype(np.float64) if descending else array
    places = np.argsort(keys, dim, kind="stable")
    return np.take_along_axis(array, places, dim), places.astype(np.int32)


def topk(array: Any, k: int, dim: int, largest: bool) -> Any:
    """Returns the k largest or smallest numbers in their order, and where they were."""
    if is_whole(array) or not array.size or not k:
        return [np.split(one, [k], dim)[0] for one in sort(array, dim, largest)]
    rows = np.moveaxis(array, dim, -1)
    ends = [(_four(*rows.shape), "float32", False)], [
        (_four(*rows.shape[:-1], k), kind, False) for kind in ("float32", "uint32")]
    made = computed("topk", json.dumps({"k": k, "largest": largest}), ends, [-1, -1], [rows])
    return [np.moveaxis(one.reshape(*rows.shape[:-1], k), -1, dim) for one in made]


def softmax(array: Any, dim: int) -> Any:
    return np.moveaxis(_of_rows("softmax", "{}", np.moveaxis(array, dim, -1)), -1, dim)


def normalized(array: Any, epsilon: float, rms: bool) -> Any:
    """Returns (x - mean) / sqrt(variance + epsilon) along the last dimension; with `rms`, x /
    sqrt(mean square + epsilon)."""
    return _of_rows("rms_norm" if rms else "layernorm", f'{{"epsilon":{epsilon}}}', array)


def _of_rows(kernel: str, attributes: str, array: Any) -> Any:
    """Returns what the host engine computes of each row, by a kernel of one operand."""
    if not array.size:
        return array.astype(np.float32)
    ends = [[(_four(*array.shape), "float32", False)]] * 2
    return computed(kernel, attributes, ends, [-1], [array])[0].reshape(array.shape)


def sliced(array: Any, starts: Any, ends: Any, steps: Any = None) -> Any:
    return array[tuple(map(slice, starts, ends, steps or [1] * len(starts)))]


def padded(array: Any, before: Any, after: Any, value: float) -> Any:
    made = np.full([b + size + a for b, size, a in zip(before, array.shape, after)], value, array.dtype)
    made[tuple(slice(b, b + size) for b, size in zip(before, array.shape))] = array
    return made


def _index(array: Any, dim: int, index: Any) -> Any:
    """Returns what an index along one dimension selects of all of them."""
    axis = dim % array.ndim
    if index.ndim != array.ndim or any(
            i > n for d, (i, n) in enumerate(zip(index.shape, array.shape)) if d != axis):
        raise RuntimeError(f"TT_FATAL: an index of {list(index.shape)} does not fit a tensor of "
                           f"{list(array.shape)}")
    require_places(index, array.shape[axis])
    places = list(np.ogrid[tuple(map(slice, index.shape))])
    places[axis] = index.astype(np.int64)
    return tuple(places)


def require_places(index: Any, size: int) -> None:
    if index.size and not (0 <= index.min() and index.max() < size):
        raise RuntimeError(f"TT_FATAL: index {index.min()} to {index.max()}, but there are places 0 to "
                           f"{size - 1}")


def gathered(array: Any, dim: int, index: Any) -> Any:
    """Returns out[.., i, ..] = a[.., index[.., i, ..], ..] along `dim`, as torch.gather does."""
    return array[_index(array, dim, index)]


# What happens to the numbers of two sources at one place, under ttnn's words for it.
_COMBINED = {"add": "add", "multiply": "multiply", "amax": "maximum", "max": "maximum",
             "amin": "minimum", "min": "minimum"}
REDUCTIONS = tuple(_COMBINED)


def scattered(array: Any, dim: int, index: Any, source: Any, reduce: Optional[str] = None) -> Any:
    """Returns `array` with the source's numbers at `index` along `dim`, as torch.scatter does; with
    `reduce`, they are combined with what is there. The source may be larger than the index."""
    if source.ndim != index.ndim or any(s < i for s, i in zip(source.shape, index.shape)):
        raise RuntimeError(f"TT_FATAL: {list(source.shape)} numbers at {list(index.shape)} places")
    source = source[tuple(map(slice, index.shape))]
    made, places = array.copy(), _index(array, dim, index)
    if reduce is None:
        made[places] = source
    else:
        getattr(np, _COMBINED[reduce]).at(made, places, source)
    return made


def rows_of(table: Any, indices: Any) -> Any:
    """Returns rows of the table, one for each index."""
    rows = table.reshape(-1, table.shape[-1])
    require_places(indices, len(rows))
    return rows[indices.astype(np.int64)]


def uniform(shape: Any, low: float, high: float, seed: int) -> Any:
    """Returns numbers evenly between two, by splitmix64, whose numbers are the same everywhere."""
    count = int(np.prod(shape, dtype=np.int64))
    z = np.uint64(seed % 2**64) + np.uint64(0x9E3779B97F4A7C15) * np.arange(1, count + 1,
                                                                            dtype=np.uint64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    part = ((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53
    return (low + part * (high - low)).astype(np.float32).reshape(shape)


def matmul(a: Any, b: Any) -> Any:
    """Multiplies matrices, accumulated in float32: large ones by the host engine."""
    a, b = (one.astype(np.float32, copy=False) for one in (a, b))
    rows, inner, columns = a.shape[-2], a.shape[-1], b.shape[-1]
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    shape = (*batch, rows, columns)
    if np.prod(shape, dtype=np.int64) * inner <= 64**3:
        return np.matmul(a, b)
    if np.prod(b.shape[:-2], dtype=np.int64) == 1 and a.shape[:-2] == batch:
        a, b = a.reshape(1, -1, inner), b.reshape(1, inner, columns)  # All rows at once.
    else:
        a = np.broadcast_to(a, (*batch, rows, inner)).reshape(-1, rows, inner)
        b = np.broadcast_to(b, (*batch, inner, columns)).reshape(-1, inner, columns)
    inputs = [((1, *one.shape), "float32", False) for one in (a, b)]
    ends = inputs, [((1, *a.shape[:2], columns), "float32", False)]
    return computed("matmul", "{}", ends, [-1], [a, b])[0].reshape(shape)


_SIDE = 2**24  # The largest side of a tensor of the engine.


def _four(*shape: int) -> Any:
    """Returns four dimensions: leading ones are joined."""
    if len(shape) <= 4:
        return (1,) * (4 - len(shape)) + shape
    return (int(np.prod(shape[:-3], dtype=np.int64)), *shape[-3:])


def computed(kernel: str, attributes: str, ends: Any, in_place: Any, given: Any) -> Any:
    """Returns what a program of a kernel computes, by the host engine. `ends` has, for the operands and
    for the results, the shape, type and layout that the kernel sees of each; `in_place` for each
    result the operand that it takes the place of, or -1."""
    numbers = [_for_engine(one, end[1]) for one, end in zip(given, ends[0])]
    made = [np.empty(end[0], end[1] if end[1] in _WHOLE_KINDS else np.float32) for end in ends[1]]
    inputs, outputs = ([(one, *end) for one, end in zip(side, those)]
                       for side, those in zip((numbers, made), ends))
    _native._ttnn.compute(kernel, attributes, inputs, outputs, in_place)
    return [one.astype(np.int32) if one.itemsize < 4 else one for one in made]


_WHOLE_KINDS = ("uint32", "int32", "uint16", "uint8")


def _for_engine(array: Any, kind: str) -> Any:
    """Returns the numbers side by side, as the engine has those of a type."""
    if kind in _WHOLE_KINDS and is_whole(array):
        return np.ascontiguousarray(array.astype(kind, copy=False))
    return np.ascontiguousarray(array, kind if kind in _WHOLE_KINDS else np.float32)
