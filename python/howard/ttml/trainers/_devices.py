# SPDX-License-Identifier: Apache-2.0
"""Implements how the rows of a batch are divided among devices."""

import numpy as np

import howard.ttnn as ttnn

from .. import core
from .._graph import context
from .._mesh import maybe_mesh
from ..autograd import Tensor


class BatchDevices:
    """Are the devices that divide a batch: one, those of the mesh's axis `dp`, or those of
    initialize_parallelism_context(DistributedConfig(enable_ddp=True))."""

    def __init__(self):
        ctx, names = context(), maybe_mesh()
        self._device = ctx.get_device()
        self.count, axis = 1, None
        if names is not None and names.has_axis("dp"):
            self.count, axis = names.axis_size("dp"), names.axis_index("dp")
        elif ctx.is_parallelism_context_initialized():
            found = ctx.get_parallelism_context()
            self.count, axis = found.get_ddp_size(), found.get_ddp_axis()
        if self.count != self._device.get_num_devices():
            raise ValueError(f"{self._device.get_num_devices()} devices, of which {self.count} divide "
                             "a batch; accepted: one device, or a mesh whose axis `dp` has all")
        shards = core.distributed.shard_tensor_to_mesh_mapper
        self._mapper = shards(self._device, 0, axis)
        self._composer = core.distributed.concat_mesh_to_tensor_composer(self._device, 0)

    def whole(self, array):
        """Returns whole numbers as rows of the devices."""
        return self._made(array, np.uint32, layout=ttnn.Layout.ROW_MAJOR)

    def real(self, array):
        """Returns numbers as tiles of bfloat16 of the devices."""
        return self._made(array, np.float32, new_type=ttnn.DataType.BFLOAT16)

    def _made(self, array, kind, **named):
        tensor = Tensor.from_numpy(np.ascontiguousarray(array, kind), mapper=self._mapper, **named)
        tensor.set_requires_grad(False)
        return tensor

    def array(self, tensor):
        """Waits and returns the rows of all devices."""
        return tensor.to_numpy(composer=self._composer)
