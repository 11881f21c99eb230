# SPDX-License-Identifier: Apache-2.0
"""Converts between other libraries' arrays and ours. torch is used only if a script brings it."""

import math
import sys

from . import _arrays as arrays
from ._arrays import np
from ._tensor import Blank
from ._types import DataType


def is_torch(value):
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_numpy(value):
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic))


_TORCH = {
    "torch.bfloat16": DataType.BFLOAT16,
    "torch.float32": DataType.FLOAT32,
    "torch.float64": DataType.FLOAT32,
    "torch.float16": DataType.BFLOAT16,
    "torch.int64": DataType.UINT32,
    "torch.int32": DataType.INT32,
    "torch.int16": DataType.UINT16,
    "torch.uint8": DataType.UINT8,
    "torch.int8": DataType.INT32,
    "torch.bool": DataType.UINT8,
    "torch.uint16": DataType.UINT16,
    "torch.uint32": DataType.UINT32,
}
_NUMPY = {"f2": DataType.FLOAT32, "f4": DataType.FLOAT32, "f8": DataType.FLOAT32,
          "u4": DataType.UINT32, "u2": DataType.UINT16, "u1": DataType.UINT8, "b1": DataType.UINT8,
          "i1": DataType.INT32, "i2": DataType.UINT16, "i4": DataType.INT32, "i8": DataType.UINT32,
          "u8": DataType.UINT32}


def array_of(value):
    """Returns the numbers of an array, a torch tensor or nested lists, and the type that they
    suggest."""
    dtype = _type_of(value)
    if is_torch(value):
        torch = sys.modules["torch"]
        value = value.detach().cpu()
        if value.dtype is torch.bfloat16:  # Its bits are the upper ones of a float32.
            wide = value.contiguous().view(torch.int16).numpy().astype(np.uint32)
            return np.left_shift(wide, np.uint32(16), out=wide).view(np.float32), dtype
        value = value.numpy()
    elif not is_numpy(value):
        return array_of_list(value), dtype
    return arrays.rounded(value, "int32" if dtype.whole else "float32"), dtype


def _type_of(value):
    """Returns the type that numbers suggest. Raises TypeError for numbers that tensors cannot
    have."""
    if is_torch(value):
        found = _TORCH.get(str(value.dtype))
        if found is None:
            raise TypeError(f"torch tensors of {value.dtype} cannot be made ttnn tensors")
    elif is_numpy(value):
        found = _NUMPY.get(value.dtype.str[1:])
        if found is None:
            raise TypeError(f"NumPy arrays of {value.dtype} cannot be made tensors")
    elif isinstance(value, (list, tuple, int, float)):
        found = DataType.BFLOAT16
    else:
        raise TypeError(f"from_torch(): a {type(value).__name__} is no torch tensor")
    return found


def blank_of(value):
    """Returns the shape of an array, a torch tensor or nested lists, and the type that it suggests,
    without its numbers."""
    known = is_torch(value) or is_numpy(value)
    dtype = _type_of(value)
    return Blank(value.shape if known else _shape_of_list(value)), dtype


_FEW = 4096


def largest_of(value):
    """Returns the largest of few whole numbers; None of other numbers, and of many."""
    if is_torch(value) or is_numpy(value):
        whole = not (value.is_floating_point() if is_torch(value) else value.dtype.kind == "f")
        count = math.prod(value.shape)
        return int(value.max()) if whole and 0 < count <= _FEW else None
    if isinstance(value, int):
        return value
    if not isinstance(value, (list, tuple)) or not 0 < len(value) <= _FEW:
        return None
    inner = [largest_of(one) for one in value]
    return None if None in inner else max(inner)


def _shape_of_list(value):
    if not isinstance(value, (list, tuple)):
        float(value)  # Raises an error for what is no number.
        return []
    shapes = {tuple(_shape_of_list(one)) for one in value}
    if len(shapes) > 1:
        raise ValueError("the lists of a tensor must be equally long")
    return [len(value), *(shapes.pop() if shapes else ())]


def array_of_list(value):
    """Returns the numbers of nested lists; whole ones with all their digits."""
    made = np.array(value)
    kind = np.int64 if arrays.is_whole(made) else np.float32
    return made.astype(kind).reshape(_shape_of_list(value))


def torch_of(array, dtype):
    """Returns a torch tensor of an array that a ttnn tensor of `dtype` held."""
    import torch  # A script may do without torch.

    array = array.view(np.int32) if dtype is DataType.UINT32 else array
    if dtype is DataType.BFLOAT16:
        halves = np.ascontiguousarray(array, np.float32).view(np.uint16).reshape(-1, 2)
        if not halves[:, 0].any():  # All are numbers of bfloat16, whose bits are the upper ones.
            bits = halves[:, 1].view(np.int16).reshape(array.shape).copy()
            return torch.from_numpy(bits).view(torch.bfloat16)
    made = torch.from_numpy(array.copy())
    kinds = {DataType.BFLOAT16: torch.bfloat16, DataType.UINT8: torch.uint8,
             DataType.UINT16: torch.int16}
    return made.to(kinds.get(dtype, made.dtype))


def numpy_of(array, dtype):
    """Returns a NumPy array; of uint16 and uint32 the same bits with a sign, as ttnn does."""
    kinds = {DataType.UINT8: np.uint8, DataType.UINT16: np.int16, DataType.UINT32: np.int32}
    return array.astype(kinds.get(dtype, array.dtype))


def list_of(array, dtype):
    return (array.view(np.uint32) if dtype is DataType.UINT32 else array).tolist()
