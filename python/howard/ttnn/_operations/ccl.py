# SPDX-License-Identifier: Apache-2.0
"""Implements what several devices exchange, by programs that all of them run together, on a line or
a ring of chips, over as many links as the call says."""

import math


from .. import _arrays as arrays
from .._arrays import np
from .._launch import axis_on_chip, fail, make_output, operation, program, require_device
from .._mesh import _cut
from .._tensor import Tensor, device_tensor
from .._session import session
from .._types import DataType, Layout, ReduceType, Topology
from .data_movement import launch_permute
from .layout import to_layout


def _groups(tensor, cluster_axis):
    """Returns the devices of each group that exchanges, by their numbers among those that have the
    tensor: all of its mesh, or as many as it was cut for."""
    device, spread = tensor._device, tensor._topology
    shape = tuple(device.shape)
    if spread is not None and math.prod(spread.shape) < device.get_num_devices():
        shape = (1,) * (2 - len(spread.shape)) + spread.shape
    rows, columns = (shape + (1, 1))[:2]
    if cluster_axis == 0:
        return [[r * columns + c for r in range(rows)] for c in range(columns)]
    if cluster_axis == 1:
        return [[r * columns + c for c in range(columns)] for r in range(rows)]
    return [list(range(rows * columns))]


def _group_handle(device):
    """Returns what stands for a group of devices among the operands of a collective."""
    if device.group is None or not device.group._storage.alive:
        device.group = device_tensor([1], DataType.UINT32, Layout.ROW_MAJOR, None, device)
    return device.group


class _Links:
    """Says how a call uses the links between devices, in ttnn's words for it. Where it says nothing,
    it is one link, a line, and what the kernel's own rules choose."""

    def __init__(self, num_links=None, topology=None, chunks_per_sync=None,
                 num_workers_per_link=None, num_buffers_per_channel=None):
        self.links, self.topology = num_links, topology
        self.counts = {"chunk": chunks_per_sync, "workers": num_workers_per_link,
                       "buffers": num_buffers_per_channel}

    def use(self, name, tensor, cluster_axis):
        """Returns what the emulator's kernel reads. Throws ttnn's error for links that there are
        not."""
        device, group = tensor._device, _groups(tensor, cluster_axis)[0]
        there = 4 if session.devices() > 8 else 2
        if self.links is not None and not 1 <= self.links <= there:
            fail(name, f"Requested link index {self.links - 1} is out of bounds. {there} ethernet "
                 f"channels available to forward b/w src {group[0]} and dst {group[-1]}: "
                 f"num_links=1 to {there}")
        used = {} if self.links in (None, 1) else {"links": self.links}
        # The chips of a T3000 are a ring together, and so are the rows and columns of a Galaxy.
        closed = len(group) == device.get_num_devices() or session.devices() > 8
        if self.topology in (Topology.Ring, Topology.Torus) and closed and len(group) > 2:
            used["ring"] = True
        for word, count in self.counts.items():
            if count is not None:
                if count < 1:
                    fail(name, f"{word} must be 1 at least, not {count}")
                used[word] = count
        return used


def _gather(name, tensor, out, dim, use):
    """Launches the program that puts the tensors of a group side by side."""
    at = axis_on_chip(dim % len(tensor._shape), len(tensor._shape))
    program(name, "all_gather", [tensor, _group_handle(tensor._device)], [out], dimension=at, **use)


def _scatter(name, tensor, out, dim, use):
    """Launches the program that adds the tensors of a group and leaves each device its share."""
    rank = len(tensor._shape)
    rows = dim % rank == rank - 2
    count = tensor._shape.volume() // max(1, out._shape.volume())
    dims = list(tensor._shape)
    # The kernel knows rows and columns; a share along another dimension is as many rows less of
    # each batch before it.
    shapes, out_shapes = None, None
    if dim % rank < rank - 2:
        flat = [math.prod(dims[:dim % rank]), 1, math.prod(dims[dim % rank:-1]), dims[-1]]
        shapes, out_shapes = [flat, None], [[flat[0], 1, flat[2] // count, dims[-1]]]
        rows = True
    program(name, "reduce_scatter", [tensor, _group_handle(tensor._device)], [out], shapes=shapes,
            out_shapes=out_shapes, dimension="rows" if rows else "columns", **use)


def _sum_everywhere(name, tensor, out, count, use):
    """Launches a reduce_scatter and an all_gather along a dimension whose tiles the devices divide;
    where there is none, all tensors are gathered and added."""
    dims = list(tensor._shape)
    for dim in (len(dims) - 1, len(dims) - 2):
        if dim >= 0 and dims[dim] % (32 * count) == 0:
            part = device_tensor(_scaled(dims, dim, count, divide=True), tensor._dtype,
                                 tensor._layout, None, tensor._device)
            _scatter(name, tensor, part, dim, use)
            return _gather(name, part, out, dim, use)
    flat = [1, 1, max(1, math.prod(dims[:-1])), dims[-1] if dims else 1]
    every = device_tensor([1, count, flat[2], flat[3]], tensor._dtype, tensor._layout, None,
                          tensor._device)
    program(name, "all_gather", [tensor, _group_handle(tensor._device)], [every],
            shapes=[flat, None], dimension=1, **use)
    turned = device_tensor([1, flat[2], count, flat[3]], tensor._dtype, tensor._layout, None,
                           tensor._device)
    launch_permute("transpose", every, turned, [0, 2, 1, 3])
    return program("moreh_sum", "sum", [turned], [out], dimension="rows", moreh=True,
                   out_shapes=[[1, flat[2], 1, flat[3]]])


def shards_of(tensor):
    """Returns a function that gives what each device has of a tensor, which it does not keep alive."""
    cell, shape, count = tensor._storage.cell, tensor._shape, tensor._device.get_num_devices()
    whole = tensor._dtype.whole

    def shards():
        if cell.shards is None:
            return [arrays.full(shape, 0.0, whole)] * count
        kept = cell.shards * count if len(cell.shards) == 1 else cell.shards
        return [one if one.shape == tuple(shape) else one.reshape(tuple(shape)) for one in kept]

    return shards


def _unlaunched(_tensor, _out):
    """Asks for no program: one that the caller asks for leaves the result."""


def _exchange(name, tensor, shape, cluster_axis, combine, memory_config=None, output=None,
              launch=None, alike=False):
    """Makes devices exchange: `combine(parts, place)` gives what the device at that place of its
    group has afterwards, the same at all places where they are `alike`; `launch(tensor, out)` asks for
    the programs. A device alone copies its own."""
    device = require_device(name, tensor)
    out = make_output(shape, tensor, None, None, memory_config, output)
    groups = _groups(tensor, cluster_axis)
    if launch is None or len(groups[0]) == 1 and launch is not _unlaunched:
        program(name + "_alone", "copy", [tensor], [out], out_shapes=[list(tensor._shape)])
    else:
        launch(tensor, out)
    if not device.values:
        return out
    source, target, dtype = shards_of(tensor), out._storage.cell, out._dtype.value

    def run():
        parts = source()
        made = [None] * sum(map(len, groups))
        known = {}
        for group in groups:
            own = [parts[i] for i in group]
            for place, i in enumerate(group):
                key = (*map(id, own), alike or place)
                if key not in known:
                    known[key] = arrays.rounded(combine(own, place), dtype)
                made[i] = known[key]
        target.shards = made

    if device.capture is not None:
        device.record(run, [tensor, out])
    else:
        run()
    return out


def _count(tensor, cluster_axis):
    return len(_groups(tensor, cluster_axis)[0]) if tensor._device is not None else 1


def _total(parts):
    made = parts[0]
    for part in parts[1:]:
        made = made + part
    return made


def _scaled(shape, dim, factor, divide=False):
    shape = list(shape)
    shape[dim] = shape[dim] // factor if divide else shape[dim] * factor
    return shape


# What ttnn's kernels wait for, where they keep what is on its way, and how they divide it.
_WIRES = """mesh_device multi_device_global_semaphore barrier_semaphore
from_remote_multi_device_global_semaphore to_remote_multi_device_global_semaphore
rs_global_semaphores ag_global_semaphores gather_multi_device_global_semaphores barrier_semaphores
intermediate_memory_config use_noc1_only use_optimal_ccl_for_llama compute_kernel_config
persistent_intermediate_buffer buffer_tensor intermediate_packet_buffer cross_device_semaphore
num_devices use_barrier tiles_per_chunk num_workers_per_direction mm_cores_y mm_block_h mm_block_w
mm_block_ht mm_block_wt"""


def _require_sum(name, math_op):
    if math_op not in (None, ReduceType.Sum):
        fail(name, f"math_op={math_op} is not computed here: leave it at ttnn.ReduceType.Sum")


def _gathered(name, tensor, dim, cluster_axis, memory_config, output, links, step=1):
    """Joins the tensors of each group along a dimension; with a step of -1 the last device's is first."""
    require_device(name, tensor)
    use = links.use(name, tensor, cluster_axis)
    shape = _scaled(tensor._shape, dim, _count(tensor, cluster_axis))
    return _exchange(name, tensor, shape, cluster_axis,
                     lambda parts, _i: np.concatenate(parts[::step], dim), memory_config, output,
                     lambda x, out: _gather(name, x, out, dim, use), True)


@operation(unread=_WIRES)
def all_gather(input_tensor, dim, cluster_axis=None, *, memory_config=None, output_tensor=None,
               num_links=None, topology=None, chunks_per_sync=None, num_workers_per_link=None,
               num_buffers_per_channel=None):
    links = _Links(num_links, topology, chunks_per_sync, num_workers_per_link, num_buffers_per_channel)
    return _gathered("all_gather", input_tensor, dim, cluster_axis, memory_config, output_tensor, links)


@operation(unread=_WIRES)
def reduce_scatter(input_tensor, dim, cluster_axis=None, *, math_op=None, memory_config=None,
                   output_tensor=None, num_links=None, topology=None, chunks_per_sync=None,
                   num_workers_per_link=None, num_buffers_per_channel=None):
    require_device("reduce_scatter", input_tensor)
    _require_sum("reduce_scatter", math_op)
    use = _Links(num_links, topology, chunks_per_sync, num_workers_per_link,
                num_buffers_per_channel).use("reduce_scatter", input_tensor, cluster_axis)
    count = _count(input_tensor, cluster_axis)
    if input_tensor._shape[dim] % count:
        fail("reduce_scatter", f"dimension {dim} of {input_tensor._shape} is not a multiple of "
             f"{count} devices")
    return _exchange("reduce_scatter", input_tensor,
                     _scaled(input_tensor._shape, dim, count, divide=True), cluster_axis,
                     lambda parts, i: _total([_cut(one, dim, count)[i] for one in parts]), memory_config,
                     output_tensor, lambda x, out: _scatter("reduce_scatter", x, out, dim, use))


@operation(unread=_WIRES)
def all_reduce(input_tensor, cluster_axis=None, *, math_op=None, memory_config=None, dtype=None,
               output_tensor=None, num_links=None, topology=None, chunks_per_sync=None,
               num_workers_per_link=None, num_buffers_per_channel=None):
    device = require_device("all_reduce", input_tensor)
    _require_sum("all_reduce", math_op)
    if input_tensor._layout is Layout.ROW_MAJOR and output_tensor is None:  # Tiles are summed.
        made = all_reduce.function(
            to_layout.function(input_tensor, Layout.TILE), cluster_axis, math_op=math_op, dtype=dtype,
            memory_config=memory_config, num_links=num_links, topology=topology,
            chunks_per_sync=chunks_per_sync, num_workers_per_link=num_workers_per_link,
            num_buffers_per_channel=num_buffers_per_channel)
        return to_layout.function(made, Layout.ROW_MAJOR)
    use = _Links(num_links, topology, chunks_per_sync, num_workers_per_link,
                num_buffers_per_channel).use("all_reduce", input_tensor, cluster_axis)
    count = _count(input_tensor, cluster_axis)
    if dtype is not None and output_tensor is None:
        output_tensor = device_tensor(input_tensor._shape, dtype, input_tensor._layout,
                                      memory_config or input_tensor._config, device)
    return _exchange("all_reduce", input_tensor, input_tensor._shape, cluster_axis,
                     lambda parts, _i: _total(parts), memory_config, output_tensor,
                     lambda x, out: _sum_everywhere("all_reduce", x, out, count, use), True)


@operation(unread=_WIRES)
def all_broadcast(input_tensor, *, cluster_axis=None, memory_config=None, num_links=None,
                  topology=None):
    require_device("all_broadcast", input_tensor)
    use = _Links(num_links, topology).use("all_broadcast", input_tensor, cluster_axis)
    count = _count(input_tensor, cluster_axis)
    # As many bytes pass each link as where the tensors are put side by side.
    whole = device_tensor(_scaled(input_tensor._shape, 0, count), input_tensor._dtype,
                          input_tensor._layout, None, input_tensor._device)
    if count > 1:
        _gather("all_broadcast", input_tensor, whole, 0, use)
    return [_received("all_broadcast", input_tensor, cluster_axis,
                      lambda parts, _i, j=j: parts[j], memory_config) for j in range(count)]


def _received(name, tensor, cluster_axis, combine, memory_config):
    """Returns what a program that is asked for already leaves on each device."""
    return _exchange(name, tensor, tensor._shape, cluster_axis, combine, memory_config,
                     launch=lambda x, out: None, alike=True)


@operation(unread=_WIRES)
def broadcast(input_tensor, sender_coord, *, cluster_axis=None, memory_config=None, num_links=None,
              topology=None):
    """Gives all devices the sender's tensor; along an axis, those of each line the tensor of the
    device that is where the sender is in its own."""
    device = require_device("broadcast", input_tensor)
    use = _Links(num_links, topology).use("broadcast", input_tensor, cluster_axis)
    row, column = (tuple(sender_coord) + (0, 0))[:2]
    place = {0: row, 1: column}.get(cluster_axis, row * device.shape[1] + column)
    return _exchange("broadcast", input_tensor, input_tensor._shape, cluster_axis,
                     lambda parts, _i: parts[place], memory_config, launch=_sent("broadcast", use),
                     alike=True)


def _sent(name, use):
    """Sends one tensor through the links: by analogy, two devices show each other theirs."""
    def launch(x, _out):
        both = device_tensor(_scaled(x._shape, 0, 2), x._dtype, x._layout, None, x._device)
        program(name, "all_gather", [x, _group_handle(x._device)], [both], True,
                dimension=axis_on_chip(0, len(x._shape)), **use)

    return launch


@operation(unread={"semaphore": 4, "intermediate_tensor": None})
def point_to_point(input_tensor, sender_coord, receiver_coord, topology=None, *, num_links=None,
                   output_tensor=None, memory_config=None):
    """Gives the receiver the sender's tensor; the others keep their own."""
    require_device("point_to_point", input_tensor)
    use = _Links(num_links, topology).use("point_to_point", input_tensor, None)
    columns = input_tensor._device.shape[1]
    sender, receiver = (tuple(c)[0] * columns + tuple(c)[1] for c in (sender_coord, receiver_coord))
    return _exchange("point_to_point", input_tensor, input_tensor._shape, None,
                     lambda parts, i: parts[sender if i == receiver else i], memory_config,
                     output_tensor, _sent("point_to_point", use))


@operation()
def mesh_partition(input_tensor, dim, cluster_axis=None, *, memory_config=None):
    count = _count(input_tensor, cluster_axis)
    return _exchange("mesh_partition", input_tensor,
                     _scaled(input_tensor._shape, dim, count, divide=True), cluster_axis,
                     lambda parts, i: _cut(parts[i], dim, count)[i], memory_config,
                     launch=lambda x, out: program("mesh_partition", "slice", [x], [out]))


def _async(name, original, keeps=True):
    @operation("experimental." + name, unread=_WIRES)
    def call(input_tensor, *args, persistent_output_buffer=None, persistent_output_buffers=None,
             persistent_output_tensor=None, **kwargs):
        """Makes the call of that name; its semaphores are the device's own affair. The result is in
        the last of the buffers that are given, unless these are for what is on its way."""
        given = [persistent_output_buffer, *(persistent_output_buffers or ()),
                 persistent_output_tensor, *(one for one in args if isinstance(one, Tensor))]
        given = [one for one in given if one is not None]
        if given and keeps:
            kwargs.setdefault("output_tensor", given[-1])
        words = ["cluster_axis"] if original is all_reduce.function else ["dim", "cluster_axis"]
        for word, number in zip([word for word in words if word not in kwargs],
                                [one for one in args if isinstance(one, int)]):
            kwargs[word] = number
        for one in args:
            if isinstance(one, Topology):
                kwargs.setdefault("topology", one)
            elif isinstance(one, ReduceType):
                kwargs.setdefault("math_op", one)
        return original(input_tensor, **kwargs)

    return call


def _all_gather_reversed(input_tensor, dim, cluster_axis=None, *, memory_config=None,
                         output_tensor=None, **links):
    return _gathered("all_gather_async_reversed", input_tensor, dim, cluster_axis, memory_config,
                     output_tensor, _Links(**links), -1)


all_gather_async = _async("all_gather_async", all_gather.function)
strided_all_gather_async = _async("strided_all_gather_async", all_gather.function)
all_gather_async_reversed = _async("all_gather_async_reversed", _all_gather_reversed)
reduce_scatter_minimal_async = _async("reduce_scatter_minimal_async", reduce_scatter.function)
reduce_scatter_async = _async("reduce_scatter_async", reduce_scatter.function)
all_reduce_async = _async("all_reduce_async", all_reduce.function, keeps=False)
llama_reduce_scatter = _async("llama_reduce_scatter", reduce_scatter.function, keeps=False)
all_broadcast_async = operation("experimental.all_broadcast_async", unread=_WIRES)(
    all_broadcast.function)
broadcast_async = operation("experimental.broadcast_async", unread=_WIRES)(broadcast.function)


@operation("experimental.ring_attention_all_gather_async", unread=_WIRES)
def ring_attention_all_gather_async(input_tensors, persistent_output_buffers=None, dim=None, *rest,
                                    persistent_output_buffer=None, cluster_axis=None,
                                    num_links=None, topology=None, memory_config=None):
    """Gathers several tensors, each by a call of its own."""
    if isinstance(persistent_output_buffers, int):  # No buffers are given.
        dim, persistent_output_buffers = persistent_output_buffers, None
    buffers = persistent_output_buffers or persistent_output_buffer or [None] * len(input_tensors)
    numbers = [one for one in (dim, *rest) if isinstance(one, int)]
    axis = cluster_axis if cluster_axis is not None or len(numbers) < 2 else numbers[1]
    kinds = [one for one in rest if isinstance(one, Topology)]
    return [all_gather.function(tensor, numbers[0], axis, memory_config=memory_config,
                                output_tensor=buffer, num_links=num_links,
                                topology=topology or (kinds or [None])[0])
            for tensor, buffer in zip(input_tensors, buffers)]


def _transposed(name, tensor, in_dim, out_dim, use, cluster_axis, memory_config, output):
    """Gives each device its share along out_dim of what all of a group have along in_dim."""
    count = _count(tensor, cluster_axis)
    if tensor._shape[out_dim] % count:
        fail(name, f"dimension {out_dim} of {tensor._shape} is not a multiple of {count} devices")
    shape = _scaled(_scaled(tensor._shape, in_dim, count), out_dim, count, divide=True)
    return _exchange(name, tensor, shape, cluster_axis,
                     lambda parts, i: np.concatenate([_cut(one, out_dim, count)[i] for one in parts],
                                                     in_dim),
                     memory_config, output, _sent(name, use))


@operation("experimental.all_to_all_async",
           unread={"persistent_intermediate_buffer": 1, "multi_device_global_semaphore": 5})
def all_to_all_async(input_tensor, persistent_output_buffer=None, in_dim=None, out_dim=None, *,
                     num_links=None, topology=None, memory_config=None):
    """Cuts the tensor of each device along out_dim, and joins the parts of all along in_dim."""
    name = "all_to_all_async"
    require_device(name, input_tensor)
    use = _Links(num_links, topology).use(name, input_tensor, None)
    return _transposed(name, input_tensor, in_dim, out_dim, use, None, memory_config,
                       persistent_output_buffer)


@operation("experimental.all_to_all_async_generic", unread=_WIRES)
def all_to_all_async_generic(input_tensor, in_dim, out_dim, *, persistent_output_buffer=None,
                             num_links=None, topology=None, memory_config=None, cluster_axis=None):
    """Does what all_to_all_async does, along an axis of the mesh if one is named."""
    name = "all_to_all_async_generic"
    require_device(name, input_tensor)
    use = _Links(num_links, topology).use(name, input_tensor, cluster_axis)
    return _transposed(name, input_tensor, in_dim, out_dim, use, cluster_axis, memory_config,
                       persistent_output_buffer)


@operation("experimental.neighbor_pad_async",
           unread={"final_semaphore": 6, "barrier_semaphore": 7, "neighbor_semaphore": None})
def neighbor_pad_async(input_tensor, dim, padding_left, padding_right, padding_mode="zeros",
                       cluster_axis=None, *, num_links=None, topology=None, memory_config=None):
    """Gives each device the last places of the device before it and the first ones of the device behind
    it. The first and the last device have zeros there, or with a padding_mode of "replicate" their own
    outermost places."""
    name = "neighbor_pad_async"
    require_device(name, input_tensor)
    if padding_mode not in ("zeros", "replicate"):
        fail(name, f"padding_mode={padding_mode!r}; accepted: 'zeros' and 'replicate'")
    use = _Links(num_links, topology).use(name, input_tensor, cluster_axis)
    shape = list(input_tensor._shape)
    shape[dim] += padding_left + padding_right

    def combine(parts, i):
        size = parts[i].shape[dim]
        sides = [np.take(parts[i], [0] * padding_left, dim), np.take(parts[i], [-1] * padding_right, dim)]
        if padding_mode == "zeros":
            sides = [np.zeros_like(one) for one in sides]
        if i > 0:
            sides[0] = np.take(parts[i - 1], range(size - padding_left, size), dim)
        if i + 1 < len(parts):
            sides[1] = np.take(parts[i + 1], range(padding_right), dim)
        return np.concatenate([sides[0], parts[i], sides[1]], dim)

    def launch(tensor, out):
        program(name, "move", [tensor], [out], True)
        _sent(name, use)(tensor, out)

    return _exchange(name, input_tensor, shape, cluster_axis, combine, memory_config, launch=launch)


@operation("experimental.slice_reshard_async",
           unread={"final_semaphore": 5, "barrier_semaphore": 6})
def slice_reshard_async(input_tensor, dim, output_dim_offset, output_dim_shape, cluster_axis=None, *,
                        num_links=None, topology=None, memory_config=None):
    """Takes a part of what the devices have together along a dimension, and divides it among them."""
    name = "slice_reshard_async"
    require_device(name, input_tensor)
    use, count = _Links(num_links, topology).use(name, input_tensor, cluster_axis), _count(
        input_tensor, cluster_axis)
    if output_dim_shape % count:
        fail(name, f"output_dim_shape={output_dim_shape} is not a multiple of {count} devices")
    shape = list(input_tensor._shape)
    shape[dim] = output_dim_shape // count

    def combine(parts, i):
        whole = np.concatenate(parts, dim)
        first = output_dim_offset + i * shape[dim]
        return np.take(whole, range(first, first + shape[dim]), dim)

    return _exchange(name, input_tensor, shape, cluster_axis, combine, memory_config,
                     launch=_sent(name, use))
