# SPDX-License-Identifier: Apache-2.0
"""Says what a tensor holds, in ttnn's form."""

from . import _arrays as arrays
from ._arrays import np
from ._types import DataType

_options = {"profile": "short", "sci_mode": None, "precision": 4}
_SCI_MODES = {"none": None, "default": None, "true": True, "false": False}
_INDENT = 12  # As wide as what comes before the numbers: "ttnn.Tensor(".
_EDGE = 2  # Of a dimension with more than twice as many places the first and the last are shown.


def set_printoptions(*, profile="short", sci_mode=None, precision=None):
    """Sets all three: how much is shown, whether with powers of ten, and how many digits behind the
    point."""
    profile = str(getattr(profile, "name", profile)).lower()
    if profile not in ("empty", "short", "full"):
        raise RuntimeError(f"there is no profile {profile!r}; accepted: empty, short and full")
    word = str(sci_mode).lower()
    if word not in _SCI_MODES:
        raise ValueError(f"sci_mode={sci_mode!r}; accepted: True, False and 'default'")
    if precision is not None and (not isinstance(precision, int) or precision < 0):
        raise ValueError(f"precision={precision!r} is no number of digits")
    _options.update(profile=profile, sci_mode=_SCI_MODES[word],
                    precision=4 if precision is None else precision)


def _is_scientific(array):
    """Says whether numbers are far apart, very large or very small."""
    if _options["sci_mode"] is not None:
        return _options["sci_mode"]
    sizes = abs(array.astype(np.float64))
    sizes = sizes[np.isfinite(sizes) & (sizes > 0)]
    if not sizes.size:
        return False
    least, most = float(sizes.min()), float(sizes.max())
    return most / least > 1000 or most > 1e8 or least < 1e-4


def _spelled(array):
    """Returns how each number of an array is written."""
    if arrays.is_whole(array):
        return "{:5d}"
    digits = _options["precision"]
    return f"{{:{digits + 7}.{digits}e}}" if _is_scientific(array) else f"{{:{digits + 3}.{digits}f}}"


def _text(array, form, depth):
    if array.ndim == 0:
        return form.format(array.item())
    size = array.shape[0]
    if size == 0:
        return "[]"
    cut = _options["profile"] == "short" and size > 2 * _EDGE
    places = [*range(_EDGE), None, *range(size - _EDGE, size)] if cut else range(size)
    inner = array.ndim == 1
    parts = [(" ..." if inner else "...") if i is None else _text(array[i], form, depth + 1)
             for i in places]
    lines = ",\n" if array.ndim == 2 else ",\n\n"
    join = ", " if inner else lines + " " * (_INDENT + depth + 1)
    return "[" + join.join(parts) + "]"


def _one(array, tensor):
    if _options["profile"] == "empty":
        body = "..."
    else:
        if tensor._dtype is DataType.UINT32:
            array = array.view(np.uint32)
        body = _text(array, _spelled(array), 0)
    return f"ttnn.Tensor({body}, {_frame(tensor)}"


def _frame(tensor):
    return (f"shape={tensor._shape}, dtype=DataType::{tensor._dtype.name}, "
            f"layout=Layout::{tensor._layout.name})")


def text_of(tensor):
    """Waits for a tensor, and returns its numbers; those of each device of a mesh."""
    if not tensor._storage.alive:
        return f"ttnn.Tensor(<buffer is not allocated>, {_frame(tensor)}"
    tensor.blocking_read()
    shards = tensor.shards()
    if len(shards) == 1:
        return _one(shards[0], tensor)
    columns = tensor._device.shape[1] if tensor._device is not None else len(shards)
    return "\n".join(f"device_id: {i}, MeshCoordinate([{i // columns}, {i % columns}])\n"
                     + _one(one, tensor) for i, one in enumerate(shards))
