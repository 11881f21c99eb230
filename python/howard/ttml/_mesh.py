# SPDX-License-Identifier: Apache-2.0
"""Implements meshes with names of their axes."""

import math

import howard.ttnn as ttnn

from ._graph import context


class Mesh:
    """Names the axes of a mesh of devices."""

    def __init__(self, shape, axis_names):
        if len(shape) != len(axis_names):
            raise ValueError(f"a mesh of {list(shape)} with the axes {list(axis_names)}; accepted: a "
                             "name for each axis")
        self.shape, self.axis_names = tuple(shape), tuple(axis_names)

    def num_devices(self):
        return math.prod(self.shape)

    def has_axis(self, name):
        return name in self.axis_names

    def axis_index(self, name):
        if name not in self.axis_names:
            raise RuntimeError(f"the mesh has no axis '{name}'; accepted: "
                               f"{', '.join(self.axis_names)}")
        return self.axis_names.index(name)

    def axis_size(self, name):
        return self.shape[self.axis_index(name)]

    def axis_mapper_config(self, name, tensor_dim):
        at = self.axis_index(name)
        return ttnn.MeshMapperConfig([ttnn.PlacementShard(tensor_dim) if i == at else
                                      ttnn.PlacementReplicate() for i in range(len(self.shape))])

    def axis_mapper(self, name, tensor_dim):
        if self.num_devices() == 1:
            return None
        return ttnn.create_mesh_mapper(context().get_device(),
                                       self.axis_mapper_config(name, tensor_dim))


def open_device_mesh(mesh_or_shape, device_ids=None):
    """Opens a mesh of devices; one without names has the axes _0, _1."""
    made = mesh_or_shape
    if not isinstance(made, Mesh):
        made = Mesh(made, [f"_{i}" for i in range(len(made))])
    context().open_device(made.shape, device_ids)
    context().mesh = made
    return made


def maybe_mesh():
    return context().mesh


def mesh():
    if maybe_mesh() is None:
        raise RuntimeError("mesh(): no mesh is open; open_device_mesh(Mesh([1, 2], ['_', 'tp']))")
    return maybe_mesh()


def sync_gradients(parameters, axis_names=("dp",)):
    """Makes the gradients the means over the devices of the axes: a sum for each parameter and axis,
    then one product."""
    if maybe_mesh() is None:
        return
    tensors = parameters.values() if isinstance(parameters, dict) else parameters
    axes = [name for name in axis_names if mesh().has_axis(name) and mesh().axis_size(name) > 1]
    for tensor in tensors:
        if not axes or not tensor.is_grad_initialized():
            continue
        gradient, count = tensor.get_grad(), 1
        for name in axes:
            gradient = ttnn.all_reduce(gradient, cluster_axis=mesh().axis_index(name))
            count *= mesh().axis_size(name)
        tensor.set_grad(ttnn.multiply(gradient, 1.0 / count))
