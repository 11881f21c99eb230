# SPDX-License-Identifier: Apache-2.0
"""Implements how tokens go to the devices of their experts, and what these made of them comes back."""

from .. import _arrays as arrays
from .._arrays import np
from .._launch import fail, make_output, operation, program, require_device
from .._types import DataType, Layout
from .ccl import _Links, _group_handle, _groups, _scaled, shards_of

_WIRES = "multi_device_global_semaphore barrier_semaphore"


def _send(name, sent, choices, mapping, made, count, use):
    """Asks for the program in which devices exchange rows of tokens."""
    like = sent._device
    if count == 1:
        program(name + "_alone", "copy", [sent], [sent], True)
    else:
        program(name, name, [sent, _group_handle(like), choices, mapping], made, **use)


def _on_devices(device, groups, inputs, outputs, compute):
    """Computes what each device has afterwards, of what all devices of its group had: `compute` gets
    the group and lists of arrays, and gives an array of each result for each device."""
    if not device.values:
        return
    cells = [(one._storage.cell, one._dtype.value) for one in outputs]
    sources, count = [shards_of(one) for one in inputs], device.get_num_devices()

    def run():
        given = [source() for source in sources]
        made = [[None] * count for _ in cells]
        for group in groups:
            found = compute(group, [[all_[i] for i in group] for all_ in given])
            for place, i in enumerate(group):
                for kept, arrays_ in zip(made, found):
                    kept[i] = arrays_[place]
        for (cell, dtype), kept in zip(cells, made):
            cell.shards = [arrays.rounded(array, dtype) for array in kept]

    if device.capture is not None:
        device.record(run, [*inputs, *outputs])
    else:
        run()


def _require_mapping(name, mapping, device):
    if len(mapping._shape) != 4 or mapping._shape[-1] != device.get_num_devices():
        fail(name, f"expert_mapping_tensor {mapping._shape} must be [1, 1, experts, "
             f"{device.get_num_devices()} devices]")


def _divided_dim(name, dim):
    """Returns the dimension of tokens that devices divide."""
    return dim if dim in (1, 2) else fail(name, f"dimension {dim} of the tokens must be 1 or 2")


@operation(unread=_WIRES)
def all_to_all_dispatch(input_tensor, expert_indices_tensor, expert_mapping_tensor, *,
                        cluster_axis=None, memory_config=None, output_tensors=None,
                        num_links=None, topology=None, output_concat_dim=1):
    """Gives each device the tokens that chose one of its experts, at their places among all tokens of
    its line, with zeros between; and what all of them chose. Tokens are [batch, 1, length, width] of
    each device, choices [batch, 1, length, chosen], and the mapping has a 1 where a device has an
    expert. Devices divide the batch, or with output_concat_dim=2 the length."""
    name = "all_to_all_dispatch"
    tokens, chosen, mapping = input_tensor, expert_indices_tensor, expert_mapping_tensor
    device = require_device(name, tokens, chosen, mapping)
    _require_mapping(name, mapping, device)
    for word, one in (("input_tensor", tokens), ("expert_indices_tensor", chosen)):
        if one._layout is not Layout.ROW_MAJOR or len(one._shape) != 4:
            fail(name, f"{word} must have rank 4 and ROW_MAJOR layout")
    if chosen._dtype is not DataType.UINT16:
        fail(name, "expert_indices_tensor must be uint16")
    groups = _groups(tokens, cluster_axis)
    own = [1, tokens._shape[0], chosen._shape[-2]]
    _one, batch, length = _scaled(own, _divided_dim(name, output_concat_dim), len(groups[0]))
    given = output_tensors or (None, None)
    out = make_output([1, batch, length, tokens._shape[-1]], tokens, None, None, memory_config,
                      given[0])
    told = make_output([1, batch, length, chosen._shape[-1]], chosen, None, None, memory_config,
                       given[1])
    _send(name, tokens, chosen, mapping, [out, told], len(groups[0]),
          _Links(num_links, topology).use(name, tokens, cluster_axis))

    all_experts = mapping._shape[-2]

    def compute(group, found):
        rows, choices = (np.concatenate([one.reshape(*own, -1) for one in parts], output_concat_dim)
                         for parts in found[:2])
        owned = found[2][0].reshape(all_experts, -1)[choices.astype(np.int64)]
        sent = [np.where(owned[..., i].any(-1)[..., None], rows, 0) for i in group]
        return sent, [choices] * len(group)

    _on_devices(device, groups, [tokens, chosen, mapping], [out, told], compute)
    return out, told


@operation(unread=_WIRES)
def all_to_all_combine(input_tensor, expert_metadata_tensor, expert_mapping_tensor, *,
                       cluster_axis=None, axis=None, memory_config=None, num_links=None,
                       topology=None, output_tensor=None, optional_output_tensor=None,
                       local_reduce=False, locally_reduced=False, output_shard_dim=1):
    """Brings back to each token what its experts made of it: [experts of the device, batch, length,
    width] with the choices of all tokens, as all_to_all_dispatch() gives them, become [chosen, batch of
    the device, length, width], or the batch and a length of the device with output_shard_dim=2. What a
    device has added up itself stands at the first of its experts."""
    name = "all_to_all_combine"
    added, axis = local_reduce or locally_reduced, cluster_axis if axis is None else axis
    made, chosen, mapping = input_tensor, expert_metadata_tensor, expert_mapping_tensor
    device = require_device(name, made, chosen, mapping)
    if tuple(chosen._shape)[:2] == (1, 1) != tuple(mapping._shape)[:2]:
        chosen, mapping = mapping, chosen  # Scripts give these two in either order.
    _require_mapping(name, mapping, device)
    groups = _groups(made, axis)
    count, (_, batch, length, k) = len(groups[0]), tuple(chosen._shape)
    dim = _divided_dim(name, output_shard_dim)
    if chosen._shape[dim] % count or made._shape[dim] != chosen._shape[dim]:
        fail(name, f"{made._shape} and {chosen._shape} must have a {('batch', 'length')[dim - 1]} that "
             f"{count} devices share")
    own = _scaled([k, batch, length], dim, count, divide=True)
    out = make_output([*own, made._shape[-1]], made, None, None, memory_config,
                      output_tensor if output_tensor is not None else optional_output_tensor)
    _send(name, made, chosen, mapping, [out], count,
          _Links(num_links, topology).use(name, made, axis))

    all_experts, width = mapping._shape[-2], made._shape[-1]

    def compute(group, found):
        choices = found[1][0].reshape(batch, length, k).astype(np.int64)
        owners = found[2][0].reshape(all_experts, -1)
        whole = np.zeros((k, batch, length, width), np.float32)
        for part, i in zip(found[0], group):
            ranks = np.cumsum(owners[:, i]) - 1  # An expert's place among those of its device.
            seen = np.zeros((batch, length), bool)
            for n in range(k):
                here = owners[choices[..., n], i] > 0
                at = np.nonzero(here & ~seen if added else here)
                seen |= here
                expert = 0 if added else ranks[choices[(*at, n)]].astype(np.int64)
                whole[(n, *at)] = part[(expert, *at)]
        return [np.split(whole, count, dim)]

    _on_devices(device, groups, [made, chosen, mapping], [out], compute)
    return out


@operation()
def moe_expert_token_remap(topk_tensor, expert_mapping_tensor, expert_metadata_tensor, *,
                           optional_output_tensor=None, optional_reduced_tensor=None,
                           memory_config=None, reduction_size=16):
    """Returns the weights of a device's own experts, [1, batch, length, experts of the device], which are
    0 where a token did not choose one; and for each reduction_size tokens in turn whether any of them
    chose it."""
    name = "moe_expert_token_remap"
    weights, mapping, chosen = topk_tensor, expert_mapping_tensor, expert_metadata_tensor
    device = require_device(name, weights, mapping, chosen)
    _require_mapping(name, mapping, device)
    batch, length = weights._shape[-3], weights._shape[-2]
    experts = mapping._shape[-2] // device.get_num_devices()
    out = make_output([1, batch, length, experts], weights, None, None, memory_config,
                      optional_output_tensor)
    rows = -(-batch * length // reduction_size)
    short = make_output([1, 1, rows, experts], weights, DataType.UINT16, None, memory_config,
                        optional_reduced_tensor)
    program(name, "move", [weights], [out, short], True)

    all_experts = mapping._shape[-2]

    def compute(group, found):
        made, any_of = [], []
        for i, (all_, owned, choices) in zip(group, zip(*found)):
            own = np.nonzero(owned.reshape(all_experts, -1)[:, i])[0]
            asked = (choices.reshape(batch, length, -1, 1) == own).any(2)
            part = np.where(asked, all_.reshape(-1, batch, length, all_.shape[-1])[0][..., own], 0)
            made.append(part[None])
            flat = np.zeros((rows * reduction_size, experts), bool)
            flat[:batch * length] = asked.reshape(-1, experts)
            any_of.append(flat.reshape(1, 1, rows, reduction_size, experts).any(3).astype(np.int32))
        return made, any_of

    _on_devices(device, _groups(weights, None), [weights, mapping, chosen], [out, short], compute)
    return [out, short]


@operation()
def moe_routing_remap(routing_weights, non_zero_weight_size, expert_parallel_size, cluster_axis, *,
                      optional_output_tensor=None, memory_config=None):
    """Leaves each device along an axis its share of the weights that are not 0, in their order."""
    name = "moe_routing_remap"
    device = require_device(name, routing_weights)
    if non_zero_weight_size % expert_parallel_size:
        fail(name, f"non_zero_weight_size={non_zero_weight_size} is not a multiple of "
             f"expert_parallel_size={expert_parallel_size}")
    out = make_output(list(routing_weights._shape), routing_weights, None, None, memory_config,
                      optional_output_tensor)
    program(name, "move", [routing_weights], [out], True)
    each = non_zero_weight_size // expert_parallel_size

    def compute(_group, found):
        made = []
        for place, weights in enumerate(found[0]):
            flat, kept = weights.ravel(), np.zeros(weights.size, np.float32)
            at = np.flatnonzero(flat)[place * each:(place + 1) * each]
            kept[at] = flat[at]
            made.append(kept.reshape(weights.shape))
        return [made]

    _on_devices(device, _groups(routing_weights, cluster_axis), [routing_weights], [out], compute)
    return out
