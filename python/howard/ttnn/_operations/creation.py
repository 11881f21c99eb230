# SPDX-License-Identifier: Apache-2.0
"""Makes tensors of one value, of a range and of random numbers: on the host, written once."""

import math
from typing import Dict


from .. import _arrays as arrays
from .._arrays import apply, np
from .._launch import fail, make_output, operation, program, require_device, values
from .._session import session
from .._tensor import Blank, Tensor, device_tensor
from .._memory import DRAM_MEMORY_CONFIG
from .._types import DataType, Layout
from .core import _default_layout, _given, _place, copy_host_to_device_tensor


@operation()
def allocate_tensor_on_device(*args, **kwargs):
    """Allocates memory without contents: (shape, dtype, layout, device, memory_config) or (spec,
    device)."""
    if args and hasattr(args[0], "memory_config") and not isinstance(args[0], Tensor):
        spec, device = args[0], args[1] if len(args) > 1 else kwargs.get("device",
                                                                         kwargs.get("mesh_device"))
        return device_tensor(spec.shape, spec.dtype, spec.layout, spec.memory_config, device, tile=spec.tile)
    names = ("shape", "dtype", "layout", "device", "memory_config")
    given = _given("allocate_tensor_on_device", (*names, "mesh_device"), names, args, kwargs)
    return device_tensor(given["shape"], given["dtype"], given["layout"],
                         given.get("memory_config"),
                         given.get("device") or given.get("mesh_device"))


@operation()
def allocate_tensor_on_host(*args, **kwargs):
    """Makes a tensor of zeros: (shape, dtype, layout, device) or (spec, device)."""
    if args and hasattr(args[0], "memory_config"):
        spec = args[0]
        args = (spec.shape, spec.dtype, spec.layout, *args[1:])
    names = ("shape", "dtype", "layout", "device", "memory_config")
    given = _given("allocate_tensor_on_host", (*names, "mesh_device"), names, args, kwargs)
    return _filled(given["shape"], 0, given["dtype"], given["layout"], None, None)


def _filled(shape, value, dtype, layout, device, memory_config):
    dtype = dtype or DataType.BFLOAT16
    layout = _default_layout(dtype, layout)
    array = _kept(shape, lambda: arrays.full(list(shape), float(value), dtype.whole))
    return _place([array], dtype, layout, device, memory_config, None)


def _kept(shape, make):
    """Returns the array that `make` gives; where no values are kept, its shape."""
    return make() if session.values else Blank(shape)


@operation()
def full(shape, fill_value, dtype=None, layout=None, device=None, memory_config=None,
         optional_tensor=None):
    """Fills memory that is given, or new memory, by one write."""
    if optional_tensor is None:
        return _filled(shape, fill_value, dtype, layout, device, memory_config)
    if optional_tensor._shape != tuple(shape):
        fail("full", f"optional_tensor {optional_tensor._shape} must have the shape {list(shape)}")
    host = _filled(shape, fill_value, optional_tensor._dtype, optional_tensor._layout, None, None)
    copy_host_to_device_tensor.function(host, optional_tensor)
    return optional_tensor


@operation()
def zeros(shape, dtype=None, layout=None, device=None, memory_config=None):
    return _filled(shape, 0, dtype, layout, device, memory_config)


@operation()
def ones(shape, dtype=None, layout=None, device=None, memory_config=None):
    return _filled(shape, 1, dtype, layout, device, memory_config)


@operation()
def empty(shape, dtype=None, layout=None, device=None, memory_config=None):
    dtype = dtype or DataType.BFLOAT16
    layout = _default_layout(dtype, layout)
    if device is None:
        return _filled(shape, 0, dtype, layout, None, None)
    return device_tensor(shape, dtype, layout, memory_config, device)


def _like(name, tensor, value, dtype, layout, device, memory_config, output):
    dtype, layout = dtype or tensor._dtype, layout or tensor._layout
    on_device = tensor._device is not None and (device is None or device is tensor._device)
    tiled = layout is Layout.TILE and tensor._layout is Layout.TILE
    if not on_device or not tiled or dtype.whole:
        return _filled(tensor._shape, value, dtype, layout, device or tensor._device,
                       memory_config)
    require_device(name, tensor)
    out = make_output(tensor._shape, tensor, dtype, layout, memory_config, output)
    program(name, "fill", [], [out], scalar=1)
    dims = list(tensor._shape)
    values(lambda: arrays.full(dims, float(value)), [], [out])
    return out


@operation()
def full_like(tensor, fill_value, dtype=None, layout=None, device=None, memory_config=None,
              optional_tensor=None):
    return _like("full_like", tensor, fill_value, dtype, layout, device, memory_config,
                 optional_tensor)


@operation()
def zeros_like(tensor, dtype=None, layout=None, device=None, memory_config=None,
               optional_tensor=None):
    return _like("zeros_like", tensor, 0, dtype, layout, device, memory_config, optional_tensor)


@operation()
def ones_like(tensor, dtype=None, layout=None, device=None, memory_config=None,
              optional_tensor=None):
    return _like("ones_like", tensor, 1, dtype, layout, device, memory_config, optional_tensor)


@operation()
def empty_like(tensor, dtype=None, layout=None, device=None, memory_config=None):
    device = device or tensor._device
    return empty.function(tensor._shape, dtype or tensor._dtype, layout or tensor._layout, device,
                          memory_config)


@operation()
def arange(start=0, end=None, step=1, dtype=None, device=None, memory_config=None, layout=None):
    if end is None:
        start, end = 0, start
    if step == 0:
        raise RuntimeError("arange: the step must not be 0")
    dtype = dtype or DataType.BFLOAT16
    count = max(0, math.ceil((end - start) / step))
    array = _kept([count], lambda: start + step * np.arange(count, dtype=np.float64))
    return _place([array], dtype, _default_layout(dtype, layout), device, memory_config, None)


_seed = [1]


_user_seeds: Dict[int, int] = {}


@operation(unread="device")
def manual_seed(seeds=0, *, user_ids=None):
    """Begins the numbers that are drawn without a seed anew: for all, or for the users of sampling
    that are named."""
    tensors = [one for one in (seeds, user_ids) if isinstance(one, Tensor)]
    if any(one._dtype is not DataType.UINT32 or one._layout is not Layout.ROW_MAJOR for one in tensors):
        fail("manual_seed", "seeds and user_ids must be row-major tensors of uint32")
    given = [_numbers(one) for one in (seeds, user_ids)]
    if user_ids is None:
        _seed[0] = given[0][0]
        _user_seeds.clear()
        return
    if isinstance(seeds, int):
        given[0] *= len(given[1])
    if len(given[0]) != len(given[1]):
        fail("manual_seed", f"{len(given[0])} seeds for {len(given[1])} users")
    _user_seeds.update(zip(given[1], given[0]))


def _numbers(given):
    """Returns a number, or those of a list or a tensor, as a list."""
    if isinstance(given, Tensor):
        given.blocking_read()
        given = given.array().ravel().tolist()
    return [int(one) for one in given] if isinstance(given, (list, tuple)) else [int(given or 0)]


def _next_seed():
    """Returns the seed of a call that names none."""
    _seed[0] += 1
    return _seed[0]


def _next_seed_of(user):
    """Returns the seed of a user that has its own; None for others."""
    if user in _user_seeds:
        _user_seeds[user] += 1
    return _user_seeds.get(user)


def _random(name, shape, device, dtype, layout, memory_config, seed, make, output=None):
    """Draws numbers by one program; seed 0 takes the next of this run."""
    seed = seed or _next_seed()
    dtype = dtype or DataType.BFLOAT16
    out = output or device_tensor(shape, dtype, layout or Layout.TILE, memory_config, device)
    program(name, "fill", [], [out], True, scalar=1)
    dims = list(shape)
    values(lambda: make(dims, seed), [], [out])
    return out


@operation()
def rand(shape, device=None, *, dtype=None, layout=None, memory_config=DRAM_MEMORY_CONFIG, low=0,
         high=1, seed=0):
    def draw(dims, start):
        return arrays.uniform(dims, float(low), float(high), start)

    if device is None:
        dtype, start = dtype or DataType.BFLOAT16, seed or _next_seed()
        made = _kept(shape, lambda: draw(list(shape), start))
        return _place([made], dtype, layout or Layout.TILE, None,
                      None, None)
    return _random("rand", shape, device, dtype, layout, memory_config, seed, draw)


@operation(unread="memory_config compute_kernel_config")
def uniform(input, low=0.0, high=1.0, seed=0):
    """Fills a tensor in its place."""
    require_device("uniform", input)
    return _random("uniform", input._shape, input._device, input._dtype, input._layout, None,
                   seed, lambda dims, start: arrays.uniform(dims, low, high, start), input)


@operation(unread="compute_kernel_config")
def bernoulli(input, seed=0, *, output=None, dtype=None, memory_config=None):
    require_device("bernoulli", input)
    out = make_output(input._shape, input, dtype or DataType.FLOAT32, None, memory_config, output)
    program("bernoulli", "fill", [], [out], True, scalar=1)
    start = seed or _next_seed()

    def draw(p):
        drawn = arrays.uniform(p.shape, 0.0, 1.0, start)
        return drawn < p

    values(draw, [input], [out])
    return out


@operation(unread="compute_kernel_config")
def randn(shape, device=None, *, dtype=None, layout=None, memory_config=DRAM_MEMORY_CONFIG,
          mean=0.0, std=1.0, seed=0):
    """Draws numbers of the normal distribution, each from two uniform ones."""
    def draw(dims, start):
        first = arrays.uniform(dims, 1e-7, 1.0, start)
        second = arrays.uniform(dims, 0.0, 2 * math.pi, start + 7919)
        return apply("sqrt", -2 * apply("log", first)) * apply("cos", second) * std + mean

    if device is None:
        start = seed or _next_seed()
        made = _kept(shape, lambda: draw(list(shape), start))
        return _place([made], dtype or DataType.BFLOAT16, layout or Layout.TILE, None, None, None)
    return _random("randn", shape, device, dtype, layout, memory_config, seed, draw)


@operation("experimental.dropout")
def dropout(input_tensor, *, probability, scale, seed, use_per_device_seed=True, memory_config=None,
            output_tensor=None):
    """Makes numbers zero with a probability and multiplies the others by scale. The same seed drops
    the same."""
    require_device("dropout", input_tensor)
    out = make_output(input_tensor._shape, input_tensor, None, None, memory_config, output_tensor)
    program("dropout", "dropout", [input_tensor], [out], probability=float(probability), seed=0)

    def compute(x, place):
        drawn = arrays.uniform(x.shape, 0.0, 1.0, seed + place * use_per_device_seed)
        kept = drawn >= float(probability)
        return x * kept * scale

    values(compute, [input_tensor], [out], numbered=True)
    return out
