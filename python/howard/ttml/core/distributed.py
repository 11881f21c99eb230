# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.core.distributed: tensors on meshes, and what their devices exchange."""

import howard.ttnn as ttnn

from .. import _graph
from .._graph import context
from .._mesh import maybe_mesh, sync_gradients

DistributedContext = _graph.DistributedContext


def enable_fabric(num_devices=1):
    """Does nothing: the links of an emulated box are there."""


def disable_fabric():
    """Does nothing, as enable_fabric."""


def synchronize_gradients(parameters, cluster_axes=None):
    """Makes the gradients the means over the devices that divide the batch."""
    ctx = context()
    if ctx.get_device().get_num_devices() == 1:
        return
    if cluster_axes is None and maybe_mesh() is not None:
        sync_gradients(parameters)
        return
    if cluster_axes is None:
        known = ctx.is_parallelism_context_initialized()
        axis = ctx.get_parallelism_context().get_ddp_axis() if known else None
        cluster_axes = [] if axis is None else [axis]
    for tensor in dict(parameters).values():
        if not tensor.is_grad_initialized():
            continue
        gradient, count = tensor.get_grad(), 1
        for axis in cluster_axes:
            gradient = ttnn.all_reduce(gradient, cluster_axis=axis)
            count *= ctx.get_device().shape[axis]
        if count > 1:
            tensor.set_grad(ttnn.multiply(gradient, 1.0 / count))


def shard_tensor_to_mesh_mapper(device, dim=0, cluster_axis=None):
    """Returns what from_numpy() takes for a tensor that the devices divide along a dimension."""
    if device.get_num_devices() == 1:
        return None
    if cluster_axis is None:
        return ttnn.ShardTensorToMesh(device, dim)
    placed = [ttnn.PlacementShard(dim) if i == cluster_axis else ttnn.PlacementReplicate()
              for i in range(len(tuple(device.shape)))]
    return ttnn.create_mesh_mapper(device, ttnn.MeshMapperConfig(placed))


def replicate_tensor_to_mesh_mapper(device):
    return None if device.get_num_devices() == 1 else ttnn.ReplicateTensorToMesh(device)


def concat_mesh_to_tensor_composer(device, dim=0):
    """Returns what to_numpy() takes for a tensor that the devices have in parts."""
    return None if device.get_num_devices() == 1 else ttnn.ConcatMeshToTensor(device, dim)


def create_mesh_composer_config(dims, shape=None):
    return ttnn.MeshComposerConfig(dims, shape)


def create_mesh_composer(device, config):
    return ttnn.create_mesh_composer(device, config)


def _refused(name):
    def op(tensor, *args, **kwargs):
        if tensor.device().get_num_devices() == 1:
            raise RuntimeError(f"{name}: one device; accepted: tensors of a mesh of several")
        return getattr(ttnn, name)(tensor, *args, **kwargs)

    return op


_gather, _reduce, _scatter = (_refused(n) for n in ("all_gather", "all_reduce", "reduce_scatter"))


def all_gather(tensor, dim, axis=None):
    return _gather(tensor, dim, **({} if axis is None else {"cluster_axis": axis}))


def reduce_scatter(tensor, dim, axis=None):
    return _scatter(tensor, dim, **({} if axis is None else {"cluster_axis": axis}))


def all_reduce(tensor, axis=None):
    return _reduce(tensor, **({} if axis is None else {"cluster_axis": axis}))


class SocketType:
    MPI, FABRIC = "mpi", "fabric"


class SocketManager:
    def __init__(self, *_):
        raise RuntimeError("SocketManager: a script is one process here; run_experiment train "
                           "--multihost FILE runs tiers and pipelines")
