# SPDX-License-Identifier: Apache-2.0
"""Implements several devices: how tensors are spread over them."""


import itertools
import math

from ._arrays import np
from ._dispatch import MeshCoordinate, MeshShape
from ._memory import L1_MEMORY_CONFIG
from ._parts import part_of
from ._tensor import Blank, device_tensor, host_tensor
from ._types import BufferType, DataType, Layout


class PlacementShard:
    def __init__(self, dim):
        self.dim = dim

    def __eq__(self, other):
        return isinstance(other, PlacementShard) and self.dim == other.dim

    def __hash__(self):
        return hash(self.dim)

    def __repr__(self):
        return f"PlacementShard({self.dim})"


class PlacementReplicate:
    dim = None

    def __eq__(self, other):
        return isinstance(other, PlacementReplicate)

    def __hash__(self):
        return 0

    def __repr__(self):
        return "PlacementReplicate()"


class MeshMapperConfig:
    def __init__(self, placements=None, mesh_shape_override=None, *, row_dim=None, col_dim=None):
        if placements is None:
            placements = [PlacementReplicate() if d is None else PlacementShard(d)
                          for d in (row_dim, col_dim)]
        self.placements, self.mesh_shape_override = list(placements), mesh_shape_override


class MeshComposerConfig:
    def __init__(self, dims=None, mesh_shape_override=None, *, row_dim=None, col_dim=None):
        self.dims = list(dims) if dims is not None else [row_dim, col_dim]
        self.mesh_shape_override = mesh_shape_override


def _cut(array, dim, parts):
    axis = dim % len(array.shape)
    size = array.shape[axis]
    if size % parts:
        raise RuntimeError(f"dimension {dim} of {array.shape} cannot be divided among {parts} "
                           "devices")
    if isinstance(array, Blank):
        dims = list(array.shape)
        dims[axis] //= parts
        return [Blank(dims)] * parts
    return np.split(array, parts, axis)


class Mapper:
    """Says which part of a tensor each device gets."""

    def __init__(self, shape, dims):
        self.shape, self.dims = tuple(shape), list(dims)

    # As the topology of a tensor it says the same.

    def distribution_shape(self):
        return MeshShape(self.shape)

    def placements(self):
        return [PlacementReplicate() if dim is None else PlacementShard(dim)
                for dim in self.dims[:len(self.shape)]]

    def mesh_coords(self):
        return [MeshCoordinate(place) for place in itertools.product(*map(range, self.shape))]

    def split(self, array):
        parts = [array]
        for count, dim in zip(self.shape, self.dims):
            parts = [piece for part in parts
                     for piece in ([part] * count if dim is None else _cut(part, dim, count))]
        return parts, self


class TensorTopology(Mapper):
    """Says how a tensor is spread over devices."""

    def __init__(self, distribution_shape, placements, mesh_coords=None):
        super().__init__(distribution_shape, [getattr(one, "dim", None) for one in placements])
        self._coords = mesh_coords

    def mesh_coords(self):
        return super().mesh_coords() if self._coords is None else list(self._coords)


class Composer:
    """Says how the parts of all devices become one tensor again."""

    def __init__(self, shape, dims):
        self.shape, self.dims = tuple(shape), list(dims)

    def join(self, shards):
        for count, dim in zip(reversed(self.shape), reversed(self.dims)):
            shards = [np.concatenate(shards[i:i + count], dim)
                      for i in range(0, len(shards), count)] if dim is not None else shards[::count]
        return shards[0]


def ReplicateTensorToMesh(mesh_device):
    return Mapper(mesh_device.shape, [None, None])


def ShardTensorToMesh(mesh_device, dim):
    return Mapper([mesh_device.get_num_devices()], [dim])


def _require_mesh(mesh_device, mesh_shape):
    count = MeshShape(mesh_shape).mesh_size()
    if count > mesh_device.get_num_devices():
        raise ValueError(f"a mesh of {tuple(mesh_shape)} is larger than {mesh_device.shape}")


def ShardTensor2dMesh(mesh_device, mesh_shape, dims):
    _require_mesh(mesh_device, mesh_shape)
    return Mapper(mesh_shape, dims)


def ConcatMeshToTensor(mesh_device, dim=0):
    return Composer([mesh_device.get_num_devices()], [dim])


def ConcatMesh2dToTensor(mesh_device, mesh_shape, dims):
    _require_mesh(mesh_device, mesh_shape)
    return Composer(mesh_shape, dims)


def create_mesh_mapper(mesh_device, config, mesh_shape=None):
    shape = mesh_shape or config.mesh_shape_override or mesh_device.shape
    return Mapper(shape, [getattr(p, "dim", None) for p in config.placements])


def create_mesh_composer(mesh_device, config, mesh_shape=None):
    return Composer(mesh_shape or config.mesh_shape_override or mesh_device.shape, config.dims)


def replicate_tensor_to_mesh_mapper(mesh_device):
    return ReplicateTensorToMesh(mesh_device)


def shard_tensor_to_mesh_mapper(mesh_device, dim):
    return ShardTensorToMesh(mesh_device, dim)


def concat_mesh_to_tensor_composer(mesh_device, dim):
    return ConcatMeshToTensor(mesh_device, dim)


def get_device_tensors(tensor):
    """Returns the part of each device, which shares the tensor's memory."""
    if tensor._device is None:
        shards = tensor.kept_shards()
        return [tensor] if len(shards) == 1 else [
            host_tensor([a], tensor._dtype, tensor._layout) for a in shards]
    count = tensor._device.get_num_devices()
    if tensor._topology is not None:  # It may lie on some of the devices.
        count = min(count, math.prod(tensor._topology.shape))
    return [tensor] if count == 1 else [part_of(tensor, i) for i in range(count)]


def combine_device_tensors(tensors, mesh_shape=None):
    """Returns one tensor of the parts of several devices."""
    if mesh_shape is not None and MeshShape(mesh_shape).mesh_size() != len(tensors):
        raise RuntimeError(f"TT_FATAL: {len(tensors)} tensors are not those of {mesh_shape}")
    shards = [t.array() for t in tensors]
    first = tensors[0]
    if first._device is None:
        return host_tensor(shards, first._dtype, first._layout, shards[0].shape)
    return device_tensor(first._shape, first._dtype, first._layout, first._config, first._device,
                         shards)


aggregate_as_tensor = aggregate_tensor = from_host_shards = combine_device_tensors


class GlobalSemaphore:
    """Holds a number in the L1 of some cores, at an address of its own."""

    def __init__(self, memory, cores, value):
        self._memory, self.cores, self.value = memory, cores, value

    @property
    def address(self):
        return self._memory.buffer_address()


def create_global_semaphore(device, cores, initial_value=0, buffer_type=BufferType.L1):
    if buffer_type not in (BufferType.L1, BufferType.L1_SMALL):
        raise RuntimeError(f"TT_FATAL: a global semaphore lies in L1, not in {buffer_type.name}")
    memory = device_tensor([1], DataType.UINT32, Layout.ROW_MAJOR, L1_MEMORY_CONFIG, device)
    return GlobalSemaphore(memory, cores, initial_value)


def reset_global_semaphore_value(semaphore, value):
    semaphore.value = value


def get_global_semaphore_address(semaphore):
    return semaphore.address


def visualize_mesh_device(mesh_device, *_, **__):
    """Prints the mesh in a line."""
    print(mesh_device)


def visualize_tensor(tensor, *_, **__):
    """Prints the tensor's places in a line."""
    print(f"{tensor.shape} on {tensor.device()}, {tensor.memory_config()}")
