# SPDX-License-Identifier: Apache-2.0
"""Converts between other libraries' arrays and ours. torch and NumPy are used only if a script
brings them."""

import array as stdlib_array
import ctypes
import sys

from howard import _native

from ._tensor import Blank
from ._types import DataType

arrays = _native._ttnn.arrays


def torch_if_loaded():
    return sys.modules.get("torch")


def is_torch(value):
    torch = torch_if_loaded()
    return torch is not None and isinstance(value, torch.Tensor)


def is_numpy(value):
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic))


_TORCH = {
    "torch.bfloat16": ("E", DataType.BFLOAT16),
    "torch.float32": ("f", DataType.FLOAT32),
    "torch.float64": ("d", DataType.FLOAT32),
    "torch.float16": (None, DataType.BFLOAT16),
    "torch.int64": ("q", DataType.INT32),
    "torch.int32": ("i", DataType.INT32),
    "torch.int16": ("h", DataType.UINT16),
    "torch.uint8": ("B", DataType.UINT8),
    "torch.int8": ("b", DataType.INT32),
    "torch.bool": ("?", DataType.UINT8),
    "torch.uint16": ("H", DataType.UINT16),
    "torch.uint32": ("I", DataType.UINT32),
}


def array_of(value):
    """Returns the numbers of an array, a torch tensor or nested lists, and the type that they
    suggest."""
    if is_torch(value):
        return _array_of_torch(value)
    if is_numpy(value):
        import numpy

        value = numpy.ascontiguousarray(value)
        kinds = {"f4": ("f", DataType.FLOAT32), "f8": ("d", DataType.FLOAT32)}
        code = value.dtype.str[1:]
        if code == "f2":
            value, code = value.astype("float32"), "f4"
        letter = {"b1": "?", "i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I",
                  "i8": "q", "u8": "Q"}.get(code)
        if letter is None and code not in kinds:
            raise TypeError(f"NumPy arrays of {value.dtype} cannot be made tensors")
        if letter is None:
            letter, dtype = kinds[code]
        else:
            dtype = {"u4": DataType.UINT32, "u2": DataType.UINT16, "u1": DataType.UINT8,
                     "b1": DataType.UINT8}.get(code, DataType.INT32)
        return arrays.from_bytes(value.tobytes(), letter, list(value.shape)), dtype
    if isinstance(value, (list, tuple, int, float)):
        return array_of_list(value)
    raise TypeError(f"from_torch(): a {type(value).__name__} is no torch tensor")


def blank_of(value):
    """Returns the shape of an array or a torch tensor, and the type that it suggests, without its
    numbers."""
    if is_torch(value):
        kind = _TORCH.get(str(value.dtype))
        if kind is not None:
            return Blank(value.shape), kind[1]
    if is_numpy(value):
        array, dtype = array_of(value.flatten()[:1])
        return Blank(value.shape), dtype
    array, dtype = array_of(value)
    return Blank(array.shape), dtype


def array_of_list(value):
    shape, flat = [], value
    while isinstance(flat, (list, tuple)):
        shape.append(len(flat))
        flat = flat[0] if flat else 0
    numbers = []

    def gather(part, depth):
        if depth == len(shape):
            numbers.append(float(part))
            return
        if not isinstance(part, (list, tuple)) or len(part) != shape[depth]:
            raise ValueError("the lists of a tensor must be equally long")
        for one in part:
            gather(one, depth + 1)

    gather(value, 0)
    made = arrays.from_bytes(stdlib_array.array("d", numbers), "d", shape)
    return made, DataType.BFLOAT16


def _array_of_torch(value):
    torch = sys.modules["torch"]
    value = value.detach().cpu().contiguous()
    letter, dtype = _TORCH.get(str(value.dtype), (None, None))
    if dtype is None:
        raise TypeError(f"torch tensors of {value.dtype} cannot be made ttnn tensors")
    if letter is None:
        value, letter = value.to(torch.float32), "f"
    count = value.numel() * value.element_size()
    if count == 0:
        return arrays.full(list(value.shape), 0.0, dtype.whole), dtype
    raw = (ctypes.c_char * count).from_address(value.data_ptr())
    return arrays.from_bytes(raw, letter, list(value.shape)), dtype


def torch_of(array, dtype):
    """Returns a torch tensor of an array that a ttnn tensor of `dtype` held."""
    import torch

    kind = torch.int32 if array.whole else torch.float32
    if array.size == 0:
        made = torch.empty(tuple(array.shape), dtype=kind)
    else:
        made = torch.frombuffer(array.bytes(), dtype=kind).reshape(tuple(array.shape))
    if dtype is DataType.BFLOAT16:
        return made.to(torch.bfloat16)
    if dtype is DataType.UINT8:
        return made.to(torch.uint8)
    if dtype is DataType.UINT16:
        return made.to(torch.int16)
    return made


def numpy_of(array, dtype):
    import numpy

    made = numpy.frombuffer(array.bytes(), dtype="int32" if array.whole else "float32")
    kinds = {DataType.UINT8: "uint8", DataType.UINT16: "uint16", DataType.UINT32: "uint32"}
    return made.reshape(array.shape).astype(kinds.get(dtype, made.dtype), copy=False)


def list_of(array):
    flat = memoryview(bytes(array.bytes())).cast("i" if array.whole else "f")
    if not array.shape:
        return flat[0]
    if array.size == 0:
        return []
    return memoryview(bytes(array.bytes())).cast("B").cast(
        "i" if array.whole else "f", list(array.shape)
    ).tolist()
