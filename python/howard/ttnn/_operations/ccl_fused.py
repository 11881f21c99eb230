# SPDX-License-Identifier: Apache-2.0
"""Implements ops that exchange and compute in one program: links are busy while the cores are."""


from .. import _arrays as arrays
from .._arrays import apply, np
from .._launch import fail, make_output, operation, program, require_config, require_device, values
from .._mesh import _cut
from .._tensor import device_tensor
from .._types import DataType, Layout, Topology
from .ccl import (
    _Links,
    _count,
    _exchange,
    _gather,
    _group_handle,
    _scaled,
    _scatter,
    _total,
    _WIRES,
    all_gather,
    all_reduce,
    reduce_scatter,
    _unlaunched,
)
from .heads import nlp_concat_heads_decode, nlp_create_qkv_heads_decode
from .data_movement import concat, slice_
from .matmul import _multiply
from .normalization import _launch_normalized, _row_of
from .transformer import scored, scaled_dot_product_attention


def _gathered_product(name, input_tensor, weight_tensor, dim, bias, whole, use, memory_config,
                      told):
    device = require_device(name, input_tensor, weight_tensor)
    count = _count(input_tensor, None)
    if count == 1:
        whole = all_gather.function(input_tensor, dim, memory_config=memory_config,
                                    output_tensor=whole)
        return [whole, _multiply(name, whole, weight_tensor, bias, output=None, launch=program, **told)]
    rank = len(input_tensor._shape)
    whole = _exchange(name, input_tensor, _scaled(input_tensor._shape, dim, count), None,
                      lambda parts, _i: np.concatenate(parts, dim), memory_config, whole,
                      _unlaunched)

    def launch(asked, kernel, inputs, outputs, shapes, out_shapes, **attributes):
        program(asked, "all_gather_" + kernel, [input_tensor, _group_handle(device), *inputs[1:]],
                [whole, *outputs], shapes=[None, None, *shapes[1:]], out_shapes=[None, *out_shapes],
                dimension=dim % rank + 4 - rank, **use, **attributes)

    return [whole, _multiply(name, whole, weight_tensor, bias, output=None, launch=launch, **told)]


@operation("experimental.all_gather_matmul", unread=_WIRES)
def all_gather_matmul(input_tensor, weight_tensor, *, dim, memory_config_ag=None,
                      memory_config_mm=None, num_links=None, topology=None, transpose_a=False,
                      transpose_b=False, dtype=None, program_config=None, activation=None,
                      compute_kernel_config=None, core_grid=None):
    """Returns the gathered tensor and its product, which begins with what has come."""
    name = "all_gather_matmul"
    use = _Links(num_links, topology).use(name, input_tensor, None)
    told = dict(transpose_a=transpose_a, transpose_b=transpose_b, memory_config=memory_config_mm,
                dtype=dtype, program_config=program_config, activation=activation,
                compute=compute_kernel_config, core_grid=core_grid)
    return _gathered_product(name, input_tensor, weight_tensor, dim, None, None, use,
                             memory_config_ag, told)


@operation("experimental.all_gather_matmul_async",
           unread={"multi_device_global_semaphore": 4, "all_gather_core_grid_offset": 5,
                   "barrier_semaphore": None})
def all_gather_matmul_async(input_tensor, weight_tensor, persistent_output_buffer=None, dim=3, *,
                            bias=None, memory_config_ag=None, memory_config_mm=None, num_links=None,
                            topology=Topology.Ring, chunks_per_sync=None, num_workers_per_link=None,
                            num_buffers_per_channel=None, transpose_a=False, transpose_b=False,
                            dtype=None, program_config=None, activation=None,
                            compute_kernel_config=None, core_grid=None):
    """Returns the gathered tensor and its product, which begins with what has come."""
    name = "all_gather_matmul_async"
    use = _Links(num_links, topology, chunks_per_sync, num_workers_per_link,
                num_buffers_per_channel).use(name, input_tensor, None)
    told = dict(transpose_a=transpose_a, transpose_b=transpose_b, memory_config=memory_config_mm,
                dtype=dtype, program_config=program_config, activation=activation,
                compute=compute_kernel_config, core_grid=core_grid)
    return _gathered_product(name, input_tensor, weight_tensor, dim, bias, persistent_output_buffer,
                             use, memory_config_ag, told)


@operation("experimental.matmul_reduce_scatter_async",
           unread={"persistent_intermediate_buffer": 2, "multi_device_global_semaphore": 5,
                   "reduce_scatter_core_grid_offset": 6, "barrier_semaphore": None,
                   "intermediate_memory_config_rs": None})
def matmul_reduce_scatter_async(input_tensor, weight_tensor, persistent_output_buffer=None, dim=3,
                                *, bias=None, memory_config_rs=None, memory_config_mm=None,
                                num_links=None, topology=Topology.Ring, chunks_per_sync=None,
                                num_workers_per_link=None, num_buffers_per_channel=None,
                                transpose_a=False, transpose_b=False, dtype=None,
                                program_config=None, activation=None, compute_kernel_config=None,
                                core_grid=None):
    """Returns the product and the device's share of the sum of all products, whose parts leave as
    soon as they are computed."""
    name = "matmul_reduce_scatter_async"
    device = require_device(name, input_tensor, weight_tensor)
    links = _Links(num_links, topology, chunks_per_sync, num_workers_per_link,
                  num_buffers_per_channel)
    use, count = links.use(name, input_tensor, None), _count(input_tensor, None)
    told = dict(transpose_a=transpose_a, transpose_b=transpose_b, memory_config=memory_config_mm,
                dtype=dtype, program_config=program_config, activation=activation,
                compute=compute_kernel_config, core_grid=core_grid)
    parts = []

    def launch(asked, kernel, inputs, outputs, shapes, out_shapes, **attributes):
        whole = outputs[0]
        rank = len(whole._shape)
        if dim % rank < rank - 2 or whole._shape[dim] % count:
            fail(name, f"dimension {dim} of {whole._shape} must be rows or columns, a multiple of "
                 f"{count} devices")
        share = _scaled(whole._shape, dim, count, divide=True)
        parts.append(persistent_output_buffer if persistent_output_buffer is not None else
                     make_output(share, whole, None, None, memory_config_rs))
        shares = _scaled(out_shapes[0], dim - rank if dim >= 0 else dim, count, divide=True)
        program(asked, kernel + "_reduce_scatter",
                [inputs[0], _group_handle(device), *inputs[1:]], [whole, parts[0]],
                shapes=[shapes[0], None, *shapes[1:]], out_shapes=[out_shapes[0], shares],
                dimension="rows" if dim % rank == rank - 2 else "columns", **use, **attributes)

    if count == 1:
        whole = _multiply(name, input_tensor, weight_tensor, bias, output=None, launch=program, **told)
        return [whole, reduce_scatter.function(whole, dim, memory_config=memory_config_rs,
                                               output_tensor=persistent_output_buffer)]
    whole = _multiply(name, input_tensor, weight_tensor, bias, output=None, launch=launch, **told)
    return [whole, _exchange(name, whole, parts[0]._shape, None,
                             lambda all_, i: _cut(_total(all_), dim, count)[i], None, parts[0],
                             _unlaunched)]


@operation("experimental.llama_rs_matmul",
           unread={"intermediate_packet_buffer": 2, "cross_device_semaphore": 4, "mesh_device": 6,
                   "subdevice_id": 8, "use_noc1_only": None},
           refuses={"second_weight_tensor": None, "global_cb": None, "output_tile": None})
def llama_rs_matmul(input_tensor, weight_tensor, dim, cluster_axis, num_links, *, rs_tensor,
                    topology=Topology.Linear, memory_config_rs=None, memory_config_mm=None,
                    compute_kernel_config=None, core_grid=None, transpose_a=False, transpose_b=False,
                    dtype=None, program_config=None, activation=None, optional_output_tensor=None):
    """Returns a product, and each device's share of the sum of another tensor. The chip does both at
    once, on cores of their own; they are timed one after the other."""
    share = reduce_scatter.function(rs_tensor, dim, cluster_axis, memory_config=memory_config_rs,
                                    num_links=num_links, topology=topology)
    return [_multiply("llama_rs_matmul", input_tensor, weight_tensor, None, transpose_a, transpose_b,
                      memory_config_mm, dtype, program_config, activation, compute_kernel_config,
                      core_grid, optional_output_tensor), share]


@operation("experimental.llama_rs_create_heads",
           unread={"intermediate_packet_buffer": 1, "cross_device_semaphore": 3, "subdevice_id": 4,
                   "mesh_device": None, "use_noc1_only": None, "use_optimal_ccl_for_llama": None})
def llama_rs_create_heads(input_tensor, dim, cluster_axis, *, num_heads, num_kv_heads,
                          memory_config=None, qkv_memory_config=None, num_links=None,
                          topology=None):
    """Adds [1, 1, b, (h + 2 kv) d] of all devices and leaves each its users as q, k and v,
    [1, users, h, d] each. What comes is written where the heads are, which takes no longer than
    elsewhere."""
    name = "llama_rs_create_heads"
    require_device(name, input_tensor)
    use = _Links(num_links, topology).use(name, input_tensor, cluster_axis)
    count, shape = _count(input_tensor, cluster_axis), list(input_tensor._shape)
    heads = num_heads + 2 * num_kv_heads
    if dim % len(shape) != len(shape) - 1:
        fail(name, f"dim={dim} must be that of the columns, {len(shape) - 1}")
    if shape[-2] % count or shape[-1] % heads or shape[-1] % count:
        fail(name, f"{input_tensor._shape} must have rows for {count} devices and columns for "
             f"{heads} heads")
    if count > 1:
        part = device_tensor(_scaled(shape, dim, count, divide=True), input_tensor._dtype,
                             input_tensor._layout, None, input_tensor._device)
        _scatter(name, input_tensor, part, dim, use)
    size, users = shape[-1] // heads, shape[-2] // count
    made, first = [], 0
    for here in (num_heads, num_kv_heads, num_kv_heads):
        columns = slice(first * size, (first + here) * size)

        def heads_of(parts, i, columns=columns, here=here):
            total = _total(parts).reshape(shape)[..., i * users:(i + 1) * users, columns]
            return total.reshape([1, users, here, size])

        made.append(_exchange(name, input_tensor, [1, users, here, size], cluster_axis, heads_of,
                              qkv_memory_config or memory_config, None, _unlaunched))
        first += here
    return tuple(made)


@operation(unread={"mesh_device": 3, "global_semaphore": 4,
                   "compute_kernel_config": None, "stats": None, "use_noc1_only": None})
def fused_rms_minimal(input_tensor, program_config, cluster_axis, *, persistent_output_tensor=None,
                      num_links=None, topology=None, dtype=None, memory_config=None,
                      residual_input_tensor=None, epsilon=1e-12, weight=None):
    """Normalises rows that lie across devices: the residual is added in its own place, and the
    statistics of one tile a device are gathered while nothing else can be done."""
    name = "fused_rms_minimal"
    extra = [t for t in (residual_input_tensor, weight) if t is not None]
    device = require_device(name, input_tensor, *extra)
    require_config(name, program_config, input_tensor)
    use = _Links(num_links, topology).use(name, input_tensor, cluster_axis)
    count, width = _count(input_tensor, cluster_axis), input_tensor._shape[-1]
    x = input_tensor
    if residual_input_tensor is not None:
        values(lambda a, r: a + r, [x, residual_input_tensor], [residual_input_tensor])
        x = residual_input_tensor
    out = persistent_output_tensor
    if out is None:
        out = make_output(x._shape, input_tensor, dtype, None, memory_config)

    if count > 1:
        statistics = [device_tensor([1, 1, 32, 32 * n], DataType.BFLOAT16, Layout.TILE, None,
                                    device) for n in (1, count)]
        _gather(name, *statistics, 3, use)
    _launch_normalized(name, input_tensor, weight, out, True)

    def normal(parts, place):
        square = _total([arrays.reduce("mean", p * p, [-1], True) for p in parts]) / len(parts)
        return parts[place] * apply("rsqrt", square + float(epsilon))

    _exchange(name, x, x._shape, cluster_axis, normal, None, out, _unlaunched)
    if weight is not None:
        values(lambda y, w: y * _row_of(w, width), [out, weight], [out])
    return out


@operation("experimental.all_gather_concat",
           unread={"buffer_tensor": 1, "mesh_device": 4, "multi_device_global_semaphore": 5,
                   "use_noc1_only": None})
def all_gather_concat(input_tensor, dim, cluster_axis, *, num_heads, memory_config=None, num_links=None,
                      topology=None):
    """Gathers the users of a step, and joins their heads."""
    whole = all_gather.function(input_tensor, dim, cluster_axis, num_links=num_links, topology=topology)
    return nlp_concat_heads_decode.function(whole, num_heads=num_heads, memory_config=memory_config)


@operation("experimental.all_reduce_create_qkv_heads",
           unread={"buffer_tensor": 1, "mesh_device": 3, "multi_device_global_semaphore": 4,
                   "use_noc1_only": None})
def all_reduce_create_qkv_heads(input_tensor, cluster_axis, *, num_heads, num_kv_heads=None,
                                memory_config=None, final_memory_config=None, batch_offset=None,
                                slice_size=None, dtype=None, num_links=None, topology=None):
    """Adds the tensors of all devices, and returns the sum and its heads."""
    total = all_reduce.function(input_tensor, cluster_axis, memory_config=memory_config, dtype=dtype,
                                num_links=num_links, topology=topology)
    return (total, *nlp_create_qkv_heads_decode.function(
        total, num_heads=num_heads, num_kv_heads=num_kv_heads, batch_offset=batch_offset,
        slice_size=slice_size, memory_config=final_memory_config))


@operation("transformer.ring_joint_scaled_dot_product_attention",
           refuses={"joint_strategy": "rear"},
           unread="multi_device_global_semaphore mesh_device ccl_core_grid_offset")
def ring_joint_scaled_dot_product_attention(q, k, v, joint_q, joint_k, joint_v, *, logical_n,
                                            persistent_output_buffer_k=None,
                                            persistent_output_buffer_v=None, dim=2,
                                            program_config=None, scale=None,
                                            compute_kernel_config=None, num_links=None,
                                            topology=None, cluster_axis=None):
    """Computes attention of a device's own part of a sequence, and of another one, over the keys of all
    devices and of that one. Returns both results, and the logarithm of the sums of both."""
    name = "ring_joint_scaled_dot_product_attention"
    require_device(name, q, k, v, joint_q, joint_k, joint_v)
    keys = []
    for own, other, buffer in ((k, joint_k, persistent_output_buffer_k),
                               (v, joint_v, persistent_output_buffer_v)):
        whole = all_gather.function(own, dim, cluster_axis, output_tensor=buffer, num_links=num_links,
                                    topology=topology)
        ends = list(whole._shape)
        ends[2] = logical_n
        keys.append(concat.function([slice_.function(whole, [0] * 4, ends), other], 2))
    told = {"is_causal": False, "scale": scale, "program_config": program_config,
            "compute_kernel_config": compute_kernel_config}
    made = [scaled_dot_product_attention.function(one, *keys, **told) for one in (q, joint_q)]
    rows = q._shape[2] + joint_q._shape[2]
    sums = make_output([*q._shape[:2], rows, 1], q, None, None, None)

    def compute(a, b, all_keys):
        both = np.concatenate([a, b], 2)
        scores = scored(both, all_keys, scale)
        most = scores.max(-1, keepdims=True)
        return most + np.log(np.exp(scores - most).sum(-1, keepdims=True))

    values(compute, [q, joint_q, keys[0]], [sums])
    return (*made, sums)
