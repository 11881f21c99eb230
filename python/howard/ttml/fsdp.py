# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.fsdp: parameters that the devices of an axis divide, and gather where they are used."""

import warnings
from typing import Any, Dict

import numpy as np

import howard.ttnn as ttnn
from howard.ttnn import DataType

from ._mesh import mesh
from .autograd import Tensor, derived
from .init import TensorMetadata
from .modules import AbstractModuleBase, Parameter

# The axis of each tensor that is divided, by its identity, with the tensor.
_managed: Dict[int, Any] = {}


def is_fsdp_managed(tensor):
    return id(tensor) in _managed


def fsdp_axis_of(tensor):
    """Returns the axis of the mesh whose devices divide a tensor; None if it is whole."""
    return _managed[id(tensor)][1] if is_fsdp_managed(tensor) else None


class FSDPState:
    """Holds what a module divides: its own parameters, without those of modules that do so too."""

    def __init__(self, module, shard_dim, mesh_axis, reshard_after_forward):
        self.mesh_axis, self.reshard_after_forward = mesh_axis, reshard_after_forward
        self.axis, self.size = mesh().axis_index(mesh_axis), mesh().axis_size(mesh_axis)
        self.parts, self._shards = [], {}
        seen = set()
        for part in _own_parameters(module):
            if id(part) in seen:
                continue
            seen.add(id(part))
            dim = _dim_of(part, shard_dim, self.size)
            if dim is None:
                warnings.warn(f"fully_shard: a parameter of {_shape(part)} stays whole: no "
                              f"dimension divides among {self.size} devices", stacklevel=3)
                continue
            self._divide(part, dim)
            self.parts.append((part, dim))

    def _divide(self, part, dim):
        mapper = mesh().axis_mapper(self.mesh_axis, dim)
        if part.is_lazy:
            part.peek_tensor().mapper = mapper
            part.add_post_materialize_callback(lambda tensor: _manage(tensor, dim, self.axis))
            return
        whole = part.tensor.to_numpy()
        part.tensor.set_value(Tensor.from_numpy(np.ascontiguousarray(whole, np.float32),
                                                new_type=DataType.BFLOAT16, mapper=mapper))
        _manage(part.tensor, dim, self.axis)

    def _gathered(self, shard, dim):
        axis, size = self.axis, self.size

        def gather():
            return ttnn.all_gather(shard.half(), dim, cluster_axis=axis)

        def backward(gradient):
            gather()  # The whole weight is there once more while its module runs backward.
            part = ttnn.reduce_scatter(gradient, dim, cluster_axis=axis)
            return [ttnn.multiply(part, 1.0 / size)]

        return derived(gather(), [shard], backward)

    def unshard(self):
        for part, dim in self.parts:
            if id(part) not in self._shards:
                self._shards[id(part)] = part.tensor
                part.tensor = self._gathered(part.tensor, dim)

    def reshard(self):
        for part, _ in self.parts:
            if id(part) in self._shards:
                part.tensor = self._shards.pop(id(part))


def _manage(tensor, dim, axis):
    _managed[id(tensor)] = (tensor, axis)
    tensor._fsdp_shard_dim = dim


def _own_parameters(module):
    todo = [module]
    while todo:
        for _, part in todo.pop()._own((Parameter, AbstractModuleBase)):
            if isinstance(part, Parameter):
                yield part
            elif "fsdp_state" not in part.__dict__:
                todo.append(part)


def _shape(part):
    tensor = part.peek_tensor()
    return tensor.shape if isinstance(tensor, TensorMetadata) else tensor.shape()


def _dim_of(part, shard_dim, size):
    """Returns the dimension to divide: the last but one, or the last of a row."""
    shape = _shape(part)
    if shard_dim != "auto":
        return shard_dim if shape[shard_dim] % size == 0 else None
    dim = len(shape) - 2 if len(shape) > 1 and shape[-2] > 1 else len(shape) - 1
    return dim if shape[dim] % (32 * size) == 0 else None


def fully_shard(module, shard_dim="auto", mesh_axis="fsdp", reshard_after_forward=True):
    """Makes a module keep a part of each of its parameters on each device, and gather them while it
    runs. Blocks come first, then the module around them, then the optimizer."""
    if not mesh().has_axis(mesh_axis):
        raise RuntimeError(f"fully_shard: the mesh has no axis '{mesh_axis}'; accepted: "
                           f"{', '.join(mesh().axis_names)}")
    if "fsdp_state" in module.__dict__:
        raise RuntimeError(f"fully_shard: {module.get_name()} is divided already")
    if mesh().axis_size(mesh_axis) == 1:
        warnings.warn(f"fully_shard: the axis '{mesh_axis}' has one device", stacklevel=2)
        return module
    state = FSDPState(module, shard_dim, mesh_axis, reshard_after_forward)
    module.__dict__["fsdp_state"] = state
    module.__dict__["unshard"], module.__dict__["reshard"] = state.unshard, state.reshard
    forward = module.forward

    def gathered_forward(*args, **kwargs):
        state.unshard()
        try:
            return forward(*args, **kwargs)
        finally:
            state.reshard()

    module.__dict__["forward"] = gathered_forward
    return module
