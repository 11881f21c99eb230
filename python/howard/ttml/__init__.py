# SPDX-License-Identifier: Apache-2.0
"""A stand-in for TTML's Python package over that for ttnn: `import howard.ttml as ttml`.

Tensors, modules, losses and optimizers have TTML's names, and make the programs of TTML's 2026 on
the chips and the clock of howard.ttnn: a script may use both. `run_experiment python SCRIPT` lets a
script's own `import ttml` find it. Anything else that TTML has raises AttributeError.
"""

from howard.ttnn import DataType, Layout, Tensor as _Value, argmax

from . import _ttml, autograd, common, core, fsdp, init, lazy, models, modules, ops, optimizers, schedulers
from ._mesh import Mesh, maybe_mesh, mesh, open_device_mesh, sync_gradients
from .init import is_lazy_init_enabled, lazy_init, manual_seed
from .modules import NamedParameters, materialize_module

__all__ = ["_ttml", "DataType", "Layout", "Mesh", "NamedParameters", "argmax", "autograd",
           "common", "core", "fsdp", "init", "is_lazy_init_enabled", "lazy", "lazy_init",
           "manual_seed", "materialize_module", "maybe_mesh", "mesh", "models", "modules",
           "open_device_mesh", "ops", "optimizers", "schedulers", "sync_gradients"]


def _last_item(self):
    """Returns the number of a tensor; of several the last one, which TTML's guide means by it."""
    if self.shape.volume() == 1:
        return _item(self)
    self.blocking_read()
    return self.array().flat[-1].item()


def _to_numpy_of(self, new_type=None):
    """Returns an array, of another type if TTML's guide asks for one."""
    return _to_numpy(self) if new_type is None else autograd.array_of(self, new_type)


_item, _to_numpy = _Value.item, getattr(_Value, "to_numpy")
setattr(_Value, "item", _last_item)
setattr(_Value, "to_numpy", _to_numpy_of)
