# SPDX-License-Identifier: Apache-2.0
"""Implements caches of keys and values."""


from .._launch import fail, operation, program, require_device, values, written
from .._types import Layout
from .data_movement import _moved


@operation("experimental.nlp_kv_cache_load_slice")
def nlp_kv_cache_load_slice(input_tensor, *, seq_len_start, seq_len_end, memory_config=None):
    shape = list(input_tensor._shape)
    shape[-2] = seq_len_end - seq_len_start

    def compute(x):
        return x[..., seq_len_start:seq_len_end, :]

    return _moved("nlp_kv_cache_load_slice", [input_tensor], shape, compute, memory_config)


# These have kernels of their own, of the same names.
_PAGED = ("paged_update_cache", "paged_fill_cache")


def _cache_op(name, cache, x, others, writes, mesh_coords=None):
    """Launches a program that writes parts of a cache, as written() takes them; where `mesh_coords` is
    given, on those devices only."""
    require_device(name, cache, x)
    if name in _PAGED and x._layout is cache._layout:
        program(name, name, [x, cache], [cache])
    else:
        kernel = "copy"
        if x._layout is not cache._layout:
            kernel = "tilize" if cache._layout is Layout.TILE else "untilize"
        program(name, kernel, [x], [cache], out_shapes=[list(x._shape)])
    written(writes, [x] + others, cache, _devices_at(name, cache._device, mesh_coords))
    return cache


def _devices_at(name, device, coordinates):
    """Returns the numbers of devices of a mesh; None for all."""
    if coordinates is None:
        return None
    rows, columns = device.shape[0], device.shape[1]
    found = set()
    for one in coordinates:
        row, column = tuple(one)
        if not (0 <= row < rows and 0 <= column < columns):
            fail(name, f"mesh_coords has ({row}, {column}), and the mesh is {rows}x{columns}")
        found.add(row * columns + column)
    return found


@operation("fill_cache")
def fill_cache(cache, input_tensor, batch_idx=0):
    return _cache_op("fill_cache", cache, input_tensor, [],
                     lambda _shape, x: [([batch_idx, 0, 0, 0], x)])


@operation("update_cache", unread="compute_kernel_config")
def update_cache(cache, input_tensor, update_index=0, batch_offset=0):
    def writes(shape, x):
        for user in range(min(shape[0], x.shape[-2])):
            one = x[:1, :, user + batch_offset:user + batch_offset + 1]
            yield [user, 0, update_index, 0], one

    return _cache_op("update_cache", cache, input_tensor, [], writes)


@operation("experimental.paged_update_cache", refuses={"batch_offset": 0},
           unread="compute_kernel_config")
def paged_update_cache(cache, input_tensor, *, update_idxs=(), update_idxs_tensor=None,
                       share_cache=None, page_table=None, mesh_coords=None):
    """Writes x [1, b, h, d], a position of each user; with share_cache all users have the first
    one's place."""
    others = [t for t in (update_idxs_tensor, page_table) if t is not None]

    def writes(shape, x, *rest):
        rest = list(rest)
        places = list(update_idxs)
        if update_idxs_tensor is not None:
            given = rest.pop(0)
            places = [int(given.item(i)) for i in range(given.size)]
        table = rest.pop(0) if page_table is not None else None
        heads, size = shape[1], shape[2]
        for user, place in enumerate(places):
            if place < 0:
                continue
            one = x[:, user:user + 1, :heads]
            one = one.reshape([1, heads, 1, x.shape[3]])
            row, block = place, 0 if share_cache else user
            if table is not None:
                block = int(table.item(user * table.shape[-1] + place // size))
                row = place % size
            yield [block, 0, row, 0], one

    return _cache_op("paged_update_cache", cache, input_tensor, others, writes, mesh_coords)


@operation("experimental.paged_fused_update_cache")
def paged_fused_update_cache(cache1, input1, cache2, input2, **kwargs):
    return (paged_update_cache.function(cache1, input1, **kwargs),
            paged_update_cache.function(cache2, input2, **kwargs))


@operation("experimental.paged_fill_cache", unread="compute_kernel_config")
def paged_fill_cache(cache, input_tensor, page_table, *, batch_idx=0, batch_idx_tensor=None,
                     mesh_coords=None):
    """Writes the rows of one user to the pages of a row of the table; a page of all ones is left
    out."""
    others = [page_table] + ([batch_idx_tensor] if batch_idx_tensor is not None else [])

    def writes(shape, x, table, of_tensor=None):
        size = shape[2]
        user = batch_idx if of_tensor is None else int(of_tensor.item(0))
        for page in range(-(-x.shape[2] // size)):
            end = min(x.shape[2], (page + 1) * size)
            part = x[:1, :, page * size:end]
            block = int(table.item(user * table.shape[-1] + page))
            if block % 2**32 != 2**32 - 1:
                yield [block, 0, 0, 0], part

    return _cache_op("paged_fill_cache", cache, input_tensor, others, writes, mesh_coords)


@operation("experimental.plus_one", unread={"sub_core_grids": 1})
def plus_one(input_tensor, skip_negative_entries=False):
    program("plus_one", "plus_one", [input_tensor], [input_tensor])
    values(lambda x: x + (x >= 0 if skip_negative_entries else 1), [input_tensor], [input_tensor])
    return input_tensor
