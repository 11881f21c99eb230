# SPDX-License-Identifier: Apache-2.0
"""Implements the choice of tokens by their probabilities."""

from .. import _arrays as arrays
from .._arrays import np
from .._launch import fail, make_output, operation, program, require_device, values
from .._tensor import Tensor
from .._types import DataType, Layout
from .creation import _next_seed, _next_seed_of

_USERS = 32


def _chosen(row, k, p, temperature, drawn):
    """Returns the place of a number of a row, chosen by the softmax of its k largest, of which those
    are kept whose probabilities add up to more than p."""
    order = np.argsort(-row, kind="stable")[:max(1, int(k))]
    powers = row[order].astype(np.float64) * temperature
    powers = np.exp(powers - powers.max())
    sums = np.cumsum(powers / powers.sum())
    kept = min(int(np.searchsorted(sums, p, side="right")) + 1, order.size)
    return order[min(int(np.searchsorted(sums, drawn * sums[kept - 1], side="right")), kept - 1)]


def _require_users(numbers, indices):
    shape = numbers._shape
    if shape.volume() != _USERS * shape[-1]:
        fail("sampling", f"Input must have {_USERS} users! It is {shape}")
    if shape[-1] % 32:
        fail("sampling", f"the {shape[-1]} numbers of a user must be a multiple of 32")
    if indices._shape != shape:
        fail("sampling", f"the indices {indices._shape} must have the shape {shape}")


def _require_told(name, one):
    """Refuses what is neither a number nor one for each user, and numbers that mean nothing: a k with
    a fraction, a p that is no probability, a temperature below zero. What tensors hold is not read."""
    if isinstance(one, Tensor):
        what, legal = f"a tensor {one._shape}", one._shape.volume() in (1, _USERS)
    else:
        what, told = repr(one), np.asarray(one)
        legal = told.dtype.kind in "iuf" and np.isfinite(told).all() and told.size in (1, _USERS)
    if not legal:
        fail("sampling", f"{name} is {what}; it must be a number, or a list or tensor of one for each "
                         f"of {_USERS} users")
    accepted, fits = _NUMBERS[name]
    if not isinstance(one, Tensor) and not fits(told):
        fail("sampling", f"{name} is {what}; it must be {accepted}")


# What the numbers of a user must be.
_NUMBERS = {"k": ("a whole number from 1 on", lambda k: ((k >= 1) & (k == np.floor(k))).all()),
            "p": ("a probability, 0 to 1", lambda p: ((p >= 0) & (p <= 1)).all()),
            "temp": ("1 / temperature, from 0 on", lambda temp: (temp >= 0).all())}


def _drawn(seed):
    """Returns a number between 0 and 1 for each user."""
    drawn = arrays.uniform([_USERS], 0.0, 1.0, seed or _next_seed())
    for user in range(_USERS):
        own = None if seed else _next_seed_of(user)
        if own is not None:
            drawn[user] = arrays.uniform([1], 0.0, 1.0, own)[0]
    return drawn


@operation()
def sampling(input_values_tensor, input_indices_tensor, k, p, temp=None, *, seed=None,
             output_tensor=None):
    """Returns a token for each of 32 users: the index of a number that is drawn among its k largest.
    `temp` is 1 / temperature. Without a seed each call draws others."""
    told = [k, p, 1.0 if temp is None else temp]
    for name, one in zip(("k", "p", "temp"), told):
        _require_told(name, one)
    tensors = [one for one in told if isinstance(one, Tensor)]
    numbers_of = [None if isinstance(one, Tensor) else one for one in told]
    require_device("sampling", input_values_tensor, input_indices_tensor, *tensors)
    _require_users(input_values_tensor, input_indices_tensor)
    out = make_output([1, 1, 1, _USERS], input_values_tensor, DataType.UINT32, Layout.ROW_MAJOR,
                      None, output_tensor)
    if input_indices_tensor._dtype in (DataType.UINT32, DataType.INT32) and \
            input_indices_tensor._layout is Layout.ROW_MAJOR:
        most = min(32, input_values_tensor._shape[-1])
        program("sampling", "sampling", [input_values_tensor, input_indices_tensor], [out],
                k=most if isinstance(k, Tensor) else max(1, min(most, int(np.max(k)))))
    else:
        program("sampling", "move", [input_values_tensor], [out], True)
    drawn = _drawn(seed) if input_values_tensor._device.values else None

    def compute(numbers, indices, *rest):
        rest = list(rest)
        ks, ps, temps = (np.broadcast_to(
            (rest.pop(0) if one is None else np.asarray(one)).reshape([-1]), [_USERS])
            for one in numbers_of)
        rows, names = (one.reshape([_USERS, -1]) for one in (numbers, indices))
        places = [_chosen(*one) for one in zip(rows, ks, ps, temps, drawn)]
        return names[np.arange(_USERS), places].reshape([1, 1, 1, _USERS])

    values(compute, [input_values_tensor, input_indices_tensor] + tensors, [out])
    return out
